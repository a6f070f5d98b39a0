#include <set>

#include "exporter/publish/families.h"
#include "exporter/publish/gpu_labels.h"

namespace gpuward::exporter {
namespace {

using enum metrics::Type;
using XidKey = std::pair<std::string, std::uint32_t>;  // bus id, code

constexpr std::string_view kUntilSeen = "until seen";

// The line overrides the severity of the table for these: NVLink5 sub-codes, the driver's own
// verdict.
constexpr bool is_judged_by_its_line(std::uint32_t code) {
  return (code >= 144 && code <= 150) || code == 154;
}

// Codes that can lead to an action have a series at 0 from the start, so that increase() sees the
// first event.
bool is_actionable(const xid::PolicyLine& line) {
  return line.severity >= Severity::kReset || is_judged_by_its_line(line.code);
}

std::map<XidKey, Counter> xid_counters(const Snapshot& snapshot, const xid::Catalogue& catalogue) {
  std::map<XidKey, Counter> counters;
  for (const xid::PolicyLine& line : catalogue.xid_policy()) {
    if (!is_actionable(line)) continue;
    for (const Gpu& gpu : snapshot.gpus) {
      if (gpu.vendor == Vendor::kNvidia) counters[{gpu.pci.bus_id(), line.code}] = {};
    }
  }
  for (const auto& [key, counter] : snapshot.state.counters) {
    if (key.kind == xid::Kind::kXid) counters[{key.pci_bus_id, key.code}] = counter;
  }
  return counters;
}

void append_xids(const Snapshot& snapshot, const xid::Catalogue& catalogue, Families& families) {
  constexpr metrics::LabelNames kLabels = {"gpu", "uuid", "pci_bus_id", "xid"};
  const GpuLabels gpus(snapshot);
  auto& total = declare(
      families, {"gpuward_xid_errors_total",
                 "Xid errors in the kernel log. Kept across restarts of the exporter and reboots. "
                 "Lines written by user space count too, unless they are refused.",
                 kCounter, kLabels,
                 "until seen; always present (0) for NVIDIA GPUs in the inventory and codes that "
                 "can lead to an action, so that `increase()` counts the first one"});
  auto& last = declare(
      families, {"gpuward_xid_last_timestamp_seconds",
                 "When this Xid was last seen in the kernel log.", kGauge, kLabels, kUntilSeen});
  for (const auto& [key, counter] : xid_counters(snapshot, catalogue)) {
    const auto& [bus_id, code] = key;
    if (counter.count != 0) last.add(gpus.of(bus_id), {std::to_string(code)}, counter.last_seen);
    total.add(gpus.of(bus_id), {std::to_string(code)}, counter.count);
  }
}

void append_other_events(const Snapshot& snapshot, Families& families) {
  auto& sxid = declare(families, {"gpuward_sxid_errors_total",
                                  "NVSwitch errors (SXid) in the kernel log; `switch` is the "
                                  "driver's name, such as `nvidia-nvswitch3`.",
                                  kCounter,
                                  {"switch", "pci_bus_id", "sxid"},
                                  kUntilSeen});
  auto& other = declare(families, {"gpuward_kernel_events_total",
                                   "Other events in the kernel log: `rm_init`, `nvrm`, "
                                   "`peermem`, `amd_ras`, `amd_reset`, `amd_hang`, `amd_lost`, "
                                   "`aer`, `edac`, `mce`, `kernel_rule` (`docs/xid.md`).",
                                   kCounter,
                                   {"kind", "label", "pci_bus_id"},
                                   kUntilSeen});
  for (const auto& [key, counter] : snapshot.state.counters) {
    if (key.kind == xid::Kind::kSxid) {
      sxid.add({key.switch_name, key.pci_bus_id, std::to_string(key.code)}, counter.count);
    } else if (key.kind != xid::Kind::kXid) {
      other.add({xid::to_string(key.kind), key.label, key.pci_bus_id}, counter.count);
    }
  }
}

void append_policy(const Snapshot& snapshot, const xid::Catalogue& catalogue, Families& families) {
  auto& policy = declare(families, {"gpuward_xid_policy_info",
                                    "What each Xid means on this node. Join it to the errors: `* "
                                    "on (node, xid) group_left (severity) "
                                    "gpuward_xid_policy_info`.",
                                    kGauge,
                                    {"xid", "severity", "action", "source"}});
  const auto add = [&](const xid::PolicyLine& line) {
    policy.add({std::to_string(line.code), to_string(line.severity), line.action, line.source}, 1);
  };
  std::set<std::uint32_t> listed;
  for (const xid::PolicyLine& line : catalogue.xid_policy()) {
    add(line);
    listed.insert(line.code);
  }
  // A counted code that is in no table also needs a line here, or the join would drop it.
  for (const auto& [key, counter] : snapshot.state.counters) {
    if (key.kind != xid::Kind::kXid || !listed.insert(key.code).second) continue;
    add({key.code, Severity::kMonitor, "", "unknown"});
  }
}

}  // namespace

void append_event_families(const Snapshot& snapshot, const xid::Catalogue& catalogue,
                           Families& families) {
  append_xids(snapshot, catalogue, families);
  append_other_events(snapshot, families);
  append_policy(snapshot, catalogue, families);
}

}  // namespace gpuward::exporter
