#include "exporter/commands/run_checks.h"

#include <algorithm>
#include <fstream>
#include <ostream>
#include <utility>
#include <vector>

#include "core/model/result.h"
#include "core/runtime/clock.h"
#include "exporter/checks/check/decide.h"
#include "exporter/checks/check_run.h"
#include "exporter/checks/preflight.h"
#include "exporter/checks/result_files.h"
#include "exporter/checks/schedule.h"
#include "exporter/config/exit_code.h"
#include "exporter/config/settings.h"
#include "exporter/host/boot.h"
#include "exporter/host/gpu_lock.h"
#include "exporter/kernel_log/open_source.h"
#include "exporter/kernel_log/source.h"
#include "exporter/store/state_file.h"
#include "exporter/store/store.h"
#include "exporter/watch/gpu_inventory.h"
#include "exporter/watch/kernel_log_watcher.h"

namespace gpuward::exporter {
namespace {

// Reads the kernel log of this boot once to its end, for the check command on a node where no
// exporter has done that.

constexpr std::chrono::seconds kLongestScan{2};

// Judges the lines with the GPUs of the store and writes the findings into it. Ends when no more
// lines come, or after two seconds. An error if nothing could be read.
Status scan_kernel_log(KernelLogSource& source, const Policy& policy, const HostPaths& host,
                       Clock& clock, Store& store) {
  const std::vector<Gpu> gpus = store.gpus();
  const GpuAddresses known = gpu_addresses(store.snapshot(), host);
  const auto addresses = [&]() -> const GpuAddresses& { return known; };
  const auto deadline = clock.steady() + kLongestScan;
  do {
    LogBatch batch;
    const auto sink = [&](const LogRecord& record) {
      add_record(record, {policy, gpus, clock.wall(), addresses}, batch);
    };
    const auto report = source.read(sink, std::chrono::milliseconds(0), {});
    store.apply(batch);
    if (!report) return std::unexpected(report.error());
    if (report->records == 0) return {};
  } while (clock.steady() < deadline);
  return {};
}

using std::chrono::milliseconds;

constexpr milliseconds kLookInterval{50};
constexpr milliseconds kLockInterval{1'000};
// The time after its deadline before a check counts as stuck.
constexpr std::chrono::seconds kToStop{10};
// The kubelet keeps this much of a termination message.
constexpr std::size_t kMostLastWordBytes = 4096;

GpuTelemetry read_gpus(const CheckParts& parts, Clock& clock, const std::stop_token& stop) {
  auto source = parts.make_gpu_source();
  if (!source) {
    GpuTelemetry telemetry;
    telemetry.state = WorkerState::kCrashed;
    telemetry.fault = source.error().message;
    return telemetry;
  }
  return look_at_gpus(**source, parts.policy.settings.checks.gpu_timeout, clock, stop);
}

// Collects what is known before the first check runs.
std::unique_ptr<Store> gather(const CheckParts& parts, Clock& clock, const std::stop_token& stop,
                              std::ostream& err) {
  auto known = StateFile(parts.state_path).read();
  auto store = std::make_unique<Store>(known ? *known : State{});
  store->enter_boot(parts.boot_id, clock.wall());
  store->enter_machine(parts.machine);
  GpuTelemetry telemetry = read_gpus(parts, clock, stop);
  store->set_gpus(telemetry.report ? gpus_of(*telemetry.report, {}) : std::vector<Gpu>{},
                  clock.wall());
  store->set_telemetry(std::move(telemetry));
  if (known) return store;
  const StartMoment moment{
      .now = clock.wall(), .booted = read_boot(parts.host).time, .wants_whole_boot = true};
  const auto log =
      open_kernel_log(parts.policy.settings.kernel_log_path, parts.boot_id, {}, moment, clock);
  if (const auto scan = scan_kernel_log(*log, parts.policy, parts.host, clock, *store); !scan) {
    err << "Cannot read Xids: " << known.error().message << "; " << scan.error().message << "\n";
  }
  return store;
}

class CheckCommand {
 public:
  CheckCommand(const CheckRequest& request, const CheckParts& parts, Clock& clock,
               const std::stop_token& stop, std::ostream& out, std::ostream& err)
      : request_(request),
        parts_(parts),
        clock_(clock),
        stop_(stop),
        out_(out),
        err_(err),
        settings_(parts.policy.settings.checks),
        place_{request.results_dir.empty() ? settings_.results_dir : request.results_dir,
               parts.host_name, parts.instance_type} {
    if (request.timeout) {
      for (const CheckEntry& entry : with_programs(parts.checks, settings_))
        settings_.timeouts[entry.number] = *request.timeout;
    }
  }

  int run(const CheckSelection& selection) {
    const auto store = gather(parts_, clock_, stop_, err_);
    SuiteSummary summary{selection.suite, selection.checks.size(), {}, {}};
    for (const CheckEntry& entry : selection.checks) {
      if (stop_.stop_requested()) break;
      CheckResult result = run_one(entry, store->snapshot());
      store->apply_check(result, entry.is_diagnostic);
      // The severity decides which actions the node may need, and does not change.
      if (selection.admits_jobs && !result.no_job.empty()) result.status = CheckStatus::kFail;
      summary.results.push_back(result);
      tell(result);
      if (selection.ends_at_first_failure && result.status == CheckStatus::kFail) break;
    }
    summary.ended = clock_.wall();
    if (!place_.folder.empty()) report(write_summary(place_, summary));
    return exit_code(summary);
  }

 private:
  // The lock is held until the run has ended. kBlocked: another diagnostic still has the GPUs.
  Result<GpuLock> take_gpus(const CheckEntry& entry) {
    const auto deadline = clock_.steady() + request_.gpus_wait;
    for (bool is_first = true;; is_first = false) {
      auto taken = GpuLock::take(parts_.state_path, entry.name);
      const bool may_wait = !taken && taken.error().kind == ErrorKind::kBlocked &&
                            clock_.steady() < deadline && !stop_.stop_requested();
      if (!may_wait) return taken;
      if (is_first) err_ << entry.name << " waits: " << taken.error().message << "\n";
      clock_.sleep_for(kLockInterval, stop_);
    }
  }

  CheckResult run_one(const CheckEntry& entry, const Snapshot& snapshot) {
    std::optional<GpuLock> lock;
    if (entry.loads_gpus) {
      auto taken = take_gpus(entry);
      if (!taken) {
        return decide_status(CheckOutcome::skipped(taken.error().message), entry.name,
                             {clock_.wall(), milliseconds(0)},
                             check_findings(snapshot.state, entry.name));
      }
      lock.emplace(*std::move(taken));
    }
    RunRequest request;
    request.entry = entry;
    request.check = entry.make();
    request.snapshot = snapshot;
    request.settings = settings_;
    request.host = parts_.host;
    request.instance_type = parts_.instance_type;
    request.is_exclusive = request_.is_exclusive;
    CheckRun run(std::move(request), clock_);
    while (!run.wait(kLookInterval)) {
      const auto now = clock_.steady();
      if (stop_.stop_requested() || now >= run.deadline()) run.request_stop();
      if (now >= run.deadline() + kToStop) return run.overdue(clock_.wall());
    }
    return *run.result();
  }

  void tell(const CheckResult& result) {
    if (request_.output != OutputFormat::kTable) {
      out_ << in_sequence(request_.output, to_result_json(place_, result));
    } else {
      out_ << result.check << ": " << to_string(result.status);
      if (result.severity != Severity::kNone) out_ << " (" << to_string(result.severity) << ")";
      out_ << " in " << result.duration.count() << " ms: " << result.details << "\n";
    }
    out_.flush();
    if (!place_.folder.empty()) report(write_result(place_, result));
    if (!request_.termination_log.empty()) report(write_last_words(result));
  }

  // Writes in place, because the file is a mount and a rename onto it fails.
  [[nodiscard]] Status write_last_words(const CheckResult& result) const {
    std::ofstream file(request_.termination_log, std::ios::binary | std::ios::trunc);
    file << to_result_json_within(kMostLastWordBytes, place_, result) << std::flush;
    if (file) return {};
    return fail(ErrorKind::kUnavailable, "cannot write " + request_.termination_log.string());
  }

  void report(const Status& written) {
    if (!written) err_ << written.error().message << "\n";
  }

  [[nodiscard]] int exit_code(const SuiteSummary& summary) const {
    const auto has = [&](CheckStatus status) {
      return std::ranges::find(summary.results, status, &CheckResult::status) !=
             summary.results.end();
    };
    if (has(CheckStatus::kFail)) return kFailed;
    return has(CheckStatus::kError) || stop_.stop_requested() ? kCouldNotTell : kDone;
  }

  const CheckRequest& request_;
  const CheckParts& parts_;
  Clock& clock_;
  const std::stop_token& stop_;
  std::ostream& out_;
  std::ostream& err_;
  CheckSettings settings_;
  ResultPlace place_;
};

// Warns before the first of several checks, which may take hours.
void warn_of_missing_programs(const CheckSelection& selection, const CheckSettings& settings,
                              std::ostream& err) {
  for (const Preflight& each : preflight(selection.checks, settings)) {
    if (!each.programs.can_run())
      err << each.check << " cannot run: " << each.programs.why_not() << "\n";
  }
}

int print_plan(const CheckSelection& selection, const CheckSettings& settings, std::ostream& out,
               std::ostream& err) {
  out << "Dry run; these checks would run:\n";
  for (const CheckEntry& entry : selection.checks) {
    const auto limit =
        std::chrono::duration_cast<std::chrono::seconds>(time_limit_of(entry, settings));
    out << "  " << entry.name << ", " << limit.count() << " s at most\n";
  }
  warn_of_missing_programs(selection, settings, err);
  return kDone;
}

}  // namespace

int run_checks(const CheckRequest& request, const CheckParts& parts, Clock& clock,
               const std::stop_token& stop, std::ostream& out, std::ostream& err) {
  const auto all = with_programs(parts.checks, parts.policy.settings.checks);
  const auto selection = select_checks(request, all);
  if (!selection) {
    err << "gpuward-exporter: check: " << selection.error().message << "\n";
    return kWrongUsage;
  }
  const CheckSettings& settings = parts.policy.settings.checks;
  if (request.is_dry_run) return print_plan(*selection, settings, out, err);
  if (selection->checks.size() > 1) warn_of_missing_programs(*selection, settings, err);
  return CheckCommand(request, parts, clock, stop, out, err).run(*selection);
}

}  // namespace gpuward::exporter
