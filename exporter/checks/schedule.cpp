#include "exporter/checks/schedule.h"

#include <algorithm>

namespace gpuward::exporter {
namespace {

using std::chrono::milliseconds;

// FNV-1a, 64 bits, then the end of SplitMix64, because node names differ in only a few letters.
constexpr std::uint64_t kOffset = 0xcbf29ce484222325ULL, kPrime = 0x100000001b3ULL;

std::uint64_t mix(std::uint64_t value) {
  value = (value ^ (value >> 30U)) * 0xbf58476d1ce4e5b9ULL;
  value = (value ^ (value >> 27U)) * 0x94d049bb133111ebULL;
  return value ^ (value >> 31U);
}

constexpr milliseconds kMostJitter{10'000};
constexpr milliseconds kShortestInterval{1'000};
constexpr std::chrono::minutes kToEndOthers{1};

milliseconds part_of(std::uint64_t node, milliseconds whole) {
  return milliseconds(static_cast<std::int64_t>(
      node % static_cast<std::uint64_t>(std::max(whole, milliseconds(1)).count())));
}

}  // namespace

std::uint64_t node_number(std::string_view node_name) {
  std::uint64_t hash = kOffset;
  for (const char letter : node_name) {
    hash = (hash ^ static_cast<unsigned char>(letter)) * kPrime;
  }
  return mix(hash);
}

Clock::Steady next_quick_run(const Timetable& table, milliseconds interval,
                             std::optional<Clock::Steady> last) {
  const milliseconds every = std::max(interval, kShortestInterval);
  if (last) return *last + every;
  return table.started_steady + part_of(table.node, std::min(kMostJitter, every / 10));
}

WallTime next_diagnostic_run(const Timetable& table, milliseconds interval,
                             std::optional<WallTime> last, WallTime now) {
  const milliseconds every = std::max(interval, kShortestInterval);
  WallTime earliest = std::max(now, table.started + kQuietStart);
  // After the clock was set back, `last` may be in the future and must not block the check.
  if (last && *last <= now) earliest = std::max(earliest, *last + every / 2);
  const milliseconds since_epoch = std::chrono::ceil<milliseconds>(earliest.time_since_epoch());
  const milliseconds slot = part_of(table.node, every);
  const auto periods = (since_epoch - slot + every - milliseconds(1)) / every;
  return WallTime(slot + periods * every);
}

milliseconds time_limit_of(const CheckEntry& entry, const CheckSettings& settings) {
  const auto own = settings.timeouts.find(entry.number);
  if (own != settings.timeouts.end()) return own->second;
  switch (entry.number) {
    case 1:
      return settings.dcgm_timeout + kToEndOthers;
    case 4:
      return settings.dcgm_l4_timeout + kToEndOthers;
    case 5:
      return settings.nccl_timeout + 2 * settings.nccl_isolation_timeout + kToEndOthers;
    case kProgramNumber:
      return entry.timeout;
    default:
      return settings.check_timeout.value_or(entry.timeout);
  }
}

}  // namespace gpuward::exporter
