#include "remediator/policy/maintenance_window.h"

#include <date/tz.h>

#include <algorithm>
#include <optional>
#include <set>
#include <string_view>

#include "core/runtime/text.h"

namespace gpuward::remediator {
namespace {

using std::chrono::days;
using std::chrono::hours;
using std::chrono::minutes;
using std::chrono::sys_days;
using Wall = std::chrono::system_clock::time_point;

constexpr std::array<std::string_view, 7> kDays = {"sun", "mon", "tue", "wed", "thu", "fri", "sat"};
constexpr minutes kFarthestFromUtc = hours(14);

// `22:30`
std::optional<minutes> parse_time_of_day(std::string_view text) {
  if (text.size() != 5 || text[2] != ':') return std::nullopt;
  const auto hour = parse_integer<unsigned>(text.substr(0, 2));
  const auto minute = parse_integer<unsigned>(text.substr(3));
  if (!hour || !minute || *hour > 23 || *minute > 59) return std::nullopt;
  return hours(*hour) + minutes(*minute);
}

// `+01:00`
std::optional<minutes> parse_offset(std::string_view text) {
  if (text.empty() || (text.front() != '+' && text.front() != '-')) return std::nullopt;
  const auto distance = parse_time_of_day(text.substr(1));
  if (!distance || *distance > kFarthestFromUtc) return std::nullopt;
  return text.front() == '-' ? -*distance : *distance;
}

// nullptr if the machine's database has no zone of that name.
const date::time_zone* find_zone(const std::string& name) {
  try {
    return date::locate_zone(name);
  } catch (const std::exception&) {  // also without a database
    return nullptr;
  }
}

void read_place(const YamlMap& map, MaintenanceWindow& window) {
  std::string zone, offset = "+00:00";
  map.read("time_zone", zone, "time zone of `start` and `days`, by its IANA name: `Europe/Berlin`");
  map.read("utc_offset", offset, "a fixed offset, instead of a time zone");
  const auto distance = parse_offset(offset);
  if (!distance) map.reject("utc_offset", "must be an offset from UTC such as \"+01:00\"");
  window.utc_offset = distance.value_or(minutes(0));
  if (zone.empty()) return;
  if (map.has("utc_offset"))
    map.reject("utc_offset", "cannot be set together with time_zone: set only one of them");
  window.zone = find_zone(zone);
  if (window.zone == nullptr)
    map.reject("time_zone",
               "is not in this machine's time zone database (" + zone +
                   "): use a name such as Europe/Berlin; install tzdata if it is missing");
}

void read_days(const YamlMap& map, MaintenanceWindow& window) {
  if (!map.has("days")) return;
  std::vector<std::string> words;
  map.read("days", words, "days on which the window opens, of `mon` to `sun`; default: every day");
  window.days.fill(false);
  for (const std::string& word : words) {
    const auto day = std::ranges::find(kDays, word);
    if (day == kDays.end()) {
      map.reject("days", "each must be one of sun, mon, tue, wed, thu, fri, sat");
      return;
    }
    window.days[static_cast<std::size_t>(day - kDays.begin())] = true;
  }
  if (words.empty()) map.reject("days", "names no day: the window would never open");
}

MaintenanceWindow read_maintenance_window(const YamlMap& map) {
  MaintenanceWindow window;
  map.require("name", window.name, "name of the window, by which a `wait` refers to it");
  read_days(map, window);
  std::string start;
  map.require("start", start, "time of day at which the window opens: `22:30`");
  const auto time = parse_time_of_day(start);
  if (!start.empty() && !time) map.reject("start", "must be a time of day such as \"22:30\"");
  window.start = time.value_or(minutes(0));
  map.require("duration", window.duration, minutes(1), days(7),
              "how long the window is open; it may extend past midnight");
  read_place(map, window);
  return window;
}

// Returns the local time as if it were UTC.
Wall to_local(const MaintenanceWindow& window, Wall now) {
  return window.zone == nullptr ? now + window.utc_offset
                                : Wall(window.zone->to_local(now).time_since_epoch());
}

Wall from_local(const MaintenanceWindow& window, Wall local) {
  if (window.zone == nullptr) return local - window.utc_offset;
  return window.zone->to_sys(date::local_time<Wall::duration>(local.time_since_epoch()),
                             date::choose::earliest);
}

// When it opens `after` days after the day of `now`; nullopt if it does not open on that day.
std::optional<Wall> opening(const MaintenanceWindow& window, Wall now, int after) {
  const sys_days day = std::chrono::floor<days>(to_local(window, now)) + days(after);
  if (!window.days[std::chrono::weekday(day).c_encoding()]) return std::nullopt;
  return from_local(window, Wall(day) + window.start);
}

}  // namespace

bool is_open(const MaintenanceWindow& window, Wall now) {
  for (int before = 0; before <= 7; ++before) {
    const auto opened = opening(window, now, -before);
    if (opened && *opened <= now && now < *opened + window.duration) return true;
  }
  return false;
}

Wall next_opening(const MaintenanceWindow& window, Wall now) {
  for (int after = 0; after <= 7; ++after) {
    const auto opens = opening(window, now, after);
    if (opens && *opens > now) return *opens;
  }
  return Wall::max();  // no day is set: read_maintenance_windows() rejects such windows
}

std::vector<MaintenanceWindow> read_maintenance_windows(const YamlMap& root) {
  std::vector<MaintenanceWindow> windows;
  std::set<std::string> seen;
  for (const YamlMap& map : root.maps("maintenance_windows",
                                      "windows in which steps that wait for them may begin; a "
                                      "`wait` refers to them by name")) {
    windows.push_back(read_maintenance_window(map));
    if (!seen.insert(windows.back().name).second) map.reject("name", "is the name of two windows");
  }
  return windows;
}

}  // namespace gpuward::remediator
