// What stands in front of a kernel message, by who wrote the log down. Prefixes can be stacked: a
// log that was written into another log carries both.
#include <algorithm>
#include <array>

#include "core/xid/parser.h"
#include "core/xid/scanner.h"

namespace gpuward::xid {
namespace {

// More than any real log has stacked.
constexpr int kMaxPrefixes = 8;
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

// `<4>` of a raw syslog.
bool take_priority(Scanner& line) {
  Scanner ahead = line;
  if (!ahead.take("<") || ahead.take_while(is_digit).empty() || !ahead.take(">")) return false;
  line = ahead;
  return true;
}

// `Wed Jun  7 10:50:55 2023`, as `dmesg -T` writes it.
bool is_calendar_time(std::string_view text) {
  return text.size() >= 24 && text.size() <= 28 && text[3] == ' ' && text[7] == ' ' &&
         is_digit(text.back()) && text.contains(':');
}

// What may stand in the brackets: seconds since boot or since the line before, a time, a task
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
  if (!ahead.take(" ")) return false;
  if (word.size() == 10) ahead.take_while(not_space);
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

// `Nov 18 17:26:39 host kernel: `, `host kernel: `, `kernel: `, `1 2024-…Z host kernel - - - `. A
// word that ends in a colon before `kernel:` is another program's tag, and then the line is not the
// kernel's.
bool take_syslog_header(Scanner& line) {
  Scanner ahead = line;
  for (std::size_t word_count = 0; word_count < kMaxHeaderWords; ++word_count) {
    const auto word = ahead.take_while([](char c) { return c != ' ' && c != '\n'; });
    if (word == "kernel:" || (word == "kernel" && ahead.take(" - - -"))) {
      line = ahead;
      return true;
    }
    if (word.empty() || word.ends_with(':') || !ahead.take(" ")) return false;
    ahead.skip_spaces();
  }
  return false;
}

bool take_prefix(Scanner& line) {
  if (line.at_end()) return false;
  const char first = line.rest().front();
  if (first == '[') return take_bracket(line);
  if (first == '<') return take_priority(line);
  if (is_digit(first) && (take_kmsg(line) || take_iso_time(line))) return true;
  return take_facility(line) || take_syslog_header(line);
}

// The messages that are ours begin like this, and no prefix does: they need no further look.
bool begins_message(std::string_view text) {
  constexpr std::array<std::string_view, 5> kBeginnings{"NVRM: ", "nvidia-nvswitch", "amdgpu 0",
                                                        "amdgpu: ", "pcieport "};
  for (const auto beginning : kBeginnings) {
    if (text.starts_with(beginning)) return true;
  }
  return false;
}

// How all messages begin that parse_record() knows.
constexpr std::array<std::string_view, 10> kMessages{
    "NVRM: ",   "nvidia-nvswitch", "nvidia-peermem ", "nvidia_peermem ", "[drm:amdgpu",
    "amdgpu 0", "amdgpu: ",        "pcieport ",       "EDAC ",           "mce: "};

// More than any line has that a person pasted.
constexpr int kMaxMessages = 8;

// The next one from `from` on; npos where there is none.
std::size_t find_message(std::string_view line, std::size_t from) {
  std::size_t first = std::string_view::npos;
  for (const auto beginning : kMessages) first = std::min(first, line.find(beginning, from));
  return first;
}

bool begins_inside_a_word(std::string_view line, std::size_t at) {
  return at > 0 && (is_letter(line[at - 1]) || is_digit(line[at - 1]));
}

// Where `17:26:39` stands in the header of a line, behind its date; npos where it has none. A
// bracket ends what may be a header.
std::size_t find_clock(std::string_view line) {
  constexpr std::size_t kLongestDate = 40;
  constexpr std::string_view kShape = "00:00:00";
  line = line.substr(0, std::min(line.find('['), kLongestDate));
  for (std::size_t at = 0; at + kShape.size() <= line.size(); ++at) {
    const bool begins_word = at == 0 || line[at - 1] == ' ' || line[at - 1] == 'T';
    const bool is_clock =
        begins_word &&
        std::ranges::equal(line.substr(at, kShape.size()), kShape, [](char have, char want) {
          return want == ':' ? have == ':' : is_digit(have);
        });
    if (is_clock) return at + kShape.size();
  }
  return std::string_view::npos;
}

std::string_view without_line_end(std::string_view text) {
  while (text.ends_with('\n') || text.ends_with('\r')) text.remove_suffix(1);
  return text;
}

}  // namespace

std::string_view strip_prefixes(std::string_view record) {
  Scanner line{without_line_end(record)};
  // A record of /dev/kmsg escapes the line breaks in its text: a real one begins the device's
  // properties.
  Scanner kmsg = line;
  if (take_kmsg(kmsg)) line = Scanner{kmsg.take_until('\n')};
  line.skip_spaces();
  for (int i = 0; i < kMaxPrefixes && !begins_message(line.rest()) && take_prefix(line); ++i)
    line.skip_spaces();
  return line.rest();
}

bool is_of_another_program(std::string_view record) {
  const std::size_t behind_clock = find_clock(record);
  if (behind_clock == std::string_view::npos) return false;
  // `dmesg --time-format iso` alone has a comma there, and the kernel's lines alone.
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
  // A part of a record, perhaps.
  return first == std::string_view::npos ? line : line.substr(first);
}

}  // namespace gpuward::xid
