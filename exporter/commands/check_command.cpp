#include "exporter/commands/check_command.h"

#include <CLI/CLI.hpp>
#include <array>
#include <iostream>
#include <memory>

#include "core/command_line/examples.h"
#include "exporter/commands/check_parts.h"
#include "exporter/commands/output_flags.h"
#include "exporter/commands/until_signal.h"
#include "exporter/config/exit_code.h"
#include "exporter/config/identity.h"

namespace gpuward::exporter {
namespace {

constexpr std::array kCheckExamples = {
    Example{"check",
            "gpuward-exporter check --suite lightweight\n"
            "gpuward-exporter check --check 4 --exclusive -o json"}};

int run_check(const CheckRequest& request, const Flags& flags) {
  auto settings = read_settings(flags);
  if (!settings) return complain(settings.error());
  return until_signal([&](const std::stop_token& stop) {
    Clock& clock = lasting_clock();
    Log log(flags.log_level, flags.log_format);
    const CheckParts parts = check_parts(flags, *settings, clock, log);
    return run_checks(request, parts, clock, stop, std::cout, std::cerr);
  });
}

}  // namespace

CLI::App* add_check(CLI::App& app, CheckRequest& request) {
  CLI::App* check = app.add_subcommand("check", "Run checks now, print their findings and exit");
  check->fallthrough();
  auto* suite = check->add_option("--suite", request.suite, "lightweight or intensive");
  auto* one = check->add_option("--check", request.check, "One check: 0 to 6, or its name")
                  ->excludes(suite);
  check->add_flag("--prolog", request.is_prolog, "Run the checks of a batch-job prolog")
      ->excludes(suite)
      ->excludes(one);
  add_output_flags(*check, request.output);
  check->add_flag("--exclusive", request.is_exclusive,
                  "Confirm that the node is idle: required for checks that load the GPUs");
  check->add_flag("--dry-run", request.is_dry_run, "Print what would run, without running it");
  check->add_option("--results-dir", request.results_dir, "Folder for a JSON file of each check");
  check->add_option(
      "--termination-log", request.termination_log,
      "File for the last check's JSON object: the container's terminationMessagePath");
  check
      ->add_option_function<double>(
          "--timeout",
          [&request](double seconds) {
            request.timeout = std::chrono::milliseconds(static_cast<std::int64_t>(seconds * 1000));
          },
          "Timeout of each check in seconds")
      ->check(CLI::Range(1.0, 1e6));
  add_examples(app, kCheckExamples);
  return check;
}

void add_check_command(CLI::App& app, Commands& commands) {
  const auto request = std::make_shared<CheckRequest>();
  commands.emplace_back(add_check(app, *request),
                        [request](const Flags& flags) { return run_check(*request, flags); });
}

}  // namespace gpuward::exporter
