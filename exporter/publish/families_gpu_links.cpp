#include <array>

#include "exporter/publish/families_gpu.h"

namespace gpuward::exporter {
namespace {

using enum metrics::Type;
using Reading = const GpuReading&;
using LinkCount = Maybe<std::uint64_t> Link::*;

struct LinkError {
  std::string_view error;
  LinkCount count;
};

constexpr std::array kLinkErrors{
    LinkError{"replay", &Link::replay_errors},     LinkError{"recovery", &Link::recovery_errors},
    LinkError{"crc_flit", &Link::crc_flit_errors}, LinkError{"crc_data", &Link::crc_data_errors},
    LinkError{"symbol", &Link::symbol_errors},     LinkError{"effective", &Link::effective_errors},
};

// Returns the sum over all links that have the counter; absent if an active link lacks it, because
// the sum would not be comparable without that link.
Maybe<double> sum_of(const std::vector<Link>& links, LinkCount count) {
  Maybe<double> sum;
  for (const Link& link : links) {
    if (const Maybe<double> errors = number(link.*count)) {
      sum = sum.value_or(0) + *errors;
    } else if (link.active.value_or(true)) {
      return std::nullopt;
    }
  }
  return sum;
}

template <std::size_t kIndex>
Maybe<double> errors_of(Reading reading) {
  return sum_of(reading.links, kLinkErrors[kIndex].count);
}

Maybe<double> active_links(Reading reading) {
  Maybe<double> active;
  for (const Link& link : reading.links) {
    if (link.active) active = active.value_or(0) + (*link.active ? 1 : 0);
  }
  return active;
}

template <std::size_t kIndex>
constexpr ReadingColumn error_column(metrics::Declaration family = {}) {
  return {.family = family, .labels = {kLinkErrors[kIndex].error}, .value = &errors_of<kIndex>};
}

constexpr auto kLinkColumns = std::to_array<ReadingColumn>({
    {.family = {"gpuward_gpu_links", "Links (NVLink, XGMI) that the driver knows of."},
     .value =
         [](Reading r) { return r.links.empty() ? std::nullopt : Maybe<double>(r.links.size()); }},
    {.family = {"gpuward_gpu_links_active", "How many of the GPU's links are up."},
     .value = &active_links},
    error_column<0>({"gpuward_gpu_link_errors_total",
                     "Errors of all links: `replay`, `recovery`, `crc_flit`, `crc_data`, and from "
                     "NVLink 5 on `symbol`, `effective`. When a link goes down, its errors drop "
                     "out of the sum, which Prometheus treats as a counter reset.",
                     kCounter,
                     {"error"},
                     "when an active link does not report it"}),
    error_column<1>(),
    error_column<2>(),
    error_column<3>(),
    error_column<4>(),
    error_column<5>(),
});

// Two bits of NVML's fabric health mask (nvml.h, NVML_GPU_FABRIC_HEALTH_MASK_*): 0 not supported, 1
// true, 2 false.
template <unsigned kShift>
Maybe<double> fabric_fault(Reading reading) {
  if (!reading.fabric.health_mask) return std::nullopt;
  const std::uint32_t value = (*reading.fabric.health_mask >> kShift) & 3U;
  if (value != 1 && value != 2) return std::nullopt;
  return value == 1 ? 1 : 0;
}

// Four bits of the same mask: 0 not supported, 1 none.
Maybe<double> fabric_misconfiguration(Reading reading) {
  if (!reading.fabric.health_mask) return std::nullopt;
  const std::uint32_t value = (*reading.fabric.health_mask >> 8U) & 0xFU;
  return value == 0 ? std::nullopt : Maybe<double>(value);
}

constexpr std::string_view kFabricIsSilent = "when the fabric does not report it";

constexpr auto kFabric = std::to_array<ReadingColumn>({
    {.family = {"gpuward_gpu_fabric_state",
                "State of joining the NVSwitch fabric: 0 not supported, 1 not started, 2 in "
                "progress, 3 completed."},
     .value = [](Reading r) { return number(r.fabric.state); }},
    {.family = {"gpuward_gpu_fabric_status",
                "Result of joining the fabric, as an NVML return code: 0 is success."},
     .value = [](Reading r) { return number(r.fabric.status); }},
    {.family =
         {"gpuward_gpu_fabric_health",
          "Health of the fabric as the GPU sees it: 0 not supported, 1 healthy, 2 unhealthy, 3 "
          "limited capacity."},
     .value = [](Reading r) { return number(r.fabric.health_summary); }},
    {.family = {"gpuward_gpu_fabric_misconfiguration",
                "Fabric misconfiguration that the GPU reports, with NVML's numbers: 1 none, 2 "
                "system GUID, 3 chassis serial number, 4 no partition, 5 too few NVLinks, 6 GPU "
                "firmware, 7 location, 8 GPU state.",
                kGauge,
                {},
                kFabricIsSilent},
     .value = &fabric_misconfiguration},
    {.family = {"gpuward_gpu_fabric_fault",
                "Whether the GPU reports this fabric fault: `degraded_bandwidth`, "
                "`route_recovery`, `route_unhealthy`, `access_timeout`.",
                kGauge,
                {"fault"},
                kFabricIsSilent},
     .labels = {"degraded_bandwidth"},
     .value = &fabric_fault<0>},
    {.labels = {"route_recovery"}, .value = &fabric_fault<2>},
    {.labels = {"route_unhealthy"}, .value = &fabric_fault<4>},
    {.labels = {"access_timeout"}, .value = &fabric_fault<6>},
});

void append_single_links(const LabelledReadings& readings, Families& families) {
  auto& active = declare(families, {"gpuward_gpu_single_link_active",
                                    "Whether the link is up.",
                                    kGauge,
                                    {"gpu", "uuid", "pci_bus_id", "link", "remote_pci_bus_id"},
                                    kDriverIsSilent});
  auto& errors = declare(families, {"gpuward_gpu_single_link_errors_total",
                                    "Errors of one link.",
                                    kCounter,
                                    {"gpu", "uuid", "pci_bus_id", "link", "error"},
                                    kDriverIsSilent});
  for (const LabelledReading& one : readings.gpus) {
    for (const Link& link : one.reading->links) {
      const std::string link_number = std::to_string(link.number);
      for (const LinkError& error : kLinkErrors)
        errors.add(one.labels, {link_number, error.error}, number(link.*error.count));
      active.add(one.labels, {link_number, link.remote_pci_bus_id}, number(link.active));
    }
  }
}

}  // namespace

void append_gpu_link_families(const LabelledReadings& readings, const MetricsOptions& options,
                              Families& families) {
  append_columns(kLinkColumns, readings, families);
  append_columns(kFabric, readings, families);
  if (options.per_link) append_single_links(readings, families);
}

}  // namespace gpuward::exporter
