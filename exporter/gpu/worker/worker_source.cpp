#include "exporter/gpu/worker/worker_source.h"

#include <poll.h>

#include <algorithm>
#include <array>
#include <utility>

#include "core/runtime/yaml_scalars.h"
#include "exporter/gpu/report/library.h"

namespace gpuward::exporter {
namespace {

using std::chrono::milliseconds;

constexpr std::size_t kMostXids = 4096;  // not taken yet
constexpr milliseconds kFarewellLook{5};
constexpr milliseconds kLongestOrderlyEnd{500};
// A reading sends about a hundred progress messages, which need not be handled one by one.
constexpr milliseconds kProgressPause{20};
constexpr int kCrashesToGiveUp = 3;

// ", last step: 0000:4e:00 temperature"; empty if it was idle.
std::string doing(const RunningWorker& worker, const WorkerDuty& duty) {
  if (worker.progress().empty() || !duty.is_asked()) return {};
  return ", last step: " + worker.progress();
}

// If one cannot be killed, another would only join it: wait until the driver releases the first.
bool may_probe(const GpuTelemetry& telemetry, const Unreaped& unreaped) {
  return telemetry.state == WorkerState::kAnswering && unreaped.is_empty();
}

// Records that the kernel cannot end a killed worker. Returns whether that is news.
bool say_stuck(GpuTelemetry& telemetry, bool has_room) {
  constexpr std::string_view kStuck = ", but has not exited: it is blocked inside the driver";
  if (telemetry.state == WorkerState::kStarting && !has_room) {
    telemetry.state = WorkerState::kHung;
    telemetry.fault = "The GPU worker was killed";
  }
  if (telemetry.state != WorkerState::kHung || telemetry.fault.ends_with(kStuck)) return false;
  telemetry.fault += kStuck;
  return true;
}

// Resumes after a release. Returns whether that is news.
bool begin_again(GpuTelemetry& telemetry) {
  if (telemetry.state != WorkerState::kReleased) return false;
  telemetry.state = WorkerState::kStarting;
  return true;
}

// A driver that has hung counts as hung until the processes that wait in it have exited.
WorkerState state_while_released(WorkerState before, const Unreaped& unreaped) {
  if (unreaped.is_empty()) return WorkerState::kReleased;
  return before == WorkerState::kHung ? before : WorkerState::kStarting;
}

void forget_reading(GpuTelemetry& telemetry, WorkerState state) {
  telemetry.state = state;
  telemetry.report.reset();
  if (state == WorkerState::kHung) return;
  telemetry.fault.clear();
  telemetry.hung_at.clear();
}

}  // namespace

WorkerSource::WorkerSource(WorkerOptions options, CurrentGpuTimes times, Clock& clock, Log& log)
    : options_(std::move(options)),
      times_(std::move(times)),
      clock_(clock),
      log_(log),
      duty_(options_.restart, options_.seed) {}

WorkerSource::~WorkerSource() {
  if (worker_ == nullptr) return;
  WorkerProcess& process = worker_->process();
  process.close_input();
  const auto deadline = clock_.steady() + kLongestOrderlyEnd;
  while (!process.try_reap() && clock_.steady() < deadline) {
    ::poll(nullptr, 0, static_cast<int>(kFarewellLook.count()));
  }
}

bool WorkerSource::wait(milliseconds limit, const std::stop_token& stop) {
  const std::stop_callback on_stop(stop, [this] { wakeup_.signal(); });
  const auto end = clock_.steady() + limit;
  while (true) {
    const auto now = clock_.steady();
    look(now);
    if (stop.stop_requested()) return false;
    if (std::exchange(has_news_, false)) return true;
    if (now >= end) return false;
    sleep_until(std::min(end, next_look(now)));
  }
}

void WorkerSource::look(Clock::Steady now) {
  if (gate_.must_let_go()) return let_go(now);
  if (begin_again(telemetry_)) has_news_ = true;
  if (is_hurried_.exchange(false)) duty_.hurry();
  has_progress_ = false;
  if (worker_) listen(now);
  unreaped_.bury();
  if (unreaped_.has_stuck(now) && say_stuck(telemetry_, unreaped_.has_room(0))) has_news_ = true;
  look_at_probe(now);
  if (wants_replacement_) replace_idle(now);
  act(now);
}

void WorkerSource::let_go(Clock::Steady now) {
  has_progress_ = false;
  if (worker_) listen(now);  // for the last Xids that it has reported
  const bool is_first = worker_ || probe_ || telemetry_.report;
  if (worker_) unreaped_.add(worker_->kill(), now);
  worker_.reset();
  if (probe_) unreaped_.add(probe_->end(), now);
  probe_.reset();
  unreaped_.bury();
  duty_.replaced(now);
  gate_.note(unreaped_.is_empty());
  const auto state = state_while_released(telemetry_.state, unreaped_);
  if (telemetry_.state == state && !is_first) return;
  hung_gpus_ = {};  // a reset may have repaired them
  wants_replacement_ = false;
  forget_reading(telemetry_, state);
  has_news_ = true;
}

void WorkerSource::listen(Clock::Steady now) {
  worker_->log_complaints();
  const auto fault =
      worker_->read([&](WorkerMessage message) { return take(std::move(message), now); });
  if (fault) return retire(*fault, now);
  has_progress_ = worker_->has_spoken() && duty_.is_asked();
  if (const auto end = worker_->end(now)) retire(*end + doing(*worker_, duty_), now);
}

RunningWorker::Fault WorkerSource::take(WorkerMessage message, Clock::Steady now) {
  if (message.progress == kClosingProgress) duty_.closing();
  if (message.xid && xids_.size() < kMostXids) {
    xids_.push_back(*std::move(message.xid));
    has_news_ = true;
  }
  if (!message.report) return std::nullopt;
  if (!duty_.is_asked()) return "The GPU worker sent an unexpected answer and was killed";
  take_report(*std::move(message.report), now);
  return std::nullopt;
}

void WorkerSource::take_report(GpuReport report, Clock::Steady now) {
  duty_.answered();
  worker_->answered();
  crashes_at_error_records_ = 0;
  if (!hung_gpus_.fill_in(report)) {
    wants_replacement_ = true;
    return;
  }
  if (!libraries_.take(report)) {
    log_.info("Driver library changed, starting another GPU worker");
    wants_replacement_ = true;
    return;
  }
  telemetry_.state = WorkerState::kAnswering;
  telemetry_.report = std::make_shared<const GpuReport>(std::move(report));
  telemetry_.read_at = clock_.wall();
  telemetry_.read_duration = std::chrono::duration_cast<milliseconds>(now - asked_at_);
  telemetry_.fault.clear();
  telemetry_.hung_at.clear();
  has_news_ = true;
}

void WorkerSource::retire(std::string fault, Clock::Steady now) {
  const std::string progress = worker_->progress();
  const bool was_asked = duty_.is_asked();
  drop(WorkerState::kCrashed, std::move(fault), now);
  duty_.ended(now);
  if (!options_.error_records) return;
  const bool was_at_them = was_asked && progress.ends_with(options_.error_records->progress);
  crashes_at_error_records_ = was_at_them ? crashes_at_error_records_ + 1 : 0;
  if (crashes_at_error_records_ < kCrashesToGiveUp) return;
  options_.argv = std::exchange(options_.error_records, std::nullopt)->argv;
  telemetry_.has_given_up_error_records = true;
  log_.error("Stopped reading error records because the GPU library crashes",
             {{"crashes", std::to_string(kCrashesToGiveUp)}, {"asked_for", progress}});
}

void WorkerSource::drop(WorkerState state, std::string fault, Clock::Steady now) {
  unreaped_.add(worker_->kill(), now);
  worker_.reset();
  telemetry_.state = state;
  telemetry_.fault = std::move(fault);
  has_news_ = true;
}

void WorkerSource::act(Clock::Steady now) {
  const GpuTimes times = times_();
  switch (duty_.due(now, times)) {
    case WorkerDuty::Task::kWait:
      return;
    case WorkerDuty::Task::kStart:
      // A probe may become a process that cannot be killed.
      if (unreaped_.has_room(probe_ ? 1 : 0)) start(now);
      return;
    case WorkerDuty::Task::kAsk:
      // Each try of a library that does not work needs a process that has not opened it.
      if (libraries_.may_be_old()) {
        replace_idle(now);
        return act(now);
      }
      worker_->ask();
      asked_at_ = now;
      return duty_.asked(now);
    case WorkerDuty::Task::kGiveUp:
      return give_up(times, now);
  }
}

void WorkerSource::give_up(const GpuTimes& times, Clock::Steady now) {
  const std::string progress = worker_->progress();
  ++telemetry_.hangs;
  telemetry_.hung_at = progress;
  const std::string fault = "The driver has not answered within " +
                            to_duration_text(duty_.limit(times)) + doing(*worker_, duty_);
  const bool is_one_gpu =
      hung_gpus_.blame(progress, fault + "; the GPU is skipped", telemetry_.report.get(), now);
  if (is_one_gpu) log_.error("GPU hangs, skipping it", {{"asked_for", progress}});
  drop(WorkerState::kHung, fault + "; the GPU worker was killed", now);
  if (is_one_gpu) {
    duty_.replaced(now);
  } else {
    duty_.ended(now);
  }
}

void WorkerSource::replace_idle(Clock::Steady now) {
  if (worker_ != nullptr && duty_.is_asked()) return;
  wants_replacement_ = false;
  if (worker_ == nullptr) return;
  unreaped_.add(worker_->kill(), now);
  worker_.reset();
  duty_.replaced(now);
}

void WorkerSource::look_at_probe(Clock::Steady now) {
  if (!probe_) return start_probe(now);
  const GpuProbe::Outcome outcome = probe_->look(now);
  if (outcome == GpuProbe::Outcome::kWaiting) return;
  const bool has_answered = outcome == GpuProbe::Outcome::kAnswered;
  hung_gpus_.probed(probe_->gpu(), has_answered, now);
  if (has_answered) {
    log_.info("GPU answers again", {{"gpu", to_text(probe_->gpu())}});
    wants_replacement_ = true;
  }
  unreaped_.add(probe_->end(), now);
  probe_.reset();
}

void WorkerSource::start_probe(Clock::Steady now) {
  if (!may_probe(telemetry_, unreaped_)) return;
  const GpuTimes times = times_();
  const auto gpu = hung_gpus_.due(now, times.interval);
  if (!gpu) return;
  ++telemetry_.probes;
  has_news_ = true;
  std::vector<std::string> argv = options_.argv;
  argv.insert(argv.end(), {"--gpu.only", to_text(*gpu)});
  auto started = WorkerProcess::start(argv);
  if (!started) return hung_gpus_.probed(*gpu, false, now);
  probe_ = std::make_unique<GpuProbe>(*std::move(started), *gpu,
                                      now + WorkerDuty::kFirstReadingFactor * times.timeout);
}

void WorkerSource::start(Clock::Steady now) {
  if (starts_++ > 0) ++telemetry_.restarts;
  libraries_.started();
  duty_.started(now);
  std::vector<std::string> argv = options_.argv;
  const std::vector<std::string> left_out = hung_gpus_.flags();
  argv.insert(argv.end(), left_out.begin(), left_out.end());
  auto started = WorkerProcess::start(argv);
  if (!started) {
    duty_.ended(now);
    telemetry_.state = WorkerState::kCrashed;
    telemetry_.fault = started.error().message;
    has_news_ = true;
    return;
  }
  worker_ = std::make_unique<RunningWorker>(*std::move(started), log_);
  act(now);
}

std::vector<GpuXid> WorkerSource::take_xids() { return std::exchange(xids_, {}); }

void WorkerSource::hurry() {
  is_hurried_ = true;
  wakeup_.signal();
}

void WorkerSource::set_released(bool is_released) {
  if (gate_.ask(is_released)) wakeup_.signal();
}

Clock::Steady WorkerSource::next_look(Clock::Steady now) const {
  if (gate_.is_asked())
    return unreaped_.is_empty() ? Clock::Steady::max() : unreaped_.next_look(now);
  auto next = std::min(duty_.next_look(times_()), unreaped_.next_look(now));
  if (!duty_.is_running() && !unreaped_.has_room(probe_ ? 1 : 0)) next = unreaped_.next_look(now);
  if (worker_ && worker_->is_leaving()) next = std::min(next, now + kFarewellLook);
  if (probe_) next = std::min(next, probe_->deadline());
  if (!probe_ && may_probe(telemetry_, unreaped_))
    next = std::min(next, hung_gpus_.next_probe(times_().interval));
  return next;
}

void WorkerSource::sleep_until(Clock::Steady deadline) const {
  auto left = std::chrono::ceil<milliseconds>(deadline - clock_.steady());
  if (has_progress_) left = std::min(left, kProgressPause);
  const int output = worker_ && !has_progress_ ? worker_->process().output() : -1;
  std::array<pollfd, 4> entries{{{wakeup_.descriptor(), POLLIN, 0},
                                 {probe_ ? probe_->output() : -1, POLLIN, 0},
                                 {output, POLLIN, 0},
                                 {worker_ ? worker_->process().complaints() : -1, POLLIN, 0}}};
  ::poll(entries.data(), entries.size(), static_cast<int>(std::max(left, milliseconds(0)).count()));
  wakeup_.clear();
}

}  // namespace gpuward::exporter
