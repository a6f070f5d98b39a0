#include "exporter/commands/quarantine_command.h"

#include <CLI/CLI.hpp>
#include <array>
#include <iostream>
#include <memory>
#include <utility>
#include <vector>

#include "core/command_line/examples.h"
#include "core/kube/connection.h"
#include "exporter/checks/preflight.h"
#include "exporter/checks/schedule.h"
#include "exporter/commands/check_parts.h"
#include "exporter/commands/progress.h"
#include "exporter/commands/quarantine.h"
#include "exporter/commands/quarantine_checks.h"
#include "exporter/commands/until_signal.h"
#include "exporter/config/exit_code.h"
#include "exporter/config/identity.h"
#include "exporter/watch/asking_label.h"

namespace gpuward::exporter {
namespace {

constexpr std::array kQuarantineExamples = {
    Example{"quarantine",
            "gpuward-exporter quarantine --node.name gpu-01\n"
            "gpuward-exporter quarantine --node.name gpu-01 --checks 4,5,6 --clear-latched"}};

constexpr kube::ApiDeadlines kAskingLabelQuestion{std::chrono::seconds(3), std::chrono::seconds(5)};

std::vector<NamedCheck> named_checks(const std::vector<int>& numbers,
                                     const CheckSettings& settings) {
  std::vector<NamedCheck> named;
  for (const int number : numbers) {
    const CheckEntry& entry = check_numbered(number);
    named.push_back({number, entry.name, time_limit_of(entry, settings)});
  }
  return named;
}

void log_preflight_of(const std::vector<int>& numbers, const CheckSettings& settings, Log& log) {
  std::vector<CheckEntry> entries;
  for (const int number : numbers) entries.push_back(check_numbered(number));
  log_preflight(entries, settings, log);
}

// The longest time of the node's own level 2, which may have started just before the node got its
// mode label.
std::chrono::milliseconds wait_for_own_diagnostic(const CheckSettings& settings) {
  return time_limit_of(check_numbered(1), settings) + std::chrono::minutes(1);
}

int quarantine_node(const QuarantineWishes& wishes, const Flags& flags) {
  auto settings = read_settings(flags);
  if (!settings) return complain(settings.error());
  if (flags.node_name.empty()) {
    return complain({ErrorKind::kInvalid, "quarantine: give --node.name, or NODE_NAME", {}});
  }
  auto cluster = kube::find_cluster(flags.kubeconfig, flags.kube_context);
  if (!cluster) return complain(cluster.error());
  return until_signal([&](const std::stop_token& stop) {
    Clock& clock = lasting_clock();
    Log log(flags.log_level, flags.log_format);
    kube::Connection connection(*std::move(cluster), user_agent(), clock);
    const auto api = connection.make_api({});
    log_preflight_of(wishes.checks, settings->checks, log);
    const CheckParts parts = check_parts(flags, *settings, clock, log);
    const auto check = [&](int number, const std::stop_token& check_stop, std::ostream& json) {
      CheckRequest request;
      request.check = std::to_string(number);
      request.output = OutputFormat::kJson;
      request.is_exclusive = true;
      request.gpus_wait = wait_for_own_diagnostic(parts.policy.settings.checks);
      return run_checks(request, parts, clock, check_stop, json, std::cerr);
    };
    QuarantineOptions options;
    options.node = flags.node_name;
    options.owner = owner_of_run(clock);
    options.state_folder = flags.state_path;
    options.writes_labels = settings->node.writes_labels;
    options.needs_cordon = !wishes.is_forced;
    options.checks = wishes.checks;
    options.clears_latched = wishes.clears_latched;
    ProgressLine progress(progress_on_stderr(wishes.progress), std::cerr, clock);
    const ProgressTicker ticker(progress, clock);
    const auto questions = connection.make_api(kAskingLabelQuestion, stop);
    const RunCheck run_check = until_asked_for_gpus(
        with_progress(run_by_command(check, std::cout),
                      named_checks(options.checks, parts.policy.settings.checks), progress),
        [&] { return label_asking_for_gpus(*questions, flags.node_name); }, clock);
    const auto verdict = Quarantine(options, *api, clock, log).run(run_check, stop);
    if (verdict) return verdict->recommendation == "return-to-service" ? kDone : kFailed;
    const auto code = complain(verdict.error());
    return verdict.error().kind == ErrorKind::kBlocked ? kCouldNotTell : code;
  });
}

}  // namespace

CLI::App* add_quarantine(CLI::App& app, QuarantineWishes& wishes) {
  CLI::App* command = app.add_subcommand(
      "quarantine",
      "Run checks 4 and 6 on this cordoned node, write a recommendation to it and exit");
  command->fallthrough();
  command
      ->add_option("--checks", wishes.checks,
                   "Checks to run, out of 4, 5 and 6: `5` runs only NCCL")
      ->delimiter(',')
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll)
      ->check(CLI::Range(4, 6));
  command->add_flag(
      "--clear-latched", wishes.clears_latched,
      "A pass also clears the findings that only an operator clears, such as some Xids");
  command->add_flag(
      "--force", wishes.is_forced,
      "Also run on a node that is not cordoned; make sure that nothing else runs there");
  add_progress_flag(*command, wishes.progress);
  add_examples(app, kQuarantineExamples);
  return command;
}

void add_quarantine_command(CLI::App& app, Commands& commands) {
  const auto wishes = std::make_shared<QuarantineWishes>();
  commands.emplace_back(add_quarantine(app, *wishes),
                        [wishes](const Flags& flags) { return quarantine_node(*wishes, flags); });
}

}  // namespace gpuward::exporter
