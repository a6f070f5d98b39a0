// The random numbers of one simulation, from its seed: the same sequence on every machine, which
// the distributions of the standard library do not guarantee. Use it on one thread.
#pragma once

#include <chrono>
#include <cstdint>
#include <vector>

namespace gpuward::remediator::simulation {

class Chance {
 public:
  explicit Chance(std::uint64_t seed) : state_(seed) {}

  // splitmix64
  std::uint64_t next() {
    state_ += 0x9e3779b97f4a7c15U;
    std::uint64_t number = state_;
    number = (number ^ (number >> 30U)) * 0xbf58476d1ce4e5b9U;
    number = (number ^ (number >> 27U)) * 0x94d049bb133111ebU;
    return number ^ (number >> 31U);
  }
  // Both bounds are included.
  int between(int low, int high) {
    return low + static_cast<int>(next() % static_cast<std::uint64_t>(high - low + 1));
  }
  bool happens(double probability) {
    return static_cast<double>(next() >> 11U) * 0x1.0p-53 < probability;
  }
  std::chrono::milliseconds span(std::chrono::milliseconds low, std::chrono::milliseconds high) {
    const auto width = static_cast<std::uint64_t>((high - low).count() + 1);
    return low + std::chrono::milliseconds(next() % width);
  }
  template <typename T>
  T& pick(std::vector<T>& from) {
    return from[next() % from.size()];
  }
  template <typename T>
  T one_of(std::initializer_list<T> from) {
    return *(from.begin() + next() % from.size());
  }
  // Returns an index; each is as likely as its weight.
  std::size_t weighted(const std::vector<int>& weights);

 private:
  std::uint64_t state_;
};

inline std::size_t Chance::weighted(const std::vector<int>& weights) {
  int sum = 0;
  for (const int weight : weights) sum += weight;
  int left = between(1, sum);
  for (std::size_t i = 0; i < weights.size(); ++i) {
    left -= weights[i];
    if (left <= 0) return i;
  }
  return weights.size() - 1;
}

}  // namespace gpuward::remediator::simulation
