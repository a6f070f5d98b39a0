#include "exporter/commands.h"

#include <unistd.h>

#include <algorithm>
#include <iostream>
#include <sstream>
#include <thread>
#include <utility>

#include "core/kube/connection.h"
#include "core/runtime/clock.h"
#include "core/runtime/log.h"
#include "core/runtime/signals.h"
#include "exporter/check_command.h"
#include "exporter/checks/schedule.h"
#include "exporter/exit_code.h"
#include "exporter/gpu_source.h"
#include "exporter/host/boot.h"
#include "exporter/host/instance_type.h"
#include "exporter/identity.h"
#include "exporter/node_link.h"
#include "exporter/progress.h"
#include "exporter/publish/node/node_publisher.h"
#include "exporter/quarantine.h"
#include "exporter/quarantine_checks.h"
#include "exporter/settings.h"
#include "exporter/sweep.h"
#include "exporter/sweep_settings.h"

namespace gpuward::exporter {
namespace {

// Runs it on a thread of its own while this one waits for signals.
int until_signal(const std::function<int(const std::stop_token&)>& work) {
  Signals signals;
  std::stop_source stopping;
  std::stop_source done;
  int exit_code = kFailed;
  {
    const std::jthread worker([&] {
      exit_code = work(stopping.get_token());
      done.request_stop();
    });
    signals.wait([] {}, {}, done.get_token());
    stopping.request_stop();
  }
  return exit_code;
}

std::string instance_type(const Flags& flags, const Settings& settings, Clock& clock) {
  const auto node_label = [&]() -> Result<std::string> {
    if (flags.node_name.empty()) return fail(ErrorKind::kNotFound, "there is no node to ask");
    auto cluster = kube::find_cluster(flags.kubeconfig, flags.kube_context);
    if (!cluster) return std::unexpected(cluster.error());
    kube::Connection connection(*std::move(cluster), user_agent(), clock);
    return instance_type_at(connection, flags.node_name);
  };
  return named_by_firmware(learn_instance_type(settings.checks.instance_type, node_label),
                           machine_of(flags), settings.checks.profiles)
      .type;
}

CheckParts check_parts(const Flags& flags, Settings settings, Clock& clock, Log& log) {
  CheckParts parts;
  parts.host = node_trees(flags);
  parts.host_name = host_name();
  parts.boot_id = read_boot(flags.host).id;
  parts.machine = machine_of(flags);
  parts.state_path = flags.state_path;
  parts.instance_type = instance_type(flags, settings, clock);
  const GpuTimes times{settings.checks.gpu_interval, settings.checks.gpu_timeout};
  parts.make_gpu_source = [&flags, &clock, &log, times] {
    return make_gpu_source(flags, [times] { return times; }, clock, log);
  };
  parts.policy = *CurrentPolicy(std::move(settings)).get();
  return parts;
}

ProgressStyle progress_of(const Flags& flags) {
  return progress_style(flags.progress, isatty(STDERR_FILENO) == 1);
}

// The check of the built-in Job; what another one runs is not known here.
std::string swept_with(const SweepOptions& options) {
  if (!options.job.job_template.empty()) return "--job-template";
  const auto first = std::ranges::find(all_checks(), 1, &CheckEntry::number);
  return std::string(first->name);
}

std::vector<NamedCheck> named_checks(const std::vector<int>& numbers,
                                     const CheckSettings& settings) {
  std::vector<NamedCheck> named;
  for (const int number : numbers) {
    const auto entry = std::ranges::find(all_checks(), number, &CheckEntry::number);
    named.push_back({number, entry->name, time_limit_of(*entry, settings)});
  }
  return named;
}

// As long as the node's own level 2 may take, which may have begun a moment before the node was
// marked.
std::chrono::milliseconds wait_for_own_diagnostic(const CheckSettings& settings) {
  const auto own = std::ranges::find(all_checks(), 1, &CheckEntry::number);
  return time_limit_of(*own, settings) + std::chrono::minutes(1);
}

// Unlike that of any other run.
std::string owner_of_run(const Clock& clock) {
  return host_name() + "-" + std::to_string(clock.wall().time_since_epoch().count());
}

}  // namespace

int check_command(const Flags& flags) {
  auto settings = read_settings(flags);
  if (!settings) return complain(settings.error());
  return until_signal([&](const std::stop_token& stop) {
    Clock& clock = lasting_clock();
    Log log(flags.log_level, flags.log_format);
    const CheckParts parts = check_parts(flags, *settings, clock, log);
    return run_checks(flags.check, parts, clock, stop, std::cout, std::cerr);
  });
}

int sweep_command(const Flags& flags) {
  SweepOptions wishes = flags.sweep;
  Clock& clock = lasting_clock();
  wishes.owner = owner_of_run(clock);
  auto options = read_sweep_options(environment_lookup(), std::move(wishes));
  if (!options) return complain(options.error());
  auto cluster = kube::find_cluster(flags.kubeconfig, flags.kube_context);
  if (!cluster) return complain(cluster.error());
  return until_signal([&](const std::stop_token& stop) {
    Log log(flags.log_level, flags.log_format);
    kube::Connection connection(*std::move(cluster), user_agent(), clock);
    const auto api = connection.make_api({});
    ProgressLine progress(progress_of(flags), std::cerr, clock);
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

int quarantine_command(const Flags& flags) {
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
    options.needs_cordon = !flags.is_quarantine_forced;
    options.checks = flags.quarantine_checks;
    options.clears_latched = flags.clears_latched;
    ProgressLine progress(progress_of(flags), std::cerr, clock);
    const ProgressTicker ticker(progress, clock);
    const RunCheck run_check =
        with_progress(run_by_command(check, std::cout),
                      named_checks(options.checks, parts.policy.settings.checks), progress);
    const auto verdict = Quarantine(options, *api, clock, log).run(run_check, stop);
    if (!verdict) return complain(verdict.error());
    return verdict->recommendation == "return-to-service" ? kDone : kFailed;
  });
}

}  // namespace gpuward::exporter
