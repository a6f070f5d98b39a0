#include <algorithm>
#include <map>

#include "exporter/publish/families.h"

namespace gpuward::exporter {
namespace {

using enum metrics::Type;

constexpr std::string_view kNoSuchCounter = "when the driver has no such counter";

// A driver has about forty counters. The limit is needed because the driver chooses the names.
constexpr std::size_t kMostNames = 64;

// `lifespan` is how long the driver caches its numbers: a setting that sysfs lists with the
// counters.
bool is_counter(const std::string& name) { return name != "lifespan"; }

bool may_be_a_name(const std::string& name) {
  return !name.empty() && std::ranges::all_of(name, [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_';
  });
}

using ByName = std::map<std::string, std::vector<metrics::Sample>>;

// Returns the samples of all EFA devices by counter name.
ByName efa_counters(const Snapshot& snapshot) {
  ByName by_name;
  for (const RdmaReading& reading : snapshot.rdma) {
    if (!reading.is_efa) continue;
    for (const auto& [port, counters] : reading.counters) {
      for (const auto& [name, value] : counters) {
        if (!may_be_a_name(name)) continue;
        if (by_name.size() >= kMostNames && !by_name.contains(name)) continue;
        by_name[name].push_back({{reading.device, port}, static_cast<double>(value)});
      }
    }
  }
  return by_name;
}

// Replaces `COUNTER` in the declared name by the driver's counter name.
void append_efa(const metrics::Declaration& declared, const std::string& counter,
                const std::vector<metrics::Sample>& samples, Families& families) {
  constexpr std::string_view kPlaceholder = "COUNTER";
  metrics::Family& family = declare(families, declared);
  family.name.replace(family.name.find(kPlaceholder), kPlaceholder.size(), counter);
  family.samples = samples;
}

void append_compat(const Snapshot& snapshot, const ByName& counters, Families& families) {
  auto& info =
      declare(families,
              {"node_amazonefa_info", "1 for each EFA device.", kGauge, {"device"}, "without EFA"});
  for (const RdmaReading& reading : snapshot.rdma) {
    if (reading.is_efa) info.add({reading.device}, 1);
  }
  for (const auto& [name, samples] : counters) {
    append_efa({"node_amazonefa_COUNTER",
                "Same as `gpuward_efa_COUNTER_total`, but with `lifespan`.",
                kCounter,
                {"device", "port"},
                kNoSuchCounter},
               name, samples, families);
  }
}

// For other RDMA devices the counter name is a label, because each driver has its own names.
void append_others(const Snapshot& snapshot, Families& families) {
  auto& others =
      declare(families, {"gpuward_rdma_hw_counters_total",
                         "Counters of other RDMA devices, with their driver's counter names; at "
                         "most 64 per port.",
                         kCounter,
                         {"device", "port", "counter"},
                         "without such devices"});
  for (const RdmaReading& reading : snapshot.rdma) {
    if (reading.is_efa) continue;
    for (const auto& [port, counters] : reading.counters) {
      std::size_t taken = 0;
      for (const auto& [name, value] : counters) {
        if (!is_counter(name) || !may_be_a_name(name) || ++taken > kMostNames) continue;
        others.add({reading.device, port, name}, value);
      }
    }
  }
}

constexpr double kBytesInGigabit = 1e9 / 8;

void append_ports(const Snapshot& snapshot, Families& families) {
  auto& state = declare(families, {"gpuward_rdma_port_state",
                                   "Logical state: 1 down, 2 init, 3 armed, 4 active.",
                                   kGauge,
                                   {"device", "port"},
                                   "for EFA, whose driver always reports active"});
  auto& physical =
      declare(families, {"gpuward_rdma_port_physical_state",
                         "Physical state, with InfiniBand's numbers: 3 disabled, 5 link up.",
                         kGauge,
                         {"device", "port"},
                         "for EFA"});
  auto& rate = declare(families, {"gpuward_rdma_port_rate_bytes_per_second",
                                  "Link speed of the port.",
                                  kGauge,
                                  {"device", "port"},
                                  "for EFA"});
  for (const RdmaReading& reading : snapshot.rdma) {
    for (const auto& [number, port] : reading.ports) {
      state.add({reading.device, number}, port.state);
      physical.add({reading.device, number}, port.phys_state);
      if (port.rate_gbits) rate.add({reading.device, number}, *port.rate_gbits * kBytesInGigabit);
    }
  }
}

}  // namespace

void append_rdma_families(const Snapshot& snapshot, const MetricsOptions& options,
                          Families& families) {
  auto& info = declare(families, {"gpuward_rdma_device_info",
                                  "1; `kind` is `efa` or `other`.",
                                  kGauge,
                                  {"device", "pci_bus_id", "kind"},
                                  "without RDMA devices"});
  for (const RdmaReading& reading : snapshot.rdma)
    info.add({reading.device, reading.pci_bus_id, reading.is_efa ? "efa" : "other"}, 1);
  append_ports(snapshot, families);
  const ByName efa = efa_counters(snapshot);
  for (const auto& [name, samples] : efa) {
    if (!is_counter(name)) continue;
    append_efa({"gpuward_efa_COUNTER_total",
                "A counter of the EFA driver; `port` is empty for a counter of the whole device.",
                kCounter,
                {"device", "port"},
                kNoSuchCounter},
               name, samples, families);
  }
  if (options.efa_compat) append_compat(snapshot, efa, families);
  append_others(snapshot, families);
}

}  // namespace gpuward::exporter
