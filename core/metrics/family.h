// Metrics as plain values. A family is declared once, next to the code that computes its samples.
// The name, HELP, type and label names at /metrics come from the declaration, and so does the row
// in docs/metrics.md (`./dev docs`).
#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <deque>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "core/metrics/histogram.h"

namespace gpuward::metrics {

enum class Type : std::uint8_t { kCounter, kGauge, kHistogram };

using LabelNames = std::array<std::string_view, 12>;  // the unused ones at the end are empty
using Labels = std::vector<std::string>;              // values, in the order of the names

struct Declaration {
  std::string_view name;  // a valid metric name; that of a counter ends with _total
  std::string_view help;
  Type type = Type::kGauge;
  LabelNames labels = {};
  std::string_view absent = {};  // when the family has no series; empty: never
};

struct Sample {
  Labels labels;
  double value = 0;
};

struct HistogramSample {
  Labels labels;
  Histogram value;
};

// The value as Prometheus has it: a flag as 0 or 1, times in seconds.
template <typename T>
  requires(std::is_arithmetic_v<T> || std::is_enum_v<T>)
[[nodiscard]] constexpr double value_of(T value) {
  return static_cast<double>(value);
}
template <typename Rep, typename Period>
[[nodiscard]] constexpr double value_of(std::chrono::duration<Rep, Period> time) {
  return std::chrono::duration<double>(time).count();
}
[[nodiscard]] constexpr double value_of(std::chrono::system_clock::time_point time) {
  return value_of(time.time_since_epoch());
}

struct Family {
  Declaration declared = {};
  std::string name = std::string(declared.name);  // another if a driver chooses it
  std::vector<Sample> samples = {};               // without any, the text omits the family
  std::vector<HistogramSample> histograms = {};   // of Type::kHistogram, replaces samples

  // One series, with a value for each declared label.
  template <typename T>
  void add(Labels labels, const T& value) {
    samples.push_back({std::move(labels), value_of(value)});
  }
  void add(Labels labels, const Histogram& value) {
    histograms.push_back({std::move(labels), value});
  }
  // Adds nothing if the value is absent.
  template <typename T>
  void add(Labels labels, const std::optional<T>& value) {
    if (value) add(std::move(labels), *value);
  }
  template <typename T>
  void add(std::initializer_list<std::string_view> labels, const T& value) {
    add(Labels(labels.begin(), labels.end()), value);
  }
  template <typename T>
  void add(Labels labels, std::initializer_list<std::string_view> more, const T& value) {
    labels.insert(labels.end(), more.begin(), more.end());
    add(std::move(labels), value);
  }
};

using Families = std::deque<Family>;

// Adds a family and returns it, for the caller to add samples. The reference stays valid when more
// are declared.
inline Family& declare(Families& families, const Declaration& declaration) {
  return families.emplace_back(Family{declaration});
}

// Adds a family of one series without labels.
template <typename T>
void declare(Families& families, const Declaration& declaration, const T& value) {
  declare(families, declaration).add(Labels(), value);
}

}  // namespace gpuward::metrics
