// One record of /dev/kmsg: `prio,sequence,microseconds,flags[,more];text`, then lines of `
// KEY=value` (Documentation/ABI/testing/dev-kmsg of Linux). The kernel escapes line breaks in the
// text, so only it can write these lines: dev_printk() names its device there. Pure; used by
// KmsgReader and FileFollower.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string_view>

namespace gpuward::exporter {

struct KmsgRecord {
  unsigned priority = 0;  // syslog facility * 8 + level
  std::uint64_t sequence = 0;
  std::chrono::microseconds since_boot{0};
  char flag = '-';        // 'c' and '+': a piece of a line
  std::string_view text;  // of the first line; points into the record
  // ` DEVICE=+pci:0000:4e:00.0` as `0000:4e:00.0`; empty if it names none on the PCI bus.
  std::string_view pci_device;

  // The kernel gives text written to /dev/kmsg the facility `user`, or the one that the writer
  // requests, but never facility 0, its own.
  [[nodiscard]] bool is_from_user_space() const { return priority > 7; }
};

// nullopt for anything else. Skips unknown fields before the semicolon, as the ABI requires.
[[nodiscard]] std::optional<KmsgRecord> parse_kmsg_record(std::string_view raw);

}  // namespace gpuward::exporter
