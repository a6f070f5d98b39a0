// The time of a line in a text log, by its header. Pure; FileFollower uses it for the lines from
// before its start. Not for lines that arrive while it follows: those are current, and a header
// without a time zone may be hours off.
#pragma once

#include <chrono>
#include <optional>
#include <string_view>

namespace gpuward::exporter {

struct LineTime {
  // The latest possible moment: a time without a zone may be in any zone.
  std::optional<std::chrono::system_clock::time_point> latest = {};
  std::optional<std::chrono::microseconds> since_boot =
      {};  // of a boot that the line does not name
};

// `2026-04-22T21:30:51.526Z`, `2026-04-22 21:30:51`, `Wed Apr 17 17:03:39 2026`, `Apr 17 17:03:39`,
// `[   12.345678]`, `6,1234,12345678,-;`. A date without a year is the last one before `now`. Empty
// if the header has neither time; months have English names or numbers.
[[nodiscard]] LineTime read_line_time(std::string_view line,
                                      std::chrono::system_clock::time_point now);

}  // namespace gpuward::exporter
