#include "exporter/commands/amd_health_command.h"

#include <CLI/CLI.hpp>
#include <array>
#include <cstdint>
#include <iostream>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/command_line/examples.h"
#include "core/command_line/table.h"
#include "core/runtime/files.h"
#include "core/runtime/json.h"
#include "core/runtime/text.h"
#include "exporter/amd_health/client.h"
#include "exporter/commands/output_flags.h"
#include "exporter/config/exit_code.h"
#include "exporter/config/settings.h"

namespace gpuward::exporter {
namespace {

using amd_health::Client;
using amd_health::Counts;
using amd_health::GpuState;

constexpr std::array kAmdHealthExamples = {
    Example{"amd-health", "gpuward-exporter amd-health get"},
    Example{"amd-health get",
            "gpuward-exporter amd-health get\ngpuward-exporter amd-health get --id 0 --json"},
    Example{"amd-health inject",
            "gpuward-exporter amd-health inject --id 0 GPU_ECC_UNCORRECT_UMC=1\n"
            "gpuward-exporter amd-health inject --id 0 GPU_ECC_UNCORRECT_UMC=0\n"
            "gpuward-exporter amd-health inject --ecc-file-path ecc.json"},
};
constexpr std::string_view kScheme = "unix://";  // as in metricsclient's --socket

struct HealthWishes {
  std::string socket = AmdHealthSettings().socket.string();
  std::vector<std::string> ids;
  OutputFormat output = OutputFormat::kTable;
};

struct Injected {
  std::string id, file;
  Counts counts;
};

Client client_of(const HealthWishes& wishes) {
  const bool has_scheme = wishes.socket.starts_with(kScheme);
  return Client(wishes.socket.substr(has_scheme ? kScheme.size() : 0));
}

// The names are AMD's, so that parsers of metricsclient's output work here too.
Json to_json(const GpuState& gpu) {
  return {{"ID", gpu.id},
          {"UUID", gpu.uuid},
          {"Health", gpu.health},
          {"AssociatedWorkload", gpu.workloads},
          {"Device", gpu.device}};
}

std::string joined(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : ", ") + word;
  return text.empty() ? "-" : text;
}

void print(const std::vector<GpuState>& gpus, OutputFormat format) {
  if (format != OutputFormat::kTable) {
    Json states = Json::array();
    for (const GpuState& gpu : gpus) states.push_back(to_json(gpu));
    std::cout << in_sequence(format, dump_json({{"GPUState", std::move(states)}}));
    return;
  }
  std::vector<std::vector<std::string>> rows{
      {"ID", "UUID", "HEALTH", "DEVICE", "ASSOCIATED WORKLOAD"}};
  for (const GpuState& gpu : gpus) {
    rows.push_back(
        {gpu.id, gpu.uuid.empty() ? "-" : gpu.uuid, gpu.health, gpu.device, joined(gpu.workloads)});
  }
  print_table(rows, std::cout);
}

int print_answer(const Result<std::vector<GpuState>>& gpus, OutputFormat format) {
  if (!gpus) return complain(gpus.error());
  print(*gpus, format);
  return kDone;
}

int run_get(const HealthWishes& wishes) {
  const Client client = client_of(wishes);
  return print_answer(wishes.ids.empty() ? client.list() : client.get(wishes.ids), wishes.output);
}

std::unexpected<Error> refuse_file(const std::string& path, const std::string& why) {
  return fail(ErrorKind::kInvalid, path + ": " + why);
}

// Reads metricsclient's file: `{"ID": "0", "Fields": ["GPU_ECC_UNCORRECT_SEM"], "Counts": [1]}`.
Result<Injected> read_ecc_file(const std::string& path) {
  const auto text = read_file(path);
  if (!text) return std::unexpected(text.error());
  const auto json = parse_json(*text);
  if (!json) return refuse_file(path, json.error().message);
  Injected injected{string_at(*json, "ID"), path, {}};
  const Json& fields = member_at(*json, "Fields");
  const Json& counts = member_at(*json, "Counts");
  if (injected.id.empty() || !fields.is_array() || fields.empty() || !counts.is_array() ||
      counts.size() != fields.size())
    return refuse_file(path, "needs an ID, and a count in Counts for each name in Fields");
  for (std::size_t i = 0; i < fields.size(); ++i) {
    const bool is_count =
        counts[i].is_number_unsigned() && counts[i].get<std::uint64_t>() <= UINT32_MAX;
    if (!fields[i].is_string() || !is_count)
      return refuse_file(
          path, "Fields must contain names, and Counts whole numbers from 0 to 4294967295");
    injected.counts[fields[i].get<std::string>()] = counts[i].get<std::uint32_t>();
  }
  return injected;
}

int run_inject(const HealthWishes& wishes, Injected injected) {
  if (!injected.file.empty()) {
    auto read = read_ecc_file(injected.file);
    if (!read) return complain(read.error());
    injected = *std::move(read);
  }
  const Client client = client_of(wishes);
  if (const auto done = client.set_error(injected.id, injected.counts); !done)
    return complain(done.error());
  return print_answer(client.get({injected.id}), wishes.output);
}

// Parses `GPU_ECC_UNCORRECT_UMC=1`. The service checks the names.
void take_counts(const std::vector<std::string>& words, Injected& injected) {
  for (const std::string& word : words) {
    const auto sign = word.find('=');
    const auto count = sign == std::string::npos
                           ? std::nullopt
                           : parse_integer<std::uint32_t>(std::string_view(word).substr(sign + 1));
    if (sign == 0 || !count)
      throw CLI::ValidationError("amd-health inject", word + " is not of the form FIELD=COUNT");
    injected.counts[word.substr(0, sign)] = *count;
  }
}

void check_wishes(const Injected& injected) {
  if (injected.file.empty() && (injected.id.empty() || injected.counts.empty()))
    throw CLI::ValidationError("amd-health inject",
                               "give --id and FIELD=COUNT, or --ecc-file-path");
}

CLI::App* add_get(CLI::App& amd_health, HealthWishes& wishes) {
  CLI::App* get = amd_health.add_subcommand("get", "Print the health of the GPUs");
  get->fallthrough();
  get->add_option("--id", wishes.ids, "GPU to print, may be repeated; default: all");
  add_output_flags(*get, wishes.output);
  return get;
}

CLI::App* add_inject(CLI::App& amd_health, HealthWishes& wishes, Injected& injected) {
  CLI::App* inject = amd_health.add_subcommand(
      "inject",
      "Simulate error counts of a GPU; the exporter needs --debug.allow-injection. A count of 0 "
      "removes the simulated errors");
  inject->fallthrough();
  CLI::Option* const file = inject->add_option("--ecc-file-path", injected.file,
                                               "JSON file in the format of metricsclient");
  inject->add_option("--id", injected.id, "GPU whose errors are simulated")->excludes(file);
  inject
      ->add_option_function<std::vector<std::string>>(
          "counts",
          [&injected](const std::vector<std::string>& words) { take_counts(words, injected); },
          "FIELD=COUNT: GPU_ECC_UNCORRECT_UMC=1")
      ->excludes(file);
  add_output_flags(*inject, wishes.output);
  inject->callback([&injected] { check_wishes(injected); });
  return inject;
}

}  // namespace

void add_amd_health_command(CLI::App& app, Commands& commands) {
  const auto wishes = std::make_shared<HealthWishes>();
  const auto injected = std::make_shared<Injected>();
  CLI::App* command =
      app.add_subcommand("amd-health", "Ask AMD's health service on this node, or test it");
  command->fallthrough();
  command->require_subcommand(1);
  command->add_option("--socket", wishes->socket, "Socket of the service")->capture_default_str();
  CLI::App* const get = add_get(*command, *wishes);
  CLI::App* const inject = add_inject(*command, *wishes, *injected);
  add_examples(app, kAmdHealthExamples);
  commands.emplace_back(get, [wishes](const Flags&) { return run_get(*wishes); });
  commands.emplace_back(
      inject, [wishes, injected](const Flags&) { return run_inject(*wishes, *injected); });
}

}  // namespace gpuward::exporter
