// Reads kernel-log records. parse_message() is pure and reads one message; if a text log has broken
// a record into several lines, RecordJoiner (joiner.h) joins them first. prefix.cpp reads the
// headers of text logs. Hot path: no allocation for a line that is not an event.
//
// A process chooses its own name, the name of its program and the source of a mount, and the kernel
// prints them all. So a message is recognized by its beginning and by the driver's format; the
// parser never searches the middle of one (tests/testdata/kernel_log/chosen_names.txt lists the
// messages that print such names).
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "core/xid/event.h"

namespace gpuward::xid {

// A message as the kernel or a driver has printed it, with nothing before it. Embedded newlines may
// be real or escaped as \x0a. nullopt: not an event (also for continuation and detail lines).
// Accepts any bytes. Thread-safe.
[[nodiscard]] std::optional<Event> parse_message(std::string_view message);

// One line of a text log, with or without the log's header before the message.
[[nodiscard]] std::optional<Event> parse_record(std::string_view line);

// Returns the message of such a line. Removes one header: of /dev/kmsg, of dmesg, of syslog or the
// journal, or of dmesg within syslog.
[[nodiscard]] std::string_view strip_prefixes(std::string_view line);

// Returns a program's record of /dev/kmsg without the one `[seconds] ` that a line copied from
// dmesg begins with.
[[nodiscard]] std::string_view without_seconds(std::string_view text);

// Whether netfilter may have logged the message: it begins with a text that the author of a rule
// has chosen (127 bytes), followed by the names of two interfaces.
[[nodiscard]] bool is_of_packet_filter(std::string_view message);

// Whether a line of a log of all programs comes from another program: it begins with a time as
// syslog and the journal write it, and has no tag of the kernel. Always false for /dev/kmsg.
[[nodiscard]] bool is_of_another_program(std::string_view record);

// Returns the part of a pasted line from the start of a record: after a date, `[...]`, or any other
// words. Returns the whole line if there is none. Never use it for a log whose lines are evidence:
// it would accept a quoted message as the kernel's.
[[nodiscard]] std::string_view find_record(std::string_view line);

// A line that maps a GPU's bus address to its UUID, read in nvrm.cpp (`NVRM: GPU at PCI:0000:4e:00:
// GPU-…`).
struct UuidLine {
  PciAddress pci;
  std::string uuid;
};
[[nodiscard]] std::optional<UuidLine> parse_uuid_line(std::string_view message);

}  // namespace gpuward::xid
