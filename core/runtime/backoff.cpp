#include "core/runtime/backoff.h"

#include <algorithm>
#include <random>

namespace gpuward {
namespace {

std::uint64_t seed_from_system() {
  std::random_device device;
  return (static_cast<std::uint64_t>(device()) << 32U) | device();
}

// splitmix64 (Steele, Lea, Flood 2014): one word of state, any seed is good.
std::uint64_t next_random(std::uint64_t& state) {
  state += 0x9e3779b97f4a7c15U;
  std::uint64_t mixed = state;
  mixed = (mixed ^ (mixed >> 30U)) * 0xbf58476d1ce4e5b9U;
  mixed = (mixed ^ (mixed >> 27U)) * 0x94d049bb133111ebU;
  return mixed ^ (mixed >> 31U);
}

}  // namespace

Backoff::Backoff(BackoffPolicy policy, std::uint64_t seed)
    : policy_(policy),
      step_ms_(static_cast<double>(policy.first.count())),
      state_(seed == 0 ? seed_from_system() : seed) {}

std::chrono::milliseconds Backoff::next() {
  const double longest = static_cast<double>(policy_.longest.count());
  const double step = std::min(step_ms_, longest);
  step_ms_ = std::min(step * policy_.factor, longest);
  const double share = static_cast<double>(next_random(state_) >> 11U) * 0x1.0p-53;  // [0, 1)
  return std::chrono::milliseconds(static_cast<std::int64_t>(step * (0.5 + share / 2)));
}

void Backoff::reset() { step_ms_ = static_cast<double>(policy_.first.count()); }

}  // namespace gpuward
