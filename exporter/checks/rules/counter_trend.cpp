#include "exporter/checks/rules/counter_trend.h"

namespace gpuward::exporter {

std::optional<CounterTrend::Growth> CounterTrend::add(const std::string& name, std::uint64_t value,
                                                      WallTime now) {
  std::deque<Sample>& samples = samples_[name];
  if (!samples.empty() && (value < samples.back().value || now <= samples.back().time)) {
    samples.clear();
  }
  samples.push_back({now, value});
  // One sample at or before the beginning of the window stays, so that slow sampling still has two.
  while (samples.size() > 2 && samples[1].time + window_ <= now) samples.pop_front();
  const auto apart = now - samples.front().time;
  if (samples.size() < 2 || apart < least_) return std::nullopt;
  const std::uint64_t grown = value - samples.front().value;
  const double seconds = std::chrono::duration<double>(apart).count();
  return Growth{grown, static_cast<double>(grown) / seconds};
}

void CounterTrend::forget_before(WallTime now) {
  std::erase_if(samples_, [&](const auto& entry) {
    return entry.second.empty() || entry.second.back().time + window_ < now;
  });
}

}  // namespace gpuward::exporter
