#include "core/xid/catalogue.h"
#include "core/xid/joiner.h"
#include "core/xid/parser.h"
#include "tests/fuzz/target.h"

namespace gpuward::fuzz {
namespace {

bool lies_within(std::string_view part, std::string_view whole) {
  return part.empty() ||
         (part.data() >= whole.data() && part.data() + part.size() <= whole.data() + whole.size());
}

void check_event(const xid::Event& event, std::string_view record) {
  static const xid::Catalogue by_default;
  static const xid::Catalogue by_seed({.profile = xid::Profile::kSeed});
  const bool numbered = event.kind == xid::Kind::kXid || event.kind == xid::Kind::kSxid;
  hold(numbered || !event.label.empty(), "an event has a number or a label");
  hold(event.kind != xid::Kind::kXid || event.code <= 99'999, "an Xid has at most five digits");
  hold(event.process.value_or("").size() <= record.size(), "a process is named in the record");
  hold(event.unit.size() <= record.size() && event.label.size() <= 64, "text is bounded");
  hold(event.registers.size() <= 16, "registers are bounded");
  for (const auto* catalogue : {&by_default, &by_seed}) {
    const auto verdict = catalogue->judge(event, "NVIDIA A100-SXM4-80GB");
    hold(!verdict.action.empty() && !verdict.why.empty() && !verdict.source.empty(),
         "a verdict has its reasons");
    hold(verdict.known || verdict.severity == Severity::kMonitor,
         "what nobody knows is only watched");
  }
}

void check_record(std::string_view record) {
  hold(lies_within(xid::strip_prefixes(record), record), "a message is a part of its record");
  const auto event = xid::parse_record(record);
  if (event) check_event(*event, record);
  const auto uuid = xid::parse_uuid_line(xid::strip_prefixes(record));
  hold(!uuid || !event, "a line that names a GPU is no event");
}

void check_lines(std::string_view text) {
  xid::RecordJoiner joiner;
  std::uint64_t number = 0;
  while (!text.empty()) {
    const auto end = text.find('\n');
    const auto record = joiner.push(text.substr(0, end));
    hold(record.line >= 1 && record.line <= ++number, "a record begins at a line that was read");
    check_record(record.text);
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  }
}

}  // namespace

void check_input(std::string_view input) {
  check_record(input);
  check_lines(input);
}

}  // namespace gpuward::fuzz
