#include "exporter/gpu/worker/worker_duty.h"

#include <algorithm>

#include "exporter/gpu/report/library.h"

namespace gpuward::exporter {

WorkerDuty::WorkerDuty(BackoffPolicy restart, std::uint64_t seed)
    : restart_(restart), backoff_(restart, seed) {}

std::chrono::milliseconds WorkerDuty::limit(const GpuTimes& times) const {
  const auto limit = has_answered_ ? times.timeout : kFirstReadingFactor * times.timeout;
  return is_closing_ ? std::max(limit, kLongestClosing) : limit;
}

Clock::Steady WorkerDuty::next_look(const GpuTimes& times) const {
  if (!started_at_) return next_start_;
  if (asked_at_) return *asked_at_ + limit(times);
  if (is_hurried_ || !last_asked_at_) return *started_at_;
  return *last_asked_at_ + times.interval;
}

WorkerDuty::Task WorkerDuty::due(Clock::Steady now, const GpuTimes& times) const {
  if (now < next_look(times)) return Task::kWait;
  if (!started_at_) return Task::kStart;
  return asked_at_ ? Task::kGiveUp : Task::kAsk;
}

void WorkerDuty::started(Clock::Steady now) {
  started_at_ = now;
  asked_at_.reset();
  last_asked_at_.reset();
  has_answered_ = false;
}

void WorkerDuty::asked(Clock::Steady now) {
  asked_at_ = last_asked_at_ = now;
  is_hurried_ = is_closing_ = false;
}

void WorkerDuty::answered() {
  asked_at_.reset();
  has_answered_ = true;
}

void WorkerDuty::replaced(Clock::Steady now) {
  next_start_ = now;
  started_at_.reset();
  asked_at_.reset();
}

void WorkerDuty::ended(Clock::Steady now) {
  // If it was healthy for a while, it has not failed because of its start.
  const bool was_well = has_answered_ && started_at_ && now - *started_at_ >= restart_.longest;
  if (was_well) backoff_.reset();
  replaced(now + backoff_.next());
}

}  // namespace gpuward::exporter
