// When the line of a text log was written, by its header. Pure; used by FileFollower for the lines
// that were there before it. Not for lines that it sees being written: those are of now, and a
// header without a time zone may be hours off.
#pragma once

#include <chrono>
#include <optional>
#include <string_view>

namespace gpuward::exporter {

struct LineTime {
  // The latest moment that fits: a time without a zone may be of any.
  std::optional<std::chrono::system_clock::time_point> latest = {};
  std::optional<std::chrono::microseconds> since_boot =
      {};  // of a boot that the line does not name
};

// `2026-04-22T21:30:51.526Z`, `2026-04-22 21:30:51`, `Wed Apr 17 17:03:39 2026`, `Apr 17 17:03:39`,
// `[   12.345678]`, `6,1234,12345678,-;`. A date without a year is the last one before `now`. Empty
// if the header says neither; months have English names or numbers.
[[nodiscard]] LineTime read_line_time(std::string_view line,
                                      std::chrono::system_clock::time_point now);

}  // namespace gpuward::exporter
