#include "exporter/kernel_log/line_time.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <string>

#include "core/runtime/text.h"
#include "core/xid/parser.h"
#include "exporter/kernel_log/kmsg_record.h"

namespace gpuward::exporter {
namespace {

using Wall = std::chrono::system_clock::time_point;

// The world's time zones are UTC-12 to UTC+14.
constexpr std::chrono::hours kFurthestWest{12};
constexpr std::size_t kLongestHeader = 160;

constexpr bool is_digit(char c) { return c >= '0' && c <= '9'; }

struct ClockText {
  std::size_t at = 0, end = 0;  // in the header
  std::chrono::seconds of_day{0};
};

// The first `17:03:39`.
std::optional<ClockText> find_clock(std::string_view header) {
  constexpr std::string_view kShape = "00:00:00";
  for (std::size_t at = 0; at + kShape.size() <= header.size(); ++at) {
    const std::string_view text = header.substr(at, kShape.size());
    const bool fits = std::ranges::equal(text, kShape, [](char have, char want) {
      return want == ':' ? have == ':' : is_digit(have);
    });
    if (!fits || (at > 0 && (is_digit(header[at - 1]) || header[at - 1] == ':'))) continue;
    const auto number = [&](std::size_t from) {
      return parse_integer<int>(text.substr(from, 2)).value_or(0);
    };
    return ClockText{at, at + kShape.size(),
                     std::chrono::hours(number(0)) + std::chrono::minutes(number(3)) +
                         std::chrono::seconds(number(6))};
  }
  return std::nullopt;
}

// Within the range of Wall, which counts nanoseconds: from 1970 to some days after `now`.
std::optional<Wall> moment(std::chrono::year_month_day day, const ClockText& clock, Wall now) {
  if (!day.ok()) return std::nullopt;
  const std::chrono::sys_days latest =
      std::chrono::floor<std::chrono::days>(now) + std::chrono::days(10);
  return Wall(std::clamp(std::chrono::sys_days(day), std::chrono::sys_days(), latest)) +
         clock.of_day;
}

// `Z`, `+08:00`, `-0700` after the seconds and their fraction.
std::optional<std::chrono::minutes> find_offset(std::string_view behind_clock) {
  const auto end = std::min(behind_clock.find_first_not_of(".,0123456789"), behind_clock.size());
  const std::string_view zone = behind_clock.substr(end);
  if (zone.starts_with('Z')) return std::chrono::minutes(0);
  if (!zone.starts_with('+') && !zone.starts_with('-')) return std::nullopt;
  std::string digits;
  for (const char c : zone.substr(1, 5)) {
    if (is_digit(c)) digits += c;
  }
  const auto number = digits.size() == 4 ? parse_integer<int>(digits) : std::nullopt;
  if (!number) return std::nullopt;
  const std::chrono::minutes offset(*number / 100 * 60 + *number % 100);
  return zone.front() == '-' ? -offset : offset;
}

// `2026-04-22T` or `2026-04-22 ` before the clock.
std::optional<Wall> read_iso(std::string_view header, const ClockText& clock, Wall now) {
  constexpr std::size_t kDate = 11;
  if (clock.at < kDate) return std::nullopt;
  const std::string_view date = header.substr(clock.at - kDate, kDate);
  if (date[4] != '-' || date[7] != '-') return std::nullopt;
  const auto year = parse_integer<int>(date.substr(0, 4));
  const auto month = parse_integer<unsigned>(date.substr(5, 2));
  const auto day = parse_integer<unsigned>(date.substr(8, 2));
  if (!year || !month || !day) return std::nullopt;
  const std::chrono::year_month_day date_of{std::chrono::year(*year), std::chrono::month(*month),
                                            std::chrono::day(*day)};
  const auto local = moment(date_of, clock, now);
  if (!local) return std::nullopt;
  const auto offset = find_offset(header.substr(clock.end));
  return offset ? *local - *offset : *local + kFurthestWest;
}

std::optional<unsigned> month_named(std::string_view word) {
  constexpr std::array<std::string_view, 12> kMonths{"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                                     "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
  const auto* const found = std::ranges::find(kMonths, word);
  if (found == kMonths.end()) return std::nullopt;
  return static_cast<unsigned>(found - kMonths.begin()) + 1;
}

// Removes the last word of `text` and returns it.
std::string_view take_last_word(std::string_view& text) {
  while (text.ends_with(' ')) text.remove_suffix(1);
  const auto blank = text.rfind(' ');
  const auto bracket = text.rfind('[');
  std::size_t from = blank == std::string_view::npos ? 0 : blank + 1;
  if (bracket != std::string_view::npos) from = std::max(from, bracket + 1);
  const std::string_view word = text.substr(from);
  text = text.substr(0, from);
  return word;
}

// `Wed Apr 17 17:03:39 2026`, `Apr  7 17:03:39`.
std::optional<Wall> read_calendar(std::string_view header, const ClockText& clock, Wall now) {
  std::string_view before = header.substr(0, clock.at);
  const auto day = parse_integer<unsigned>(take_last_word(before));
  const auto month = month_named(take_last_word(before));
  if (!day || !month) return std::nullopt;
  const std::chrono::month_day of_year = std::chrono::month(*month) / std::chrono::day(*day);
  const std::string_view behind = header.substr(clock.end);
  if (behind.size() >= 5 && behind.front() == ' ') {
    if (const auto year = parse_integer<int>(behind.substr(1, 4)); year && *year > 1990) {
      const auto local = moment(std::chrono::year(*year) / of_year, clock, now);
      return local ? std::optional(*local + kFurthestWest) : std::nullopt;
    }
  }
  const std::chrono::year_month_day today(std::chrono::floor<std::chrono::days>(now));
  for (const std::chrono::years ahead :
       {std::chrono::years(1), std::chrono::years(0), std::chrono::years(-1)}) {
    // The text has no year. The latest year counts that gives a time at most a day ahead; the day
    // is for the unknown time zone.
    const auto local = moment((today.year() + ahead) / of_year, clock, now);
    if (local && *local <= now + std::chrono::days(1)) return *local + kFurthestWest;
  }
  return std::nullopt;
}

// `[   12.345678]`
std::optional<std::chrono::microseconds> read_seconds(std::string_view header) {
  for (auto at = header.find('['); at != std::string_view::npos; at = header.find('[', at + 1)) {
    const auto end = header.find(']', at);
    if (end == std::string_view::npos) return std::nullopt;
    std::string_view inside = header.substr(at + 1, end - at - 1);
    while (inside.starts_with(' ')) inside.remove_prefix(1);
    if (!inside.contains('.')) continue;
    const auto seconds = parse_integer<double>(inside);
    constexpr double kMost = 1e12;  // as microseconds it fits in 64 bits
    if (seconds && *seconds >= 0)
      return std::chrono::microseconds(static_cast<std::int64_t>(std::min(*seconds, kMost) * 1e6));
  }
  return std::nullopt;
}

}  // namespace

LineTime read_line_time(std::string_view line, Wall now) {
  // No machine is up for longer; the value still shows that the line is not of this boot.
  const auto longest = std::chrono::duration_cast<std::chrono::microseconds>(
      now.time_since_epoch() + std::chrono::days(1));
  if (const auto record = parse_kmsg_record(line))
    return {.since_boot = std::min(record->since_boot, longest)};
  const std::string_view message = xid::strip_prefixes(line);
  std::string_view header = line.substr(0, line.size() - std::min(message.size(), line.size()));
  header = header.substr(0, kLongestHeader);
  if (const auto clock = find_clock(header)) {
    if (const auto time = read_iso(header, *clock, now)) return {.latest = std::min(*time, now)};
    if (const auto time = read_calendar(header, *clock, now))
      return {.latest = std::min(*time, now)};
  }
  auto since_boot = read_seconds(header);
  if (since_boot) since_boot = std::min(*since_boot, longest);
  return {.since_boot = since_boot};
}

}  // namespace gpuward::exporter
