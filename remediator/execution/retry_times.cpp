#include "remediator/execution/retry_times.h"

#include <utility>

namespace gpuward::remediator {
namespace {

using std::chrono::milliseconds;

// A conflict on a Node is gone at the next read; a dead API server is given time.
constexpr BackoffPolicy kRetry{
    .first = milliseconds(20), .longest = milliseconds(30'000), .factor = 2};
constexpr milliseconds kPermanentWait{300'000};

}  // namespace

std::optional<milliseconds> RetryTimes::wait_of(const std::string& name, const Seen& seen) const {
  const std::lock_guard lock(mutex_);
  const auto known = failed_.find(name);
  if (known == failed_.end() || known->second.seen != seen) return std::nullopt;
  const auto now = clock_.steady();
  if (now >= known->second.due) return std::nullopt;
  return std::chrono::ceil<milliseconds>(known->second.due - now);
}

milliseconds RetryTimes::note_failure(const std::string& name, Seen seen, ErrorKind kind) {
  const std::lock_guard lock(mutex_);
  Failed& failed = failed_.try_emplace(name, Backoff(kRetry, jitter_seed_), Clock::Steady(), Seen())
                       .first->second;
  const bool is_permanent = kind == ErrorKind::kForbidden || kind == ErrorKind::kInvalid;
  const milliseconds wait = is_permanent ? kPermanentWait : failed.backoff.next();
  failed.due = clock_.steady() + wait;
  failed.seen = std::move(seen);
  return wait;
}

void RetryTimes::forget(const std::string& name) {
  const std::lock_guard lock(mutex_);
  failed_.erase(name);
}

}  // namespace gpuward::remediator
