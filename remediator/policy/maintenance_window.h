// The times of the week at which a step may be begun that waits for a maintenance window. Pure;
// time is a parameter. Read from YAML by read_maintenance_windows(), asked by the gates of a step.
//
// Times of the day are those of a time zone, with its daylight saving time, or of a fixed distance
// to UTC. Where the clocks are set forward over the start, it opens at that moment; where the start
// comes twice, at the first. The duration is what passes, whatever the clocks show.
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
  std::array<bool, 7> days{true, true, true, true, true, true, true};  // it opens on; Sunday first
  std::chrono::minutes start{0};                                       // since midnight
  std::chrono::milliseconds duration{0};                               // may go over midnight
  std::chrono::minutes utc_offset{0};                                  // where there is no zone
  const date::time_zone* zone = nullptr;  // of the IANA database; lives as long as the process
};

[[nodiscard]] bool is_open(const MaintenanceWindow& window,
                           std::chrono::system_clock::time_point now);

// When it opens next, after `now`.
[[nodiscard]] std::chrono::system_clock::time_point next_opening(
    const MaintenanceWindow& window, std::chrono::system_clock::time_point now);

// The section `maintenance_windows`; docs/configuration.md has its keys. Faults are
// reported to the file.
[[nodiscard]] std::vector<MaintenanceWindow> read_maintenance_windows(const YamlMap& root);

}  // namespace gpuward::remediator
