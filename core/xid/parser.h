// Reads kernel-log records. parse_message() is pure and knows one message; if a text log has broken
// a record into several lines, RecordJoiner (joiner.h) puts them together before. Headers of text
// logs are read in prefix.cpp. Hot path: no allocation for a line that is not ours.
//
// A process chooses its own name, that of its program and the source of a mount, and the kernel
// prints them all. So a message counts by its beginning and by the shape that the driver gives it,
// and nothing is searched for in the middle of one (tests/testdata/kernel_log/chosen_names.txt has
// what prints such names).
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "core/xid/event.h"

namespace gpuward::xid {

// A message as the kernel or a driver has printed it: nothing is in front of it. Embedded newlines
// may be real or escaped as \x0a. nullopt: not an event (also for continuation and detail lines).
// Any bytes are accepted. Thread-safe.
[[nodiscard]] std::optional<Event> parse_message(std::string_view message);

// One line of a text log, with the header that the log puts in front of a message, or without.
[[nodiscard]] std::optional<Event> parse_record(std::string_view line);

// The message of such a line. A header is taken off once: of /dev/kmsg, of dmesg, of syslog or the
// journal, or of dmesg within syslog.
[[nodiscard]] std::string_view strip_prefixes(std::string_view line);

// A program's record of /dev/kmsg without the one `[seconds] ` that it may begin with: a line that
// was copied out of dmesg has it.
[[nodiscard]] std::string_view without_seconds(std::string_view text);

// Whether a message may be one that netfilter logs: it begins with a text that the owner of a rule
// has chosen (127 bytes), and has the names of two interfaces behind it.
[[nodiscard]] bool is_of_packet_filter(std::string_view message);

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
[[nodiscard]] std::optional<UuidLine> parse_uuid_line(std::string_view message);

}  // namespace gpuward::xid
