#include <set>

#include "exporter/publish/families.h"
#include "exporter/publish/gpu_labels.h"

namespace gpuward::exporter {
namespace {

using metrics::Family;
using metrics::Type;
using XidKey = std::pair<std::string, std::uint32_t>;  // bus id, code

// Whatever the table says of them, the line itself decides: NVLink5 sub-codes, the driver's own
// verdict.
constexpr bool is_judged_by_its_line(std::uint32_t code) {
  return (code >= 144 && code <= 150) || code == 154;
}

// Codes that can end in an action: from these on, increase() must see the first event, so that they
// are there at 0.
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
  const GpuLabels gpus(snapshot);
  Family total{
      "gpuward_xid_errors_total",
      "Xid errors in the kernel log, kept over restarts; at 0 for codes that can lead to an "
      "action.",
      Type::kCounter,
      {}};
  Family last{"gpuward_xid_last_timestamp_seconds",
              "When the kernel log last had this Xid.",
              Type::kGauge,
              {}};
  for (const auto& [key, counter] : xid_counters(snapshot, catalogue)) {
    Labels labels = gpus.of(key.first);
    labels.emplace_back("xid", std::to_string(key.second));
    if (counter.count != 0) last.samples.push_back({labels, to_seconds(counter.last_seen)});
    total.samples.push_back({std::move(labels), static_cast<double>(counter.count)});
  }
  families.push_back(std::move(total));
  families.push_back(std::move(last));
}

void append_other_events(const Snapshot& snapshot, Families& families) {
  Family sxid{
      "gpuward_sxid_errors_total", "NVSwitch errors (SXid) in the kernel log.", Type::kCounter, {}};
  Family other{"gpuward_kernel_events_total",
               "Other events of GPUs and of the host's hardware in the kernel log.",
               Type::kCounter,
               {}};
  for (const auto& [key, counter] : snapshot.state.counters) {
    const auto count = static_cast<double>(counter.count);
    if (key.kind == xid::Kind::kSxid) {
      sxid.samples.push_back({{{"switch", key.switch_name},
                               {"pci_bus_id", key.pci_bus_id},
                               {"sxid", std::to_string(key.code)}},
                              count});
    } else if (key.kind != xid::Kind::kXid) {
      other.samples.push_back({{{"kind", std::string(xid::to_string(key.kind))},
                                {"label", key.label},
                                {"pci_bus_id", key.pci_bus_id}},
                               count});
    }
  }
  families.push_back(std::move(sxid));
  families.push_back(std::move(other));
}

metrics::Sample policy_sample(const xid::PolicyLine& line) {
  return {{{"xid", std::to_string(line.code)},
           {"severity", std::string(to_string(line.severity))},
           {"action", line.action},
           {"source", line.source}},
          1};
}

void append_policy(const Snapshot& snapshot, const xid::Catalogue& catalogue, Families& families) {
  Family policy{"gpuward_xid_policy_info",
                "What each Xid amounts to on this node, to be joined to the errors by xid.",
                Type::kGauge,
                {}};
  std::set<std::uint32_t> listed;
  for (const xid::PolicyLine& line : catalogue.xid_policy()) {
    policy.samples.push_back(policy_sample(line));
    listed.insert(line.code);
  }
  // A code in no table has been counted: without its line the join would drop it.
  for (const auto& [key, counter] : snapshot.state.counters) {
    if (key.kind != xid::Kind::kXid || !listed.insert(key.code).second) continue;
    policy.samples.push_back(policy_sample({key.code, Severity::kMonitor, "", "unknown"}));
  }
  families.push_back(std::move(policy));
}

}  // namespace

void append_event_families(const Snapshot& snapshot, const xid::Catalogue& catalogue,
                           Families& families) {
  append_xids(snapshot, catalogue, families);
  append_other_events(snapshot, families);
  append_policy(snapshot, catalogue, families);
}

}  // namespace gpuward::exporter
