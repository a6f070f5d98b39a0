// Metrics as plain values: what both programs hand over to be rendered. A family is one name with
// its samples; labels keep the order in which they are given.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "core/metrics/histogram.h"

namespace gpuward::metrics {

enum class Type : std::uint8_t { kCounter, kGauge, kHistogram };

struct Sample {
  std::vector<std::pair<std::string, std::string>> labels;
  double value = 0;
};

struct HistogramSample {
  std::vector<std::pair<std::string, std::string>> labels;
  Histogram value;
};

struct Family {
  std::string name;  // a valid metric name; the counters' ends with _total
  std::string help;
  Type type = Type::kGauge;
  std::vector<Sample> samples;                   // a family without samples is left out of the text
  std::vector<HistogramSample> histograms = {};  // of Type::kHistogram, in place of samples
};

}  // namespace gpuward::metrics
