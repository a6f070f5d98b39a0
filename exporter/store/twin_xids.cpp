#include "exporter/store/twin_xids.h"

#include <algorithm>

namespace gpuward::exporter {
namespace {

constexpr std::chrono::seconds kMostApart{30};
constexpr std::size_t kMostUnmatched = 256;

}  // namespace

std::optional<Severity> TwinXids::twin_of(const CounterKey& key, WallTime seen,
                                          bool is_driver_event, Severity severity) {
  const auto twin = std::ranges::find_if(unmatched_, [&](const Unmatched& other) {
    const auto apart = other.seen > seen ? other.seen - seen : seen - other.seen;
    return other.key == key && other.is_driver_event != is_driver_event && apart <= kMostApart;
  });
  if (twin != unmatched_.end()) {
    const Severity told = twin->severity;
    unmatched_.erase(twin);
    return told;
  }
  unmatched_.push_back({key, seen, is_driver_event, severity});
  if (unmatched_.size() > kMostUnmatched) unmatched_.pop_front();
  return std::nullopt;
}

}  // namespace gpuward::exporter
