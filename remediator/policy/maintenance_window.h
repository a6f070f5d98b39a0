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
  std::array<bool, 7> days{true, true, true, true, true, true, true};  // on which it opens; Sunday
                                                                       // first
  std::chrono::minutes start{0};                                       // since midnight
  std::chrono::milliseconds duration{0};                               // may pass midnight
  std::chrono::minutes utc_offset{0};                                  // without a time zone
  const date::time_zone* zone = nullptr;  // of the IANA database; lives as long as the process
};

[[nodiscard]] bool is_open(const MaintenanceWindow& window,
                           std::chrono::system_clock::time_point now);

// When it next opens, after `now`.
[[nodiscard]] std::chrono::system_clock::time_point next_opening(
    const MaintenanceWindow& window, std::chrono::system_clock::time_point now);

// Reads the section `maintenance_windows`; docs/configuration.md has its keys. Faults are reported
// to the file.
[[nodiscard]] std::vector<MaintenanceWindow> read_maintenance_windows(const YamlMap& root);

}  // namespace gpuward::remediator
