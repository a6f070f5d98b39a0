#include "core/runtime/clock.h"

#include <time.h>

#include <algorithm>
#include <array>
#include <condition_variable>
#include <cstdint>
#include <cstdio>
#include <mutex>

namespace gpuward {
namespace {

using std::chrono::floor;
using std::chrono::milliseconds;
using std::chrono::nanoseconds;
using std::chrono::seconds;

// The text up to the seconds. Counts in seconds, because the days at both ends of the range
// overflow in nanoseconds.
std::string date_and_time(Clock::Wall time) {
  const auto second = floor<seconds>(time);
  const auto day = floor<std::chrono::days>(second);
  const std::chrono::year_month_day date{day};
  const std::chrono::hh_mm_ss clock{second - day};
  std::array<char, 40> text{};
  const int length = std::snprintf(
      text.data(), text.size(), "%04d-%02u-%02uT%02d:%02d:%02d", static_cast<int>(date.year()),
      static_cast<unsigned>(date.month()), static_cast<unsigned>(date.day()),
      static_cast<int>(clock.hours().count()), static_cast<int>(clock.minutes().count()),
      static_cast<int>(clock.seconds().count()));
  return {text.data(), static_cast<std::size_t>(length)};
}

// Consumes a text from the front; after a part that did not fit, `ok` stays false.
struct Reader {
  std::string_view rest;
  bool ok = true;

  int number(std::size_t digits, int min, int max) {
    int value = 0;
    ok = ok && rest.size() >= digits;
    for (std::size_t i = 0; ok && i < digits; ++i) {
      ok = rest[i] >= '0' && rest[i] <= '9';
      value = value * 10 + (rest[i] - '0');
    }
    ok = ok && value >= min && value <= max;
    if (ok) rest.remove_prefix(digits);
    return value;
  }
  void literal(char expected) {
    ok = ok && !rest.empty() && rest.front() == expected;
    if (ok) rest.remove_prefix(1);
  }
  bool next_is(char c) const { return ok && !rest.empty() && rest.front() == c; }
};

nanoseconds read_fraction(Reader& reader) {
  if (!reader.next_is('.')) return {};
  reader.literal('.');
  std::int64_t value = 0;
  std::size_t digits = 0;
  while (!reader.rest.empty() && reader.rest.front() >= '0' && reader.rest.front() <= '9' &&
         digits < 10) {
    value = value * 10 + reader.number(1, 0, 9);
    ++digits;
  }
  reader.ok = reader.ok && digits >= 1 && digits <= 9;
  for (; digits < 9; ++digits) value *= 10;
  return nanoseconds(value);
}

seconds read_offset(Reader& reader) {
  if (reader.next_is('Z')) {
    reader.literal('Z');
    return seconds{0};
  }
  const bool west = reader.next_is('-');
  reader.literal(west ? '-' : '+');
  const std::chrono::hours hours(reader.number(2, 0, 23));
  reader.literal(':');
  const seconds offset = hours + std::chrono::minutes(reader.number(2, 0, 59));
  return west ? -offset : offset;
}

std::chrono::sys_days read_date(Reader& reader) {
  const std::chrono::year year(reader.number(4, 0, 9999));
  reader.literal('-');
  const std::chrono::month month(static_cast<unsigned>(reader.number(2, 1, 12)));
  reader.literal('-');
  const std::chrono::day day(static_cast<unsigned>(reader.number(2, 1, 31)));
  reader.ok = reader.ok && (year / month / day).ok();
  return reader.ok ? std::chrono::sys_days(year / month / day) : std::chrono::sys_days{};
}

seconds read_time_of_day(Reader& reader) {
  const std::chrono::hours hours(reader.number(2, 0, 23));
  reader.literal(':');
  const std::chrono::minutes minutes(reader.number(2, 0, 59));
  reader.literal(':');
  return hours + minutes + seconds(reader.number(2, 0, 60));  // 60: a leap second
}

}  // namespace

Clock::Wall SystemClock::wall() const { return std::chrono::system_clock::now(); }
Clock::Steady SystemClock::steady() const { return std::chrono::steady_clock::now(); }
nanoseconds SystemClock::processor_time() const {
  timespec used{};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &used);  // cannot fail for this clock
  return seconds(used.tv_sec) + nanoseconds(used.tv_nsec);
}

SystemClock& lasting_clock() {
  static auto* const kClock = new SystemClock;
  return *kClock;
}

bool SystemClock::sleep_until(Steady deadline, std::stop_token stop) {
  std::mutex mutex;
  std::condition_variable_any never_notified;
  std::unique_lock lock(mutex);
  never_notified.wait_until(lock, stop, deadline, [] { return false; });
  return !stop.stop_requested();
}

std::string to_rfc3339(Clock::Wall time) { return date_and_time(time) + 'Z'; }

std::string to_rfc3339_ms(Clock::Wall time) {
  const auto part = (floor<milliseconds>(time) - floor<seconds>(time)).count();
  std::array<char, 8> text{};
  std::snprintf(text.data(), text.size(), ".%03d", static_cast<int>(part));
  return date_and_time(time) + text.data() + 'Z';
}

std::optional<Clock::Wall> parse_rfc3339(std::string_view text) {
  Reader reader{text};
  const std::chrono::sys_days day = read_date(reader);
  reader.literal('T');
  const seconds time_of_day = read_time_of_day(reader);
  const nanoseconds fraction = read_fraction(reader);
  const seconds offset = read_offset(reader);
  if (!reader.ok || !reader.rest.empty()) return std::nullopt;

  const std::chrono::sys_seconds second = day + time_of_day - offset;
  if (second <= floor<seconds>(Clock::Wall::min()) + seconds{1}) return Clock::Wall::min();
  if (second >= floor<seconds>(Clock::Wall::max()) - seconds{1}) return Clock::Wall::max();
  return Clock::Wall(second) + fraction;
}

}  // namespace gpuward
