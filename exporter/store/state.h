// The state that the exporter keeps over restarts: counters, latched findings, the position in the
// kernel log, and how many GPUs the machine has had. It is one value in one file, so that a crash
// can never separate a count from its position.
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
  std::string pci_bus_id;   // empty if the line names no device
  std::string switch_name;  // SXids only
  auto operator<=>(const CounterKey&) const = default;
};

struct Counter {
  std::uint64_t count = 0;
  WallTime last_seen;
};

// Lines of user space and of the kernel are separate findings, so that the first cannot pass for
// the second.
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
  std::map<CounterKey, Counter> counters;  // a reboot keeps them; a swapped board resets its own
  std::map<FindingKey, Finding> findings;
  // Finding::event of cleared findings, which only return with another event.
  std::map<FindingKey, std::string> settled;
  std::map<std::string, std::string> uuids;   // by bus id, from the kernel log
  std::map<std::string, std::string> boards;  // by bus id: the last UUID from the driver
  std::string boards_boot_id;                 // the boot of the last UUID from the driver
  // The newest result of each check by name, without its findings, which are above.
  std::map<std::string, CheckResult> checks;
  std::uint64_t dropped_events = 0;  // not counted because a cap was reached
  KnownMachine machine;
  WallTime findings_updated;  // when a finding last came, changed or went
};

// Checks 1 and 4: a pass of one of them also covers the other.
[[nodiscard]] inline bool is_dcgm_diagnostic(std::string_view check) {
  return check == "1-dcgm-diag-l2" || check == "4-dcgm-diag-l4";
}

}  // namespace gpuward::exporter
