#include <algorithm>
#include <map>

#include "exporter/publish/families.h"
#include "exporter/publish/gpu_labels.h"

namespace gpuward::exporter {
namespace {

using metrics::Family;
using metrics::Type;

// A driver has some forty of them; the names are its own, so that there is a limit.
constexpr std::size_t kMostNames = 64;

// How long the driver keeps its own numbers: a setting that sysfs shows among the counters.
bool is_counter(const std::string& name) { return name != "lifespan"; }

bool may_be_a_name(const std::string& name) {
  return !name.empty() && std::ranges::all_of(name, [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_';
  });
}

using ByName = std::map<std::string, std::vector<metrics::Sample>>;

// The samples of all EFA devices by the counter's name.
ByName efa_counters(const Snapshot& snapshot) {
  ByName by_name;
  for (const RdmaReading& reading : snapshot.rdma) {
    if (!reading.is_efa) continue;
    for (const auto& [port, counters] : reading.counters) {
      for (const auto& [name, value] : counters) {
        if (!may_be_a_name(name)) continue;
        if (by_name.size() >= kMostNames && !by_name.contains(name)) continue;
        by_name[name].push_back(
            {{{"device", reading.device}, {"port", port}}, static_cast<double>(value)});
      }
    }
  }
  return by_name;
}

void append_efa(const ByName& counters, Families& families) {
  for (const auto& [name, samples] : counters) {
    if (!is_counter(name)) continue;
    families.push_back({"gpuward_efa_" + name + "_total",
                        "The EFA driver's counter " + name + ", since it was loaded.",
                        Type::kCounter, samples});
  }
}

void append_compat(const Snapshot& snapshot, const ByName& counters, Families& families) {
  Family info{"node_amazonefa_info", "The EFA devices of the node.", Type::kGauge, {}};
  for (const RdmaReading& reading : snapshot.rdma) {
    if (reading.is_efa) info.samples.push_back({{{"device", reading.device}}, 1});
  }
  families.push_back(std::move(info));
  for (const auto& [name, samples] : counters) {
    families.push_back({"node_amazonefa_" + name, "The EFA driver's counter " + name + ".",
                        Type::kCounter, samples});
  }
}

// Other RDMA devices: each driver has names of its own, so that they are a label here.
void append_others(const Snapshot& snapshot, Families& families) {
  Family others{"gpuward_rdma_hw_counters_total",
                "Counters of RDMA devices other than EFA, by the driver's name for them.",
                Type::kCounter,
                {}};
  for (const RdmaReading& reading : snapshot.rdma) {
    if (reading.is_efa) continue;
    for (const auto& [port, counters] : reading.counters) {
      std::size_t taken = 0;
      for (const auto& [name, value] : counters) {
        if (!is_counter(name) || !may_be_a_name(name) || ++taken > kMostNames) continue;
        others.samples.push_back({{{"device", reading.device}, {"port", port}, {"counter", name}},
                                  static_cast<double>(value)});
      }
    }
  }
  families.push_back(std::move(others));
}

constexpr double kBytesInGigabit = 1e9 / 8;

void append_ports(const Snapshot& snapshot, Families& families) {
  Family state{"gpuward_rdma_port_state",
               "The port's logical state: 1 down, 2 init, 3 armed, 4 active.",
               Type::kGauge,
               {}};
  Family physical{"gpuward_rdma_port_physical_state",
                  "The port's physical state, as InfiniBand numbers it: 3 disabled, 5 link up.",
                  Type::kGauge,
                  {}};
  Family rate{
      "gpuward_rdma_port_rate_bytes_per_second", "How fast the port's link is.", Type::kGauge, {}};
  for (const RdmaReading& reading : snapshot.rdma) {
    for (const auto& [number, port] : reading.ports) {
      const Labels labels{{"device", reading.device}, {"port", number}};
      if (port.state) state.samples.push_back({labels, static_cast<double>(*port.state)});
      if (port.phys_state) {
        physical.samples.push_back({labels, static_cast<double>(*port.phys_state)});
      }
      if (port.rate_gbits) rate.samples.push_back({labels, *port.rate_gbits * kBytesInGigabit});
    }
  }
  for (Family* family : {&state, &physical, &rate}) families.push_back(std::move(*family));
}

}  // namespace

void append_rdma_families(const Snapshot& snapshot, const MetricsOptions& options,
                          Families& families) {
  Family info{"gpuward_rdma_device_info", "The RDMA devices of the node.", Type::kGauge, {}};
  for (const RdmaReading& reading : snapshot.rdma) {
    info.samples.push_back({{{"device", reading.device},
                             {"pci_bus_id", reading.pci_bus_id},
                             {"kind", reading.is_efa ? "efa" : "other"}},
                            1});
  }
  families.push_back(std::move(info));
  append_ports(snapshot, families);
  const ByName efa = efa_counters(snapshot);
  append_efa(efa, families);
  if (options.efa_compat) append_compat(snapshot, efa, families);
  append_others(snapshot, families);
}

}  // namespace gpuward::exporter
