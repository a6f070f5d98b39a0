// Reads kernel-log records. parse_record() is pure and knows one record; where the kernel broke one
// into several lines of a text log, RecordJoiner (joiner.h) puts them together before. Prefixes are
// read in prefix.cpp. Hot path: no allocation for a line that is not ours.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "core/xid/event.h"

namespace gpuward::xid {

// One record, with or without the prefixes of /dev/kmsg, dmesg, syslog, journald. Embedded newlines
// may be real or escaped as \x0a. nullopt: not an event (also for continuation and detail lines).
// Any bytes are accepted. Thread-safe.
[[nodiscard]] std::optional<Event> parse_record(std::string_view record);

// The message of a record, without prefixes: what is shown as evidence.
[[nodiscard]] std::string_view strip_prefixes(std::string_view record);

// Whether a line of a log that has all programs in it is another program's: there is a time in
// front, as syslog and the journal write it, and no tag of the kernel. Never true of /dev/kmsg.
[[nodiscard]] bool is_of_another_program(std::string_view record);

// The part of a line that a person pasted from which on it is a record: behind a date, `[...]`, or
// any words of theirs. The line as it is where there is none. Never for a log whose lines are
// evidence: whoever quotes a message is taken for the kernel.
[[nodiscard]] std::string_view find_record(std::string_view line);

// A GPU's bus-to-UUID line, read in nvrm.cpp (`NVRM: GPU at PCI:0000:4e:00: GPU-…`).
struct UuidLine {
  PciAddress pci;
  std::string uuid;
};
[[nodiscard]] std::optional<UuidLine> parse_uuid_line(std::string_view record);

}  // namespace gpuward::xid
