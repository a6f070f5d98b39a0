// When a check runs next. Pure. Quick checks run soon after the start and then at their interval;
// diagnostics run at a time of their own on each node, so that a fleet never runs them at once, and
// never because a program was started.
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

// The same number for the same name, on every machine: spreads nodes evenly.
[[nodiscard]] std::uint64_t node_number(std::string_view node_name);

// Quick checks: at most ten seconds, and at most a tenth of the interval, after the start; then an
// interval after the last run of this process. `last` is absent before the first.
[[nodiscard]] Clock::Steady next_quick_run(const Timetable& table,
                                           std::chrono::milliseconds interval,
                                           std::optional<Clock::Steady> last);

// Diagnostics: the node's own slot in each interval of the calendar, by its name. Never sooner than
// `kQuietStart` after the start (unless the slot is past by then: the next one), and never twice in
// half an interval: `last` is of any process, as the state remembers it.
inline constexpr std::chrono::minutes kQuietStart{15};
[[nodiscard]] WallTime next_diagnostic_run(const Timetable& table,
                                           std::chrono::milliseconds interval,
                                           std::optional<WallTime> last, WallTime now);

// How long this check may take: as checks.timeouts says, else as CHECK_TIMEOUT does, else its own
// default. Checks 1, 4 and 5 have keys of their own instead of CHECK_TIMEOUT, programs their own
// limits. What runs a diagnostic of others ends it itself first, and gets a minute more for that.
[[nodiscard]] std::chrono::milliseconds time_limit_of(const CheckEntry& entry,
                                                      const CheckSettings& settings);

}  // namespace gpuward::exporter
