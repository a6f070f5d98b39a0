#include "exporter/gpu/worker/unreaped.h"

#include <algorithm>

namespace gpuward::exporter {
namespace {

constexpr std::chrono::seconds kLongestDeath{2};
constexpr std::chrono::milliseconds kLookInterval{20};
constexpr std::chrono::milliseconds kStuckLookInterval{1'000};

}  // namespace

void Unreaped::add(std::unique_ptr<Reapable> killed, Clock::Steady now) {
  killed_.push_back({std::move(killed), now});
}

void Unreaped::bury() {
  std::erase_if(killed_, [](const Killed& killed) { return killed.process->try_reap(); });
}

bool Unreaped::has_stuck(Clock::Steady now) const {
  return std::ranges::any_of(
      killed_, [&](const Killed& killed) { return now - killed.since > kLongestDeath; });
}

Clock::Steady Unreaped::next_look(Clock::Steady now) const {
  if (killed_.empty()) return Clock::Steady::max();
  const bool is_recent = std::ranges::any_of(
      killed_, [&](const Killed& killed) { return now - killed.since <= kLongestDeath; });
  return now + (is_recent ? kLookInterval : kStuckLookInterval);
}

}  // namespace gpuward::exporter
