#include "remediator/inbox/sources/ignored_episodes.h"

namespace gpuward::remediator {

bool IgnoredEpisodes::is_new(const AlertSignal& signal, Ignored reason) {
  const std::lock_guard lock(mutex_);
  // Repeated lines are better than none.
  if (known_.size() >= kMost) known_.clear();
  return known_.emplace(signal.node, signal.fingerprint, signal.starts_at, reason).second;
}

}  // namespace gpuward::remediator
