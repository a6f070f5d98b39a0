// When a check runs next. Pure. Quick checks run soon after the start and then at their interval.
// Diagnostics run at each node's own time, so that a fleet never runs them all at once, and never
// because a program was started.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string_view>

#include "exporter/checks/check/check.h"

namespace gpuward::exporter {

// When the program was started, and on which node.
struct Timetable {
  std::uint64_t node = 0;  // node_number()
  WallTime started;
  Clock::Steady started_steady;
};

// Returns the same number for the same name on every machine, to spread the nodes evenly.
[[nodiscard]] std::uint64_t node_number(std::string_view node_name);

// Quick checks first run within ten seconds and a tenth of the interval after the start, then one
// interval after the last run of this process. `last` is absent before the first.
[[nodiscard]] Clock::Steady next_quick_run(const Timetable& table,
                                           std::chrono::milliseconds interval,
                                           std::optional<Clock::Steady> last);

// Diagnostics run in the node's own slot, by its name, in each interval of the calendar. A run is
// never sooner than `kQuietStart` after the start (a slot that is past by then moves to the next
// interval) and never twice in half an interval. `last` comes from the state and may be of an
// earlier process.
inline constexpr std::chrono::minutes kQuietStart{15};
[[nodiscard]] WallTime next_diagnostic_run(const Timetable& table,
                                           std::chrono::milliseconds interval,
                                           std::optional<WallTime> last, WallTime now);

// Returns the time limit of the check: checks.timeouts, else CHECK_TIMEOUT, else the check's
// default. Checks 1, 4 and 5 have their own keys instead of CHECK_TIMEOUT, and programs their own
// limits. A check that runs an external diagnostic ends it first, and gets a minute more for that.
[[nodiscard]] std::chrono::milliseconds time_limit_of(const CheckEntry& entry,
                                                      const CheckSettings& settings);

}  // namespace gpuward::exporter
