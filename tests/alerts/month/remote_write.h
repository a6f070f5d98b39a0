// Samples of simulated time in the form in which Prometheus accepts them by remote write: protobuf
// in snappy's block format.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "tests/alerts/month/moments.h"

namespace gpuward::alerts {

struct Sample {
  seconds at{};
  double value = 0;
};

struct Series {
  Labels labels;  // includes `__name__`
  std::vector<Sample> samples;
};

// When a simulated month begins.
inline constexpr seconds kEpoch{1'767'225'600};

// The value that ends a series at once, as for a target that is gone.
[[nodiscard]] double stale_value();

[[nodiscard]] std::string remote_write_body(std::span<const Series> series);

}  // namespace gpuward::alerts
