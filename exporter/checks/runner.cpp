#include "exporter/checks/runner.h"

#include <algorithm>
#include <utility>

#include "core/runtime/text.h"
#include "exporter/checks/check/decide.h"
#include "exporter/checks/check/finding_codes.h"
#include "exporter/checks/result_files.h"

namespace gpuward::exporter {
namespace {

using Rhythm = CheckEntry::Rhythm;

// Checks wait for the first reading of the GPUs, so that no node starts with an error, and for the
// instance type, whose profile says what the machine must have.
constexpr std::chrono::seconds kLongestFirstReading{60};
// A first result that takes longer is logged.
constexpr std::chrono::seconds kLateFirstResults{120};
// A check that must stop has this long before it counts as stuck.
constexpr std::chrono::seconds kToStop{10};

// The runner has no check for the readings and the announcements, nor for lines of the kernel log.
bool is_of_runner(std::string_view check) {
  return check != kGpuCheck && check != kAnnouncementsCheck;
}

// Removes the findings that only the withdrawn check clears, and logs them. Returns the others.
std::vector<Finding> without_ended(std::vector<Finding> standing, Log& log) {
  std::erase_if(standing, [&](const Finding& finding) {
    if (finding.cleared_by != ClearedBy::kCheck) return false;
    log.warn("Ended finding, its check is not enabled any more",
             {{"check", finding.check},
              {"code", finding.code},
              {"pci_bus_id", finding.pci_bus_id},
              {"severity", std::string(to_string(finding.severity))}});
    return true;
  });
  return standing;
}

}  // namespace

bool is_enabled(const CheckEntry& entry, const CheckSettings& settings) {
  switch (entry.rhythm) {
    case Rhythm::kEachCycle:
      return std::ranges::find(settings.enabled, entry.number) != settings.enabled.end();
    case Rhythm::kDiagnostic:
      return settings.is_dcgm_l2_enabled;
    case Rhythm::kOwnInterval:
      return true;
    case Rhythm::kOnDemand:
      break;
  }
  return false;
}

CheckRunner::CheckRunner(RunnerOptions options, Store& store, Clock& clock, Log& log)
    : options_(std::move(options)),
      store_(store),
      clock_(clock),
      log_(log),
      table_{node_number(options_.node_name), clock.wall(), clock.steady()},
      waits_since_(clock.steady()) {
  const std::shared_ptr<const CheckSettings> settings = options_.settings();
  const State known = store_.state();
  for (const auto& [name, result] : known.checks) {
    if (is_of_runner(name) && result.status != CheckStatus::kSkip) jobs_[name].is_in_store = true;
  }
  for (const auto& [key, finding] : known.findings) {
    const bool is_of_check = finding.evidence == Evidence::kMeasured && is_of_runner(key.check);
    if (is_of_check) jobs_[key.check].is_in_store = true;
  }
  tell_awaited(with_programs(options_.checks, *settings), *settings);
}

CheckRunner::~CheckRunner() {
  // Stops all runs at once, so that the end takes one second and not one for each.
  for (auto& [name, job] : jobs_) {
    if (job.run) job.run->request_stop();
  }
}

void CheckRunner::tick() {
  const std::shared_ptr<const CheckSettings> settings = options_.settings();
  warn_of_ignored(*settings);
  const std::vector<CheckEntry> entries = with_programs(options_.checks, *settings);
  drop_removed(entries);
  if (const auto release = store_.health().release) return pause(entries, *settings, *release);
  const bool may_start = has_first_reading();
  for (const CheckEntry& entry : entries) {
    Job& job = jobs_[entry.name];
    job.is_pause_said = false;
    if (job.run) {
      take(entry, job);
      if (job.run) watch(entry, job);
    } else if (!is_enabled(entry, *settings)) {
      withdraw(entry.name, job);
    } else if (may_start && is_due(entry, job, *settings)) {
      start(entry, job, *settings);
    }
  }
  tell_awaited(entries, *settings);
}

// Diagnostics keep their verdict during a pause.
void CheckRunner::pause(const std::vector<CheckEntry>& entries, const CheckSettings& settings,
                        const GpuRelease& release) {
  waits_since_ = clock_.steady();
  has_first_reading_ = false;
  for (const CheckEntry& entry : entries) {
    Job& job = jobs_[entry.name];
    if (job.run) take(entry, job);
    if (job.run) {
      *job.is_cancelled = true;
      job.run->request_stop();
      job.is_overdue_said = false;
    }
    const bool is_quick = entry.rhythm != CheckEntry::Rhythm::kDiagnostic;
    if (!is_quick || !is_enabled(entry, settings)) continue;
    job.has_result = false;
    job.last.reset();
    if (std::exchange(job.is_pause_said, true)) continue;
    publish_skip(entry.name, "the GPUs are released for another program: " + release.why);
  }
  tell_awaited(entries, settings);
}

void CheckRunner::tell_awaited(const std::vector<CheckEntry>& entries,
                               const CheckSettings& settings) {
  std::vector<std::string> awaited;
  for (const CheckEntry& entry : entries) {
    const bool is_quick = entry.rhythm != Rhythm::kDiagnostic && is_enabled(entry, settings);
    if (is_quick && !jobs_[entry.name].has_result) awaited.push_back(entry.name);
  }
  const bool is_late = clock_.steady() - waits_since_ >= kLateFirstResults;
  if (!awaited.empty() && is_late && !std::exchange(has_warned_of_awaited_, true)) {
    log_.warn("Waiting for first results of checks, not passing the node",
              {{"checks", list_first(awaited, awaited.size())}});
  }
  store_.update_health([&](Health& health) { health.awaited = std::move(awaited); });
}

// Warns once for each list of numbers.
void CheckRunner::warn_of_ignored(const CheckSettings& settings) {
  if (settings.enabled == warned_of_) return;
  warned_of_ = settings.enabled;
  for (const CheckEntry& entry : options_.checks) {
    const bool is_listed = std::ranges::find(warned_of_, entry.number) != warned_of_.end();
    if (!is_listed || entry.rhythm == Rhythm::kEachCycle) continue;
    const bool has_interval = entry.rhythm == Rhythm::kDiagnostic;
    log_.warn("Enabled check does not run in each cycle",
              {{"check", std::to_string(entry.number)},
               {"reason", has_interval
                              ? "it needs idle GPUs: it runs every checks.dcgm_l2.interval"
                              : "it needs an idle node: run it with gpuward-exporter quarantine or "
                                "gpuward-exporter check"}});
  }
}

// Removes the programs that the settings no longer have. A running one is stopped first, and its
// result is dropped.
void CheckRunner::drop_removed(const std::vector<CheckEntry>& entries) {
  for (auto next = jobs_.begin(); next != jobs_.end();) {
    const auto current = next++;
    auto& [name, job] = *current;
    if (std::ranges::find(entries, name, &CheckEntry::name) != entries.end()) continue;
    if (job.run && !job.run->result()) {
      job.run->request_stop();
      continue;
    }
    withdraw(name, job);
    jobs_.erase(current);
  }
}

std::size_t CheckRunner::running() const {
  return static_cast<std::size_t>(
      std::ranges::count_if(jobs_, [](const auto& job) { return job.second.run != nullptr; }));
}

bool CheckRunner::has_first_reading() {
  if (has_first_reading_) return true;
  const Snapshot snapshot = store_.snapshot();
  has_first_reading_ =
      clock_.steady() - waits_since_ >= kLongestFirstReading ||
      (snapshot.telemetry.state != WorkerState::kStarting &&
       snapshot.telemetry.state != WorkerState::kReleased && !snapshot.instance.source.empty());
  return has_first_reading_;
}

bool CheckRunner::is_due(const CheckEntry& entry, Job& job, const CheckSettings& settings) {
  if (entry.rhythm == Rhythm::kDiagnostic) {
    return is_slot_reached(entry, job, settings.dcgm_l2_interval);
  }
  const auto interval =
      entry.rhythm == Rhythm::kOwnInterval ? entry.interval : settings.check_interval;
  return clock_.steady() >= next_quick_run(table_, interval, job.last);
}

bool CheckRunner::is_slot_reached(const CheckEntry& entry, Job& job,
                                  std::chrono::milliseconds interval) {
  const WallTime now = clock_.wall();
  // A slot that is too far ahead comes from a clock that was set back since.
  const bool is_stale = job.slot && *job.slot > now + 2 * interval;
  if (!job.slot || is_stale || job.slot_interval != interval) {
    const State state = store_.state();
    const auto known = state.checks.find(entry.name);
    const auto last = known == state.checks.end() || known->second.status == CheckStatus::kSkip
                          ? std::nullopt
                          : std::optional(known->second.started);
    job.slot = next_diagnostic_run(table_, interval, last, now);
    job.slot_interval = interval;
    log_.info("Scheduled diagnostic", {{"check", entry.name}, {"at", to_rfc3339(*job.slot)}});
  }
  return now >= *job.slot;
}

void CheckRunner::start(const CheckEntry& entry, Job& job, const CheckSettings& settings) {
  if (!job.check) job.check = entry.make();
  job.last = clock_.steady();
  job.slot.reset();
  job.is_overdue_said = false;
  job.is_cancelled = std::make_shared<std::atomic<bool>>(false);
  RunRequest request;
  request.entry = entry;
  request.check = job.check;
  request.snapshot = store_.snapshot();
  request.settings = settings;
  request.host = options_.host;
  request.state_folder = options_.state_folder;
  request.instance_type = request.snapshot.instance.type;
  request.objection = options_.objection;
  if (!settings.results_dir.empty()) {
    const ResultPlace place{settings.results_dir, options_.host_name, request.instance_type};
    // If the file cannot be written, its readers miss a result, but the store has it.
    request.on_result = [place, is_cancelled = job.is_cancelled](const CheckResult& result) {
      if (!*is_cancelled) static_cast<void>(write_result(place, result));
    };
  }
  job.run = std::make_unique<CheckRun>(std::move(request), clock_);
}

void CheckRunner::take(const CheckEntry& entry, Job& job) {
  const auto result = job.run->result();
  if (!result) return;
  const bool was_skipped = job.run->was_skipped();
  job.run.reset();
  if (*job.is_cancelled) return job.last.reset();
  job.has_result = true;
  // A diagnostic keeps its verdict until a new one replaces it, which a skip is not.
  const State state = store_.state();
  const auto known = state.checks.find(entry.name);
  const bool has_verdict =
      known != state.checks.end() && known->second.status != CheckStatus::kSkip;
  if (was_skipped && has_verdict && entry.rhythm == Rhythm::kDiagnostic) {
    log_.info("Skipped diagnostic, keeping its last result",
              {{"check", entry.name}, {"details", result->details}});
    return;
  }
  publish(*result, entry.is_diagnostic);
}

void CheckRunner::watch(const CheckEntry& entry, Job& job) {
  const auto now = clock_.steady();
  if (now < job.run->deadline()) return;
  job.run->request_stop();
  if (now < job.run->deadline() + kToStop || job.is_overdue_said) return;
  job.is_overdue_said = true;
  job.has_result = true;
  publish(job.run->overdue(clock_.wall()), entry.is_diagnostic);
}

// A check that the settings do not run has no status, even if an earlier process left one: an error
// would always keep the node from passing. It also has no findings that only its next run would
// clear.
void CheckRunner::withdraw(const std::string& name, Job& job) {
  if (!job.last && !job.is_in_store) return;
  job.last.reset();
  job.has_result = false;
  job.slot.reset();
  CheckResult result = decide_status(CheckOutcome::skipped("not enabled any more"), name,
                                     {clock_.wall(), std::chrono::milliseconds(0)},
                                     without_ended(check_findings(store_.state(), name), log_));
  result.is_withdrawn = true;
  publish(result, false);
  job.is_in_store = false;
}

void CheckRunner::publish_skip(const std::string& name, std::string why) {
  publish(decide_status(CheckOutcome::skipped(std::move(why)), name,
                        {clock_.wall(), std::chrono::milliseconds(0)},
                        check_findings(store_.state(), name)),
          false);
}

void CheckRunner::publish(const CheckResult& result, bool is_diagnostic) {
  store_.apply_check(result, is_diagnostic);
  jobs_[result.check].is_in_store = true;
  const Log::Fields fields{{"check", result.check},
                           {"status", std::string(to_string(result.status))},
                           {"severity", std::string(to_string(result.severity))},
                           {"duration_ms", std::to_string(result.duration.count())},
                           {"details", result.details}};
  switch (result.status) {
    case CheckStatus::kPass:
    case CheckStatus::kSkip:
      return log_.debug("Check finished", fields);
    case CheckStatus::kWarn:
    case CheckStatus::kFail:
    case CheckStatus::kError:
      return log_.warn("Check finished", fields);
  }
}

}  // namespace gpuward::exporter
