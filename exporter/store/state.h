// What the exporter remembers over restarts: counters, latched findings, how far the kernel log has
// been read, and how many GPUs the machine has had. One value, kept as a whole in one file, so that
// a crash can never separate a count from the position that goes with it.
#pragma once

#include <compare>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "core/model/check_result.h"
#include "core/model/finding.h"
#include "core/xid/event.h"
#include "exporter/kernel_log/source.h"
#include "exporter/store/known_machine.h"

namespace gpuward::exporter {

struct CounterKey {
  xid::Kind kind = xid::Kind::kXid;
  std::uint32_t code = 0;
  std::string label;
  std::string pci_bus_id;   // empty where the line names no device
  std::string switch_name;  // SXids only
  auto operator<=>(const CounterKey&) const = default;
};

struct Counter {
  std::uint64_t count = 0;
  WallTime last_seen;
};

// A line of user space and one of the kernel are two findings: the first may not borrow the
// standing of the second.
struct FindingKey {
  std::string check;
  std::string code;
  std::string pci_bus_id;
  Evidence evidence = Evidence::kKernel;
  auto operator<=>(const FindingKey&) const = default;
};

struct State {
  std::string boot_id;
  LogPosition position;
  std::map<CounterKey, Counter> counters;  // never fall, not even over a reboot
  std::map<FindingKey, Finding> findings;
  // Finding::event of what somebody has cleared: until there is another, it does not come back.
  std::map<FindingKey, std::string> settled;
  std::map<std::string, std::string> uuids;   // by bus id, as the kernel log has named them
  std::map<std::string, std::string> boards;  // by bus id: the UUID that the driver gave last
  std::string boards_boot_id;                 // the boot in which it gave one last
  // The newest result of each check, by name, without its findings: those are above.
  std::map<std::string, CheckResult> checks;
  std::uint64_t dropped_events = 0;  // not counted because a cap was reached
  KnownMachine machine;
  WallTime findings_updated;  // when a finding last came, changed or went
};

// Checks 1 and 4: what one of them has passed the other need not say again.
[[nodiscard]] inline bool is_dcgm_diagnostic(std::string_view check) {
  return check == "1-dcgm-diag-l2" || check == "4-dcgm-diag-l4";
}

}  // namespace gpuward::exporter
