#include "core/xid/joiner.h"

#include "core/xid/parser.h"
#include "core/xid/scanner.h"

namespace gpuward::xid {
namespace {

constexpr std::string_view kHead = "NVRM: The NVIDIA GPU ";
constexpr std::string_view kTail = "NVRM: fallen off the bus";
constexpr std::size_t kMaxHead = 128;

}  // namespace

bool RecordJoiner::begins(std::string_view message) {
  return message.starts_with(kHead) && !message.contains("fallen off the bus");
}

bool RecordJoiner::completes(std::string_view message) {
  return is_open() && message.starts_with(kTail);
}

RecordJoiner::Record RecordJoiner::push(std::string_view line) {
  ++line_;
  // The kernel repeats `NVRM:` on each part, so a line without it is neither head nor tail.
  if (head_.empty() && !line.contains(kHead)) return {line, line_};
  // dmesg indents the lines after the first.
  Scanner text{line};
  text.skip_spaces();
  const auto message = strip_prefixes(text.rest());
  if (begins(message)) {
    head_ = message.substr(0, kMaxHead);
    head_line_ = line_;
    return {line, line_};
  }
  if (!completes(message)) return {line, line_};
  joined_ = head_ + "\n" + std::string{message.substr(0, kMaxHead)};
  head_.clear();
  return {joined_, head_line_};
}

}  // namespace gpuward::xid
