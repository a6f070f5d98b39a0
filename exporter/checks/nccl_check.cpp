#include "exporter/checks/nccl_check.h"

#include <array>
#include <cstdio>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "core/runtime/child.h"
#include "core/runtime/text.h"
#include "exporter/checks/evidence.h"
#include "exporter/checks/finding_list.h"
#include "exporter/checks/gpu_use.h"
#include "exporter/checks/nccl_limits.h"

namespace gpuward::exporter {
namespace {

using std::chrono::milliseconds;

constexpr int kNumber = 5;
constexpr std::size_t kMostOutputBytes = 8U << 20U;  // NCCL_DEBUG=INFO is talkative
constexpr std::string_view kProgram = "all_reduce_perf";

std::string gigabytes(double value) {
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%.1f GB/s", value);
  return text.data();
}

struct Test {
  std::vector<std::string> sizes;
  std::map<std::string, std::string> environment;
  milliseconds timeout{0};
};

Result<ChildResult> run_test(const Test& test, const CheckContext& context) {
  ChildCommand command;
  command.program = kProgram;
  command.arguments = test.sizes;
  command.arguments.insert(command.arguments.end(),
                           {"-g", std::to_string(nvidia_gpu_count(context.snapshot))});
  command.environment = test.environment;
  command.environment.insert({{"NCCL_DEBUG", "INFO"}, {"FI_PROVIDER", "efa"}});
  if (context.profile && context.profile->efa_devices == 0)
    command.environment.erase("FI_PROVIDER");
  command.search = context.settings.tool_dirs;
  command.max_output_bytes = kMostOutputBytes;
  command.timeout = test.timeout;
  command.grace = std::chrono::seconds(5);
  command.stop = context.stop;
  return run_child(command, context.clock);
}

std::optional<std::string> obstacle(const CheckContext& context) {
  if (has_no_nvidia_gpu(context.snapshot)) return "no NVIDIA GPU here";
  if (nvidia_gpu_count(context.snapshot) < 2)
    return "all_reduce needs two GPUs, and " + std::to_string(nvidia_gpu_count(context.snapshot)) +
           " are known here";
  if (!context.is_exclusive) {
    return "it needs two nodes and a launcher; for the test of this node alone drain it and ask "
           "with --exclusive";
  }
  if (const auto mig = mig_gpu(context.snapshot)) return *mig + ": NCCL needs whole GPUs";
  return gpu_user(context.snapshot);
}

bool is_over_efa(const std::string& network) {
  return network.starts_with("efa") || network == "AWS Libfabric";
}

void judge_network(const NcclReport& report, const CheckContext& context, FindingList& found) {
  if (!context.profile || context.profile->efa_devices == 0 || is_over_efa(report.network)) return;
  found.add("nccl_no_efa", "",
            report.network.empty() ? "NCCL does not name its network"
                                   : "NCCL has chosen the network " + report.network);
}

double wanted_bandwidth(const CheckContext& context) {
  if (context.settings.nccl_min_bus_bandwidth > 0) return context.settings.nccl_min_bus_bandwidth;
  return nccl_limits(context.instance_type).nvlink;
}

CheckOutcome failed(const NcclReport& report, const std::string& ended,
                    const CheckContext& context) {
  const std::string what =
      std::string(kProgram) + " " + ended +
      (report.complaint.empty() ? " and gave no whole result" : ": " + report.complaint);
  FindingList found(context.settings);
  if (report.is_hardware_complaint) {
    found.add("nccl_hardware_error", "", what);
  } else if (context.settings.is_seed_profile) {
    found.add_as("nccl_failed", report.complaint.empty() ? Severity::kReset : Severity::kIsolate,
                 "", what, {});
  } else {
    return CheckOutcome::error(what);
  }
  return CheckOutcome::done(what, found.take_findings());
}

// The opt-in sub-tests of one transport each: they only ever warn.
struct SubTest {
  std::string_view name;
  std::map<std::string, std::string> environment;
  double wanted = 0;
};

void run_sub_test(const SubTest& test, const CheckContext& context, CheckOutcome& outcome) {
  const auto result = run_test(
      {{"-b", "256M", "-e", "256M"}, test.environment, context.settings.nccl_isolation_timeout},
      context);
  FindingList found(context.settings);
  const std::string name(test.name);
  if (!result) {
    found.add("nccl_sub_test", "", name + ": " + result.error().message);
  } else if (const auto report = parse_nccl_report(result->output);
             result->exit_code != 0 || !report.is_complete()) {
    found.add("nccl_sub_test", "", name + " " + how_it_ended(*result) + ": " + report.complaint);
  } else {
    outcome.details += "; " + name + " " + gigabytes(report.best_bus_bandwidth);
    if (report.best_bus_bandwidth < test.wanted) {
      found.add("nccl_sub_test", "",
                name + ": " + gigabytes(report.best_bus_bandwidth) + ", wanted are " +
                    gigabytes(test.wanted));
    }
  }
  for (Finding& finding : found.take_findings()) outcome.findings.push_back(std::move(finding));
}

void run_sub_tests(const CheckContext& context, CheckOutcome& outcome) {
  run_sub_test({"NVLink only",
                {{"NCCL_P2P_LEVEL", "NVL"}, {"NCCL_NET", "Socket"}},
                wanted_bandwidth(context)},
               context, outcome);
  if (!context.profile || context.profile->efa_devices == 0 || context.stop.stop_requested())
    return;
  // Within one node nobody has a number for it but the operator.
  run_sub_test(
      {"EFA only",
       {{"NCCL_P2P_DISABLE", "1"}, {"NCCL_SHM_DISABLE", "1"}, {"NCCL_NET", "AWS Libfabric"}},
       context.settings.nccl_min_bus_bandwidth},
      context, outcome);
}

}  // namespace

CheckOutcome nccl_outcome(const NcclReport& report, int exit_code, const std::string& ended,
                          const CheckContext& context) {
  FindingList found(context.settings);
  if (report.wrong_values.value_or(0) != 0) {
    found.add("nccl_wrong_values", "",
              std::to_string(*report.wrong_values) + " results of all_reduce are wrong");
    return CheckOutcome::done("all_reduce gives wrong results", found.take_findings());
  }
  if (exit_code != 0 || !report.is_complete() || report.is_hardware_complaint)
    return failed(report, ended, context);
  const double wanted = wanted_bandwidth(context);
  std::string details = "all_reduce over " + std::to_string(nvidia_gpu_count(context.snapshot)) +
                        " GPUs: at best " + gigabytes(report.best_bus_bandwidth);
  if (wanted <= 0) details += "; no threshold is known for this instance type";
  if (report.best_bus_bandwidth < wanted) {
    found.add("nccl_slow", "",
              "bus bandwidth " + gigabytes(report.best_bus_bandwidth) + " at " +
                  std::to_string(report.best_size) + " bytes, wanted are " + gigabytes(wanted));
  }
  judge_network(report, context, found);
  return CheckOutcome::done(std::move(details), found.take_findings());
}

CheckOutcome NcclCheck::run(const CheckContext& context) {
  const auto program = find_program(std::string(kProgram), context.settings.tool_dirs);
  if (!program) return CheckOutcome::skipped(program.error().message);
  if (auto why = obstacle(context)) return CheckOutcome::skipped(std::move(*why));
  const auto own = context.settings.timeouts.find(kNumber);
  const milliseconds timeout =
      own == context.settings.timeouts.end() ? context.settings.nccl_timeout : own->second;
  const auto result = run_test({{"-b", "8", "-e", "128M", "-f", "2"}, {}, timeout}, context);
  if (!result) {
    const bool is_late = result.error().kind == ErrorKind::kTimeout;
    return CheckOutcome::error((is_late ? "all_reduce did not end within its time: " : "") +
                               result.error().message);
  }
  const NcclReport report = parse_nccl_report(result->output + "\n" + result->complaint);
  CheckOutcome outcome = nccl_outcome(report, result->exit_code, how_it_ended(*result), context);
  outcome.details += keep_evidence(context.settings, "nccl-allreduce-raw.txt", result->output);
  const bool is_whole = outcome.kind == CheckOutcome::Kind::kDone && result->exit_code == 0;
  if (is_whole && context.settings.nccl_isolation_tests) run_sub_tests(context, outcome);
  return outcome;
}

CheckEntry nccl_entry() {
  CheckEntry entry;
  entry.number = kNumber;
  entry.name = "5-nccl-allreduce";
  entry.short_name = "nccl-allreduce";
  entry.suite = Suite::kIntensive;
  entry.rhythm = CheckEntry::Rhythm::kOnDemand;
  // The test and two sub-tests, 600 s each.
  entry.timeout = std::chrono::seconds(1800 + 2 * 600 + 60);
  entry.make = []() -> std::unique_ptr<Check> { return std::make_unique<NcclCheck>(); };
  return entry;
}

}  // namespace gpuward::exporter
