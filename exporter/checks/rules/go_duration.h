// Durations as AMD's exporter takes them, which is written in Go: "24h", "1h30m", "1.5h", "0".
// Pure. Used for the HealthThresholds of its file.
#pragma once

#include <chrono>
#include <optional>
#include <string_view>

namespace gpuward::exporter {

// What Go's time.ParseDuration takes, without a minus; nullopt for anything else and for more than
// 292 years.
[[nodiscard]] std::optional<std::chrono::nanoseconds> parse_go_duration(std::string_view text);

}  // namespace gpuward::exporter
