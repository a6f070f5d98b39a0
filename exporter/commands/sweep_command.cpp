#include "exporter/commands/sweep_command.h"

#include <CLI/CLI.hpp>
#include <array>
#include <iostream>
#include <memory>
#include <utility>

#include "core/command_line/examples.h"
#include "core/kube/connection.h"
#include "core/runtime/files.h"
#include "exporter/checks/check/check.h"
#include "exporter/commands/progress.h"
#include "exporter/commands/sweep.h"
#include "exporter/commands/sweep_settings.h"
#include "exporter/commands/until_signal.h"
#include "exporter/config/exit_code.h"
#include "exporter/config/identity.h"

namespace gpuward::exporter {
namespace {

constexpr std::array kSweepExamples = {
    Example{"sweep", "gpuward-exporter sweep --node-selector pool=a100"}};

// The check of the built-in Job. The check of another Job is not known here.
std::string swept_with(const SweepOptions& options) {
  if (!options.job.job_template.empty()) return "--job-template";
  return std::string(check_numbered(1).name);
}

int run_sweep(SweepOptions wishes, ProgressWish progress_wish, const Flags& flags) {
  Clock& clock = lasting_clock();
  wishes.owner = owner_of_run(clock);
  auto options = read_sweep_options(environment_lookup(), std::move(wishes));
  // As in the exporter itself, the folder of the suite's keys overrides the environment.
  if (options && !flags.config_folder.empty())
    options = read_sweep_options(folder_lookup(flags.config_folder), *std::move(options));
  if (!options) return complain(options.error());
  auto cluster = kube::find_cluster(flags.kubeconfig, flags.kube_context);
  if (!cluster) return complain(cluster.error());
  return until_signal([&](const std::stop_token& stop) {
    Log log(flags.log_level, flags.log_format);
    kube::Connection connection(*std::move(cluster), user_agent(), clock);
    const auto api = connection.make_api({});
    ProgressLine progress(progress_on_stderr(progress_wish), std::cerr, clock);
    const ProgressTicker ticker(progress, clock);
    const std::string check = swept_with(*options);
    progress.begin("sweep " + check, sweep_limit(*options));
    options->on_progress = [&](const SweepCount& count) {
      progress.update(sweep_words(check, count));
    };
    const auto report = Sweep(*std::move(options), *api, clock, log).run(stop);
    if (!report) return complain(report.error());
    return report->failed.empty() && report->untold.empty() ? kDone : kFailed;
  });
}

void read_template(const std::string& path, SweepOptions& options) {
  auto text = read_file(path);
  if (!text) throw CLI::ValidationError("--job-template", text.error().message);
  options.job.job_template = *std::move(text);
}

}  // namespace

CLI::App* add_sweep(CLI::App& app, SweepWishes& wishes) {
  CLI::App* command =
      app.add_subcommand("sweep", "Run check 1 on idle GPU nodes, a few at a time, and exit");
  command->fallthrough();
  command
      ->add_option("--node-selector", wishes.options.selector,
                   "Label selector of the nodes to sweep")
      ->capture_default_str();
  command
      ->add_option_function<std::string>(
          "--job-template",
          [&wishes](const std::string& path) { read_template(path, wishes.options); },
          "JSON file of the Job to run on each node")
      ->check(CLI::ExistingFile);
  add_progress_flag(*command, wishes.progress);
  add_examples(app, kSweepExamples);
  return command;
}

void add_sweep_command(CLI::App& app, Commands& commands) {
  const auto wishes = std::make_shared<SweepWishes>();
  commands.emplace_back(add_sweep(app, *wishes), [wishes](const Flags& flags) {
    return run_sweep(wishes->options, wishes->progress, flags);
  });
}

}  // namespace gpuward::exporter
