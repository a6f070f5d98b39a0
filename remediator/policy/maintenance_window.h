// The times of the week at which a step may start that waits for a maintenance window. Pure; time
// is a parameter. Read from YAML by read_maintenance_windows(), used by the gates of a step.
//
// Times of the day are those of a time zone, with its daylight saving time, or of a fixed offset
// from UTC. If the clocks skip the start, the window opens at that moment; if the start comes
// twice, it opens at the first. The duration is elapsed time, independent of the clocks.
#pragma once

#include <array>
#include <chrono>
#include <string>
#include <vector>

#include "core/runtime/yaml.h"

namespace date {
class time_zone;  // NOLINT(readability-identifier-naming): theirs
}

namespace gpuward::remediator {

struct MaintenanceWindow {
  std::string name;
  // Days on which the window opens, Sunday first.
  std::array<bool, 7> days{true, true, true, true, true, true, true};
  std::chrono::minutes start{0};  // Minutes since midnight.
  // The window may pass midnight.
  std::chrono::milliseconds duration{0};
  std::chrono::minutes utc_offset{0};  // Used without a time zone.
  // A zone of the IANA database; valid as long as the process.
  const date::time_zone* zone = nullptr;
};

[[nodiscard]] bool is_open(const MaintenanceWindow& window,
                           std::chrono::system_clock::time_point now);

// Returns when the window next opens after `now`.
[[nodiscard]] std::chrono::system_clock::time_point next_opening(
    const MaintenanceWindow& window, std::chrono::system_clock::time_point now);

// Reads the section `maintenance_windows`; docs/configuration.md has its keys. Faults are reported
// to the file.
[[nodiscard]] std::vector<MaintenanceWindow> read_maintenance_windows(const YamlMap& root);

}  // namespace gpuward::remediator
