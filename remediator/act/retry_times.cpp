#include "remediator/act/retry_times.h"

#include <algorithm>
#include <utility>

namespace gpuward::remediator {
namespace {

using std::chrono::milliseconds;

// A conflict on a Node disappears with the next read; a dead API server needs time.
constexpr BackoffPolicy kRetry{
    .first = milliseconds(20), .longest = milliseconds(30'000), .factor = 2};
constexpr milliseconds kPermanentWait{300'000};

}  // namespace

std::optional<milliseconds> RetryTimes::wait_of(const std::string& node, const std::string& name,
                                                const KnownVersions& seen) const {
  const std::lock_guard lock(mutex_);
  const auto of_node = failed_.find(node);
  if (of_node == failed_.end()) return std::nullopt;
  const auto known = of_node->second.find(name);
  if (known == of_node->second.end() || known->second.seen != seen) return std::nullopt;
  const auto now = clock_.steady();
  if (now >= known->second.due) return std::nullopt;
  return std::chrono::ceil<milliseconds>(known->second.due - now);
}

milliseconds RetryTimes::note_failure(const std::string& node, const std::string& name,
                                      KnownVersions seen, ErrorKind kind) {
  const std::lock_guard lock(mutex_);
  Failed& failed =
      failed_[node]
          .try_emplace(name, Backoff(kRetry, jitter_seed_), Clock::Steady(), KnownVersions())
          .first->second;
  const bool is_permanent = kind == ErrorKind::kForbidden || kind == ErrorKind::kInvalid;
  const milliseconds wait = is_permanent ? kPermanentWait : failed.backoff.next();
  failed.due = clock_.steady() + wait;
  failed.seen = std::move(seen);
  return wait;
}

void RetryTimes::forget(const std::string& node, const std::string& name) {
  const std::lock_guard lock(mutex_);
  const auto of_node = failed_.find(node);
  if (of_node == failed_.end()) return;
  of_node->second.erase(name);
  if (of_node->second.empty()) failed_.erase(of_node);
}

void RetryTimes::forget_all_but(const std::string& node, const std::vector<std::string>& open) {
  const std::lock_guard lock(mutex_);
  const auto of_node = failed_.find(node);
  if (of_node == failed_.end()) return;
  std::erase_if(of_node->second, [&](const auto& failed) {
    return std::ranges::find(open, failed.first) == open.end();
  });
  if (of_node->second.empty()) failed_.erase(of_node);
}

void RetryTimes::allow_all() {
  const std::lock_guard lock(mutex_);
  for (auto& [node, of_node] : failed_) {
    for (auto& [name, failed] : of_node) failed.due = Clock::Steady();
  }
}

}  // namespace gpuward::remediator
