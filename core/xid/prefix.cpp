// The header of a kernel message in a text log. Each part of a header is removed once, in order. A
// second header is part of the message: it may be the name of a process.
#include <algorithm>
#include <array>
#include <utility>

#include "core/xid/parser.h"
#include "core/xid/scanner.h"

namespace gpuward::xid {
namespace {

// The time of dmesg, and after it the task, or the time of a line copied from another dmesg.
constexpr int kMaxBrackets = 2;
// A syslog or journal header is a time, a host and at most a few words.
constexpr std::size_t kMaxHeaderWords = 8;

// `6,1234,98765,-;` of /dev/kmsg, also with more fields before the semicolon.
bool take_kmsg(Scanner& line) {
  Scanner ahead = line;
  for (int field = 0; field < 3; ++field) {
    if (ahead.take_while(is_digit).empty() || !ahead.take(",")) return false;
  }
  ahead.take_while([](char c) { return c != ';' && c != ' ' && c != '\n'; });
  if (!ahead.take(";")) return false;
  line = ahead;
  return true;
}

// The kernel's own facility is 0: 8 * facility + level.
bool is_of_user_space(Scanner header) { return header.take_number<unsigned>().value_or(8) > 7; }

// `<4>` of a raw syslog.
bool take_priority(Scanner& line) {
  Scanner ahead = line;
  if (!ahead.take("<") || ahead.take_while(is_digit).empty() || !ahead.take(">")) return false;
  line = ahead;
  return true;
}

constexpr std::string_view kClockShape = "00:00:00";

// `17:26:39`, `17:26:39.958539+08:00`
bool begins_with_clock(std::string_view text) {
  return std::ranges::equal(
      text.substr(0, kClockShape.size()), kClockShape,
      [](char have, char want) { return want == ':' ? have == ':' : is_digit(have); });
}

// `Wed Jun  7 10:50:55 2023`, as `dmesg -T` writes it: weekday and month are in the node's
// language, as in `mer. juin  7 10:50:55 2023`.
bool is_calendar_time(std::string_view text) {
  constexpr std::size_t kLongest = 48;
  constexpr std::size_t kEnd = 13;  // `10:50:55 2023`
  if (text.size() < kEnd + 2 || text.size() > kLongest) return false;
  const std::string_view end = text.substr(text.size() - kEnd);
  return text[text.size() - kEnd - 1] == ' ' && begins_with_clock(end) && end[8] == ' ' &&
         std::ranges::all_of(end.substr(9), is_digit);
}

// The possible content of the brackets: seconds since boot or since the line before, a time, a task
// (`T1946`, `C12`).
bool is_bracket_prefix(std::string_view text) {
  Scanner inside{text};
  inside.skip_spaces();
  if (is_calendar_time(inside.rest())) return true;
  if (inside.take("+") || inside.take("T") || inside.take("C")) inside.skip_spaces();
  return !inside.at_end() && is_digit(inside.rest().front());
}

// `[   12.345678]`, `[  +0.000844]`, `[ T1946]`, `[Wed Jun  7 10:50:55 2023]`,
// `[2026-04-22T21:30:51Z]:`.
bool take_bracket(Scanner& line) {
  Scanner ahead = line;
  if (!ahead.take("[")) return false;
  const auto inside = ahead.take_while([](char c) { return c != ']' && c != '[' && c != '\n'; });
  if (!is_bracket_prefix(inside) || !ahead.take("]")) return false;
  ahead.take(":");
  line = ahead;
  return true;
}

bool is_iso_date(std::string_view text) {
  return text.size() >= 10 && is_digit(text[0]) && is_digit(text[3]) && text[4] == '-' &&
         is_digit(text[5]) && text[7] == '-' && is_digit(text[8]);
}

// `2024-06-06T10:26:53,958539+08:00 ` of `dmesg --time-format iso` and the journal, also with a
// space between date and time.
bool take_iso_time(Scanner& line) {
  if (!is_iso_date(line.rest())) return false;
  Scanner ahead = line;
  const auto not_space = [](char c) { return c != ' ' && c != '\n'; };
  const auto word = ahead.take_while(not_space);
  if (word.size() == 10 && ahead.take(" ")) ahead.take_while(not_space);
  if (!ahead.sees(" ")) return false;
  line = ahead;
  return true;
}

// `kern  :warn  : ` of `dmesg -x`, and `192.168.11.119: kern: warning: ` of Talos.
bool take_facility(Scanner& line) {
  Scanner ahead = line;
  if (!ahead.sees("kern")) {
    const auto node = ahead.take_while([](char c) { return c != ' ' && c != '\n'; });
    if (!node.ends_with(':') || !ahead.take(" ") || !ahead.sees("kern")) return false;
  }
  ahead.take("kern");
  ahead.skip_spaces();
  if (!ahead.take(":")) return false;
  ahead.skip_spaces();
  if (ahead.take_while(is_letter).empty()) return false;
  ahead.skip_spaces();
  if (!ahead.take(":")) return false;
  line = ahead;
  return true;
}

// `2024-06-06T10:26:53.958539+08:00`
bool is_date_with_clock(std::string_view word) {
  return is_iso_date(word) && word.size() > 11 && begins_with_clock(word.substr(11));
}

// After the clock, as in `Wed Jun  7 10:50:55 2023`.
bool is_year(std::string_view word) {
  return word.size() == 4 && std::ranges::all_of(word, is_digit);
}

// `UTC`, `CEST`
bool is_zone(std::string_view word) {
  return std::ranges::all_of(word, [](char c) { return c >= 'A' && c <= 'Z'; });
}

// `Nov 18 17:26:39 host kernel: `, `host kernel: `, `kernel: `, `1 2024-…Z host kernel - - - `,
// `Wed Jun 7 10:50:55 2023 kern.warn kernel: `. Between the time and the tag there are at most a
// zone or year, the facility and the host. A word with a colon at its end before `kernel:` is
// another program's tag; the line is not the kernel's then.
bool take_syslog_header(Scanner& line) {
  if (line.sees("[")) return false;  // of dmesg
  Scanner ahead = line;
  std::size_t words_before_tag = 0;
  bool has_date = false, has_clock = false, may_be_zone = false;
  for (std::size_t word_count = 0; word_count < kMaxHeaderWords; ++word_count) {
    const Scanner at_word = ahead;
    const auto word = ahead.take_while([](char c) { return c != ' ' && c != '\n'; });
    // sysklogd writes no space before the time of the kernel: `kernel:[12345.678901] `.
    if (word.starts_with("kernel:[") && words_before_tag <= 1) {
      line = at_word;
      return line.take("kernel:");
    }
    if (word == "kernel:" || (word == "kernel" && ahead.take(" - - -"))) {
      if (words_before_tag > 1) return false;
      line = ahead;
      return true;
    }
    if (word.empty() || word.ends_with(':') || !ahead.take(" ")) return false;
    if (is_iso_date(word) && word.contains(',')) return false;  // of dmesg: no host follows
    ahead.skip_spaces();
    has_date =
        has_date || (word_count == 0 && is_digit(word.front())) ||
        ((word_count == 1 || word_count == 2) && is_digit(word.front()) && !word.contains(':'));
    if (has_date && !has_clock && (begins_with_clock(word) || is_date_with_clock(word))) {
      has_clock = may_be_zone = true;
      words_before_tag = 0;
      continue;
    }
    const bool is_of_time = std::exchange(may_be_zone, false) && (is_zone(word) || is_year(word));
    if (!is_of_time && !(has_clock && word.starts_with("kern."))) ++words_before_tag;
  }
  return false;
}

// Takes the log's source and time.
bool take_name_of_log(Scanner& line) {
  return take_facility(line) || take_syslog_header(line) || take_iso_time(line);
}

// Some messages begin like this and no prefix does: they need no further check.
bool begins_message(std::string_view text) {
  constexpr std::array<std::string_view, 5> kBeginnings{"NVRM: ", "nvidia-nvswitch", "amdgpu 0",
                                                        "amdgpu: ", "pcieport "};
  for (const auto beginning : kBeginnings) {
    if (text.starts_with(beginning)) return true;
  }
  return false;
}

// The beginnings of all messages that parse_record() reads.
constexpr std::array<std::string_view, 10> kMessages{
    "NVRM: ",   "nvidia-nvswitch", "nvidia-peermem ", "nvidia_peermem ", "[drm:amdgpu",
    "amdgpu 0", "amdgpu: ",        "pcieport ",       "EDAC ",           "mce: "};

// More messages than a pasted line contains.
constexpr int kMaxMessages = 8;

// Returns the next one from `from` on; npos if there is none.
std::size_t find_message(std::string_view line, std::size_t from) {
  std::size_t first = std::string_view::npos;
  for (const auto beginning : kMessages) first = std::min(first, line.find(beginning, from));
  return first;
}

bool begins_inside_a_word(std::string_view line, std::size_t at) {
  return at > 0 && (is_letter(line[at - 1]) || is_digit(line[at - 1]));
}

// Returns the position after `17:26:39` in the header of a line; npos if there is none. A bracket
// ends the possible header.
std::size_t find_clock(std::string_view line) {
  constexpr std::size_t kLongestDate = 40;
  line = line.substr(0, std::min(line.find('['), kLongestDate));
  for (std::size_t at = 0; at + kClockShape.size() <= line.size(); ++at) {
    const bool begins_word = at == 0 || line[at - 1] == ' ' || line[at - 1] == 'T';
    if (begins_word && begins_with_clock(line.substr(at))) return at + kClockShape.size();
  }
  return std::string_view::npos;
}

std::string_view without_line_end(std::string_view text) {
  while (text.ends_with('\n') || text.ends_with('\r')) text.remove_suffix(1);
  return text;
}

}  // namespace

std::string_view without_seconds(std::string_view text) {
  const Scanner message{without_line_end(text)};
  Scanner ahead = message;
  if (!take_bracket(ahead)) return message.rest();
  ahead.skip_spaces();
  return ahead.rest();
}

std::string_view strip_prefixes(std::string_view record) {
  Scanner line{without_line_end(record)};
  if (begins_message(line.rest()) || line.at_end()) return line.rest();
  Scanner kmsg = line;
  if (take_kmsg(kmsg)) {
    // A record of /dev/kmsg escapes the line breaks in its text: after a real one, the properties
    // of its device begin.
    const std::string_view text = kmsg.take_until('\n');
    return is_of_user_space(line) ? without_seconds(text) : text;
  }
  // One space after each part: a message with more is a continuation of the line before.
  if (take_priority(line)) line.take(" ");
  if (take_name_of_log(line)) line.take(" ");
  for (int i = 0; i < kMaxBrackets && take_bracket(line); ++i) line.take(" ");
  return line.rest();
}

bool is_of_another_program(std::string_view record) {
  const std::size_t behind_clock = find_clock(record);
  if (behind_clock == std::string_view::npos) return false;
  // Only `dmesg --time-format iso` writes a comma there, and it prints only lines of the kernel.
  if (record.substr(behind_clock).starts_with(',')) return false;
  Scanner line{record};
  line.skip_spaces();
  take_priority(line);
  return !take_syslog_header(line);
}

std::string_view find_record(std::string_view line) {
  if (parse_record(line)) return line;
  std::size_t first = std::string_view::npos;
  auto at = find_message(line, 0);
  for (int i = 0; i < kMaxMessages && at != std::string_view::npos; ++i) {
    if (!begins_inside_a_word(line, at)) {
      if (parse_record(line.substr(at))) return line.substr(at);
      first = std::min(first, at);
    }
    at = find_message(line, at + 1);
  }
  // It may be a part of a record.
  return first == std::string_view::npos ? line : line.substr(first);
}

}  // namespace gpuward::xid
