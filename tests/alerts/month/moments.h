// Simulated time and its events: seconds since the month began.
#pragma once

#include <chrono>
#include <map>
#include <string>
#include <vector>

namespace gpuward::alerts {

using std::chrono::seconds;
using Labels = std::map<std::string, std::string>;

// Returns an empty text if there is no such label.
[[nodiscard]] inline std::string label_of(const Labels& labels, const std::string& name) {
  const auto at = labels.find(name);
  return at == labels.end() ? "" : at->second;
}

// From `from` until just before `to`.
struct Span {
  seconds from{}, to{};

  [[nodiscard]] bool contains(seconds at) const { return from <= at && at < to; }
  friend bool operator==(const Span&, const Span&) = default;
};

// An alert as Alertmanager receives it: when it fires.
struct AlertHistory {
  Labels labels;
  std::vector<Span> firing;  // in order, with gaps between them

  [[nodiscard]] bool fires(seconds at) const;
};

}  // namespace gpuward::alerts
