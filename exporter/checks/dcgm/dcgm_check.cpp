#include "exporter/checks/dcgm/dcgm_check.h"

#include <chrono>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <thread>
#include <utility>

#include "core/model/result.h"
#include "core/runtime/child.h"
#include "core/runtime/text.h"
#include "exporter/checks/check/check.h"
#include "exporter/checks/check/evidence.h"
#include "exporter/checks/check/gpu_use.h"
#include "exporter/checks/dcgm/dcgm_diagnostic.h"
#include "exporter/checks/dcgm/dcgm_faults.h"
#include "exporter/checks/dcgm/dcgm_outcome.h"
#include "exporter/host/processes.h"

namespace gpuward::exporter {
namespace {

// nv-hostengine for the time of a diagnostic: the one that runs already, or one that we start and
// end again. Used by checks 1 and 4.

class DcgmEngine {
 public:
  // Blocks until dcgmi can reach an engine, at most 30 s. An error says why that cannot be: none is
  // installed, it ends at once, it is out of reach. The engine that we start has at most
  // `lifetime`.
  [[nodiscard]] static Result<std::unique_ptr<DcgmEngine>> reach(
      const CheckContext& context, std::chrono::milliseconds lifetime);

  DcgmEngine(const DcgmEngine&) = delete;
  DcgmEngine& operator=(const DcgmEngine&) = delete;
  ~DcgmEngine() = default;  // ends ours (SIGTERM, then SIGKILL), and nobody else's

  [[nodiscard]] bool is_ours() const { return thread_.joinable(); }

 private:
  DcgmEngine() = default;
  [[nodiscard]] Status start(const CheckContext& context, std::chrono::milliseconds lifetime);
  [[nodiscard]] Status wait_until_up(const CheckContext& context) const;

  struct Outcome;  // how ours has ended
  std::shared_ptr<Outcome> outcome_;
  std::jthread thread_;  // last: it is stopped and joined first
};

using std::chrono::milliseconds;

constexpr std::string_view kEngine = "nv-hostengine";
constexpr milliseconds kProbeTimeout = std::chrono::seconds(10);
constexpr milliseconds kStartLimit = std::chrono::seconds(30);
constexpr milliseconds kBetweenProbes{200};
constexpr milliseconds kEngineGrace = std::chrono::seconds(5);

std::string first_line_of(const std::string& text) {
  const std::string_view trimmed = trim(text);
  return to_valid_utf8(trimmed.substr(0, trimmed.find('\n')), 256);
}

// Whether dcgmi gets an answer: it connects to the engine to list the GPUs.
Status probe(const CheckContext& context) {
  ChildCommand command;
  command.program = "dcgmi";
  command.arguments = {"discovery", "-l"};
  command.search = context.settings.tool_dirs;
  command.timeout = kProbeTimeout;
  command.stop = context.stop;
  const auto result = run_child(command, context.clock);
  if (!result) return std::unexpected(result.error());
  if (result->exit_code == 0) return {};
  const std::string said = first_line_of(result->output + result->complaint);
  return fail(ErrorKind::kUnavailable,
              "dcgmi discovery " + how_it_ended(*result) + (said.empty() ? "" : ": " + said));
}

struct DcgmEngine::Outcome {
  std::mutex mutex;
  std::optional<std::string> ended;

