// Observations counted by size, as in Prometheus' histograms: the number of them up to each of a
// few bounds, and their sum. A plain value; its owner locks it if several threads use it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace gpuward::metrics {

class Histogram {
 public:
  // `bounds` ascend; values above the last bound are counted too.
  explicit Histogram(std::vector<double> bounds)
      : bounds_(std::move(bounds)), up_to_(bounds_.size(), 0) {}

  void observe(double value) {
    for (std::size_t i = 0; i < bounds_.size(); ++i) up_to_[i] += value <= bounds_[i] ? 1U : 0U;
    ++count_;
    sum_ += value;
  }

  [[nodiscard]] const std::vector<double>& bounds() const { return bounds_; }
  // Returns the number of observations up to bounds()[i].
  [[nodiscard]] std::uint64_t up_to(std::size_t i) const { return up_to_[i]; }
  [[nodiscard]] std::uint64_t count() const { return count_; }
  [[nodiscard]] double sum() const { return sum_; }

 private:
  std::vector<double> bounds_;
  std::vector<std::uint64_t> up_to_;
  std::uint64_t count_ = 0;
  double sum_ = 0;
};

}  // namespace gpuward::metrics
