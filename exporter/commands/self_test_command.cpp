#include "exporter/commands/self_test_command.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <chrono>
#include <iostream>
#include <memory>
#include <ostream>
#include <utility>
#include <vector>

#include "core/command_line/examples.h"
#include "core/command_line/table.h"
#include "core/runtime/child.h"
#include "core/runtime/clock.h"
#include "core/runtime/files.h"
#include "core/runtime/json.h"
#include "core/runtime/log.h"
#include "core/runtime/text.h"
#include "exporter/commands/output_flags.h"
#include "exporter/commands/smi_comparison.h"
#include "exporter/commands/until_signal.h"
#include "exporter/config/exit_code.h"
#include "exporter/watch/gpu_inventory.h"
#include "exporter/watch/gpu_source.h"

namespace gpuward::exporter {
namespace {

constexpr std::array kSelfTestExamples = {
    Example{"self-test",
            "gpuward-exporter self-test\n"
            "gpuward-exporter self-test --nvml /run/nvidia/driver/usr/lib64/libnvidia-ml.so.1\n"
            "gpuward-exporter self-test -o json"},
};
constexpr int kNoNvml = 2;
constexpr std::chrono::seconds kSmiLimit{30};
// A changing value may differ once; a wrong one differs each time.
constexpr int kMostRounds = 3;
constexpr std::array<std::string_view, 3> kVerdicts{"same", "differs", "not compared"};

struct Wishes {
  std::string nvml;  // empty: from --gpu.nvml-library
  OutputFormat output = OutputFormat::kTable;
};

// Facts that a bug report needs besides the values.
struct Facts {
  std::string kernel, library, driver_version, nvml_version, smi;
};
using Values = std::vector<ComparedValue>;

// Read by the worker process, as in the exporter. kUnavailable has the reason if there are none.
Result<VendorReading> read_nvml(const Flags& flags, Clock& clock, Log& log,
                                const std::stop_token& stop) {
  const GpuTimes times;
  const auto source = make_gpu_source(flags, [times] { return times; }, clock, log);
  if (!source) return std::unexpected(source.error());
  const GpuTelemetry telemetry = look_at_gpus(**source, times.timeout, clock, stop);
  const VendorReading* const report =
      telemetry.report ? telemetry.report->find(Vendor::kNvidia) : nullptr;
  if (report != nullptr && report->state == LibraryState::kReady) return *report;
  std::string why = "not found on this machine";
  if (report != nullptr && report->state == LibraryState::kUnusable) why = report->fault;
  if (!telemetry.fault.empty()) why = telemetry.fault;
  return fail(ErrorKind::kUnavailable, flags.libraries.nvml + ": " + why);
}

// Ignores nvidia-smi's exit code: with one GPU lost it still prints the others.
Result<std::string> run_smi(std::vector<std::string> arguments, Clock& clock,
                            const std::stop_token& stop) {
  ChildCommand command;
  command.program = "nvidia-smi";
  command.arguments = std::move(arguments);
  command.timeout = kSmiLimit;
  command.stop = stop;
  const auto ended = run_child(command, clock);
  if (!ended) return std::unexpected(ended.error());
  if (!ended->output.empty()) return ended->output;
  return fail(ErrorKind::kUnavailable, "nvidia-smi " + how_it_ended(*ended) + ": " +
                                           to_valid_utf8(trim(ended->complaint), 200));
}

Result<SmiReading> read_smi(Clock& clock, const std::stop_token& stop) {
  const auto help = run_smi({"--help-query-gpu"}, clock, stop);
  if (!help) return std::unexpected(help.error());
  const std::vector<std::string> fields = smi_fields(*help);
  std::string query = "--query-gpu=";
  for (const std::string& field : fields) query += (query.ends_with('=') ? "" : ",") + field;
  const auto csv = run_smi({query, "--format=csv,noheader,nounits"}, clock, stop);
  if (!csv) return std::unexpected(csv.error());
  SmiReading reading = parse_smi(fields, *csv);
  if (!reading.gpus.empty()) return reading;
  return fail(
      ErrorKind::kUnavailable,
      "nvidia-smi lists no GPU: " + to_valid_utf8(trim(csv->substr(0, csv->find('\n'))), 200));
}

std::size_t count(const Values& values, Agreement agreement) {
  return static_cast<std::size_t>(std::ranges::count(values, agreement, &ComparedValue::agreement));
}

void print_for_people(const Facts& facts, const Values& values, std::ostream& out) {
  out << "gpuward     " << GPUWARD_VERSION << "\nkernel      " << facts.kernel << "\ndriver      "
      << facts.driver_version << "\nNVML        " << facts.nvml_version << ", " << facts.library
      << "\nnvidia-smi  " << facts.smi << "\n\n";
  std::vector<std::vector<std::string>> rows{{"GPU", "VALUE", "NVML", "NVIDIA-SMI", "VERDICT"}};
  for (const ComparedValue& value : values) {
    std::string verdict(kVerdicts.at(static_cast<std::size_t>(value.agreement)));
    if (!value.why.empty()) verdict += ": " + value.why;
    rows.push_back({value.gpu, value.value, value.nvml, value.smi, std::move(verdict)});
  }
  print_table(rows, out);
  out << "\n"
      << count(values, Agreement::kSame) << " values are the same, "
      << count(values, Agreement::kDiffers) << " differ, " << count(values, Agreement::kNotCompared)
      << " were not compared.\n";
}

std::string to_json(const Facts& facts, const Values& values) {
  Json all = Json::array();
  for (const ComparedValue& value : values) {
    all.push_back({{"gpu", value.gpu},
                   {"value", value.value},
                   {"nvml", value.nvml},
                   {"nvidia_smi", value.smi},
                   {"verdict", kVerdicts.at(static_cast<std::size_t>(value.agreement))},
                   {"why", value.why}});
  }
  return dump_json({{"gpuward_version", GPUWARD_VERSION},
                    {"kernel", facts.kernel},
                    {"driver_version", facts.driver_version},
                    {"nvml_version", facts.nvml_version},
                    {"nvml_library", facts.library},
                    {"nvidia_smi", facts.smi},
                    {"same", count(values, Agreement::kSame)},
                    {"differ", count(values, Agreement::kDiffers)},
                    {"not_compared", count(values, Agreement::kNotCompared)},
                    {"values", std::move(all)}});
}

std::string kernel_of(const Flags& flags) {
  return std::string(trim(read_file(flags.host.proc / "sys/kernel/osrelease").value_or("unknown")));
}

struct Comparison {
  VendorReading nvml;
  std::string smi;  // "compared", or the reason
  Values values;
};

Result<Comparison> compare_once(const Flags& flags, Clock& clock, Log& log,
                                const std::stop_token& stop) {
  const auto before = read_nvml(flags, clock, log, stop);
  if (!before) return std::unexpected(before.error());
  const auto smi = read_smi(clock, stop);
  auto after = read_nvml(flags, clock, log, stop);
  if (!after) return std::unexpected(after.error());
  const std::string said = smi ? "compared" : smi.error().message;
  const SmiReading silent{.fault = "nvidia-smi did not answer", .gpus = {}};
  auto values = compare_with_smi(*before, smi ? *smi : silent, *after);
  return Comparison{*std::move(after), said, std::move(values)};
}

int run_self_test(const Flags& flags, OutputFormat format, const std::stop_token& stop) {
  SystemClock clock;
  Log log(flags.log_level, flags.log_format);
  Result<Comparison> compared;
  for (int round = 0; round < kMostRounds; ++round) {
    compared = compare_once(flags, clock, log, stop);
    if (!compared || count(compared->values, Agreement::kDiffers) == 0) break;
  }
  if (!compared) {
    std::cerr << "gpuward-exporter: cannot read NVML for the comparison: "
              << compared.error().message
              << "\nCheck that NVIDIA's driver is loaded and that this container sees its library "
                 "(NVIDIA_DRIVER_CAPABILITIES=utility). To use another library, set --nvml.\n";
    return kNoNvml;
  }
  const VendorReading& nvml = compared->nvml;
  const Facts facts{kernel_of(flags), nvml.library, nvml.driver_version, nvml.library_version,
                    compared->smi};
  if (format == OutputFormat::kTable) {
    print_for_people(facts, compared->values, std::cout);
  } else {
    std::cout << in_format(format, to_json(facts, compared->values)).value_or("");
  }
  return count(compared->values, Agreement::kDiffers) == 0 ? kDone : kFailed;
}

}  // namespace

void add_self_test_command(CLI::App& app, Commands& commands) {
  const auto wishes = std::make_shared<Wishes>();
  CLI::App* command = app.add_subcommand(
      "self-test", "Compare each GPU value with nvidia-smi and print a table for a bug report");
  command->fallthrough();
  command->add_option("--nvml", wishes->nvml, "NVML library; overrides --gpu.nvml-library");
  add_output_flags(*command, wishes->output);
  add_examples(app, kSelfTestExamples);
  commands.emplace_back(command, [wishes](const Flags& given) {
    Flags flags = given;
    if (!wishes->nvml.empty()) flags.libraries.nvml = wishes->nvml;
    return until_signal(
        [&](const std::stop_token& stop) { return run_self_test(flags, wishes->output, stop); });
  });
}

}  // namespace gpuward::exporter