  std::optional<std::string> get() {
    const std::lock_guard lock(mutex);
    return ended;
  }
};

Result<std::unique_ptr<DcgmEngine>> DcgmEngine::reach(const CheckContext& context,
                                                      milliseconds lifetime) {
  std::unique_ptr<DcgmEngine> engine(new DcgmEngine);
  const Status reached = probe(context);
  if (reached) return engine;
  if (reached.error().kind != ErrorKind::kUnavailable) return std::unexpected(reached.error());
  const Processes processes = list_processes(context.host);
  if (const Process* const running = find_of_root(context.host, processes, kEngine)) {
    return fail(ErrorKind::kUnavailable,
                "nv-hostengine is running (pid " + std::to_string(running->pid) +
                    "), but dcgmi cannot reach it from here: " + reached.error().message);
  }
  if (Status started = engine->start(context, lifetime); !started)
    return std::unexpected(started.error());
  return engine;
}

Status DcgmEngine::start(const CheckContext& context, milliseconds lifetime) {
  ChildCommand command;
  command.program = kEngine;
  command.arguments = {"--no-daemon"};  // it stays in our process group
  command.search = context.settings.tool_dirs;
  command.timeout = lifetime;
  command.grace = kEngineGrace;
  if (const auto found = find_program(command.program, command.search); !found)
    return std::unexpected(found.error());
  outcome_ = std::make_shared<Outcome>();
  thread_ = std::jthread([command, &clock = context.clock,
                          outcome = outcome_](const std::stop_token& stop) mutable {
    command.stop = stop;
    const auto result = run_child(command, clock);
    const std::lock_guard lock(outcome->mutex);
    outcome->ended =
        result ? how_it_ended(*result) + ": " + first_line_of(result->complaint + result->output)
               : result.error().message;
  });
  return wait_until_up(context);
}

Status DcgmEngine::wait_until_up(const CheckContext& context) const {
  const auto deadline = context.clock.steady() + kStartLimit;
  while (true) {
    const Status reached = probe(context);
    if (reached || reached.error().kind == ErrorKind::kCancelled) return reached;
    if (const auto ended = outcome_->get())
      return fail(ErrorKind::kUnavailable, "nv-hostengine was started and " + *ended);
    if (context.clock.steady() >= deadline) {
      return fail(ErrorKind::kUnavailable, "nv-hostengine was started but was not ready after " +
                                               std::to_string(kStartLimit.count() / 1000) +
                                               " s: " + reached.error().message);
    }
    if (!context.clock.sleep_for(kBetweenProbes, context.stop))
      return fail(ErrorKind::kCancelled, "a stop was requested");
  }
}

constexpr std::size_t kMostOutputBytes = 8U << 20U;
constexpr milliseconds kWorkerLimit = std::chrono::seconds(10);
constexpr milliseconds kEngineSlack = std::chrono::minutes(5);
CheckPrograms dcgm_programs(const CheckSettings&) {
  return {{{"dcgmi"}}, {{std::string(kEngine), "if none runs on the node"}}};
}

// For the engine to start and for dcgmi to be ended: the runner's deadline lies beyond ours.
constexpr std::chrono::seconds kSlack{120};
constexpr int kLevel2Number = 1, kLevel4Number = 4;

milliseconds timeout_of(DcgmCheck::Level level, const CheckSettings& settings) {
  const bool is_medium = level == DcgmCheck::Level::kMedium;
  const auto own = settings.timeouts.find(is_medium ? kLevel2Number : kLevel4Number);
  if (own != settings.timeouts.end()) return own->second;
  return is_medium ? settings.dcgm_timeout : settings.dcgm_l4_timeout;
}

// Why it must not run now. Somebody else's processes are never ended for it: whoever asks for a
// level 4 gets the reason.
std::optional<std::string> obstacle(DcgmCheck::Level level, const CheckContext& context) {
  if (has_no_nvidia_gpu(context.snapshot)) return "no NVIDIA GPU here";
  if (const auto mig = mig_gpu(context.snapshot))
    return *mig + ": DCGM's diagnostics need whole GPUs";
  if (level == DcgmCheck::Level::kMedium) return std::nullopt;
  if (!context.is_exclusive)
    return "level 4 loads the GPUs for hours: cordon and drain the node, then run the check with "
           "--exclusive";
  if (const auto user = gpu_user(context.snapshot)) return user;
  if (context.settings.is_dcgm_l4_beside_telemetry) return std::nullopt;
  if (const auto reader = telemetry_reader(context.host)) {
    return *reader +
           " and would interfere with level 4: stop it, or set checks.dcgm_l4_beside_telemetry: "
           "true";
  }
  return std::nullopt;
}

// The engine runs the tests in a process of its own, nvvs; it must be gone before anybody judges or
// starts the next check.
std::string what_is_left(const CheckContext& context) {
  const auto find_worker = [&]() -> std::optional<std::int64_t> {
    const Processes processes = list_processes(context.host);
    // By its name alone: the engine may run it as a user of its own (--service-account), and
    // nothing but these words comes of it.
    const Process* const worker = processes.find("nvvs");
    return worker == nullptr ? std::nullopt : std::optional(worker->pid);
  };
  const auto deadline = context.clock.steady() + kWorkerLimit;
  auto pid = find_worker();
  while (pid && context.clock.steady() < deadline) {
    context.clock.sleep_for(milliseconds(200), std::stop_token());
    pid = find_worker();
  }
  return pid ? "; nv-hostengine is still running its tests (nvvs, pid " + std::to_string(*pid) + ")"
             : "";
}

CheckOutcome outcome_of_failure(const Error& error, const CheckContext& context) {
  switch (error.kind) {
    case ErrorKind::kNotFound:
      return CheckOutcome::skipped(error.message);
    case ErrorKind::kTimeout:
      return CheckOutcome::error("the diagnostic timed out: " + error.message +
                                 what_is_left(context));
    default:
      return CheckOutcome::error("dcgmi: " + error.message + what_is_left(context));
  }
}

// The replaced suite looks for a severity where DCGM writes none, and isolates for each Fail.
DcgmSeverities severities_of(const CheckSettings& settings) {
  DcgmSeverities severities{.bare_fail = settings.dcgm_bare_fail};
  if (settings.is_seed_profile) severities.each_fail = Severity::kIsolate;
  return severities;
}

// An engine that is not up is a problem of DCGM's software. The replaced suite takes it for a GPU
// that needs a reset.
CheckOutcome outcome_without_engine(const Error& error, const CheckSettings& settings) {
  if (error.kind == ErrorKind::kCancelled) return CheckOutcome::error(error.message);
  const std::string why = "nv-hostengine is not up: " + error.message;
  if (!settings.is_seed_profile) return CheckOutcome::skipped(why);
  CheckOutcome outcome = CheckOutcome::done(why);
  Finding& down = outcome.findings.emplace_back();
  down.code = "hostengine_down";
  down.severity = Severity::kReset;
  down.cleared_by = ClearedBy::kDiagnostics;
  down.evidence = Evidence::kMeasured;
  down.line = why;
  down.why = "DCGM cannot test the GPUs; only the seed profile treats that as a hardware fault";
  outcome.untold.emplace_back();  // nothing was tested: what is known of any GPU stays
  return outcome;
}

CheckOutcome outcome_of(const ChildResult& result, const CheckContext& context) {
  const auto report = parse_dcgm_diagnostic(result.output);
  const std::string said = to_valid_utf8(trim(result.complaint), 200);
  if (!report) {
    const std::string output = to_valid_utf8(trim(result.output), 200);
    if (auto refusal = dcgm_refusal(output, result.exit_code))
      return CheckOutcome::skipped(std::move(*refusal));
    return CheckOutcome::error("dcgmi " + how_it_ended(result) + "; " + report.error().message +
                               (said.empty() ? "" : "; it said: " + said));
  }
  if (report->results.empty()) {
    if (auto refusal = dcgm_refusal(report->runtime_error, result.exit_code))
      return CheckOutcome::skipped(std::move(*refusal));
  }
  const DcgmFaults verdict =
      judge_dcgm_diagnostic(*report, result.exit_code, severities_of(context.settings));
  return dcgm_outcome(*report, verdict, context.snapshot.gpus);
}

}  // namespace

CheckOutcome DcgmCheck::run(const CheckContext& context) {
  ChildCommand command;
  command.program = "dcgmi";
  command.arguments = {"diag", "-r", std::to_string(static_cast<int>(level_)), "-j"};
  command.search = context.settings.tool_dirs;
  command.max_output_bytes = kMostOutputBytes;
  command.timeout = timeout_of(level_, context.settings);
  command.grace = kDcgmGrace;
  command.stop = context.stop;
  const auto programs = find_programs(dcgm_programs(context.settings), command.search);
  if (!programs.can_run()) return CheckOutcome::skipped(programs.why_not());
  if (auto why = obstacle(level_, context)) return CheckOutcome::skipped(std::move(*why));
  const auto engine = DcgmEngine::reach(context, command.timeout + kEngineSlack);
  if (!engine) return outcome_without_engine(engine.error(), context.settings);
  const auto result = run_child(command, context.clock);
  if (!result) return outcome_of_failure(result.error(), context);
  const bool is_medium = level_ == Level::kMedium;
  CheckOutcome outcome = outcome_of(*result, context);
  outcome.details += keep_evidence(
      context.settings, is_medium ? "dcgm-l2-raw.json" : "dcgm-l4-raw.json", result->output);
  return outcome;
}

CheckEntry dcgm_level_2_entry() {
  CheckEntry entry;
  entry.number = kLevel2Number;
  entry.name = "1-dcgm-diag-l2";
  entry.short_name = "dcgm-l2";
  entry.suite = Suite::kLightweight;
  entry.rhythm = CheckEntry::Rhythm::kDiagnostic;
  entry.needs_idle_gpus = true;
  entry.loads_gpus = true;
  entry.is_diagnostic = true;
  entry.timeout = std::chrono::seconds(900) + kSlack;
  entry.programs = dcgm_programs;
  entry.make = []() -> std::unique_ptr<Check> {
    return std::make_unique<DcgmCheck>(DcgmCheck::Level::kMedium);
  };
  return entry;
}

CheckEntry dcgm_level_4_entry() {
  CheckEntry entry;
  entry.number = kLevel4Number;
  entry.name = "4-dcgm-diag-l4";
  entry.short_name = "dcgm-l4";
  entry.suite = Suite::kIntensive;
  entry.rhythm = CheckEntry::Rhythm::kOnDemand;
  entry.loads_gpus = true;
  entry.is_diagnostic = true;
  entry.timeout = std::chrono::seconds(9000) + kSlack;
  entry.programs = dcgm_programs;
  entry.make = []() -> std::unique_ptr<Check> {
    return std::make_unique<DcgmCheck>(DcgmCheck::Level::kExtended);
  };
  return entry;
}

}  // namespace gpuward::exporter
