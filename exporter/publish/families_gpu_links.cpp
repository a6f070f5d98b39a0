#include <array>

#include "exporter/publish/families_gpu.h"

namespace gpuward::exporter {
namespace {

using enum metrics::Type;
using metrics::Family;
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

// Over all links that have it; absent where an active one has not, because a sum without it would
// be another sum.
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

constexpr std::string_view kErrors = "gpuward_gpu_link_errors_total";

template <std::size_t kIndex>
constexpr ReadingColumn error_column(std::string_view help = {}) {
  return {.name = kErrors,
          .type = kCounter,
          .labels = {FixedLabel{"error", kLinkErrors[kIndex].error}},
          .value = &errors_of<kIndex>,
          .help = help};
}

constexpr std::array kLinkColumns{
    ReadingColumn{
        .name = "gpuward_gpu_links",
        .labels = {},
        .value =
            [](Reading r) {
              return r.links.empty() ? std::nullopt : Maybe<double>(r.links.size());
            },
        .help = "Links (NVLink, XGMI) that the driver knows of.",
    },
    ReadingColumn{
        .name = "gpuward_gpu_links_active",
        .labels = {},
        .value = &active_links,
        .help = "How many of them are up.",
    },
    error_column<0>("Errors of all links of the GPU; those of a link that goes down are not in "
                    "the sum any more."),
    error_column<1>(),
    error_column<2>(),
    error_column<3>(),
    error_column<4>(),
    error_column<5>(),
};

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

constexpr std::string_view kFabricFault = "gpuward_gpu_fabric_fault";

constexpr std::array kFabric{
    ReadingColumn{
        .name = "gpuward_gpu_fabric_state",
        .labels = {},
        .value = [](Reading r) { return number(r.fabric.state); },
        .help = "How far the GPU has joined the fabric of its NVSwitches: 0 not supported, 1 not "
                "started, 2 in progress, 3 completed.",
    },
    ReadingColumn{
        .name = "gpuward_gpu_fabric_status",
        .labels = {},
        .value = [](Reading r) { return number(r.fabric.status); },
        .help = "How joining has ended, as NVML numbers it: 0 is good.",
    },
    ReadingColumn{
        .name = "gpuward_gpu_fabric_health",
        .labels = {},
        .value = [](Reading r) { return number(r.fabric.health_summary); },
        .help = "0 not supported, 1 healthy, 2 unhealthy, 3 limited capacity.",
    },
    ReadingColumn{
        .name = "gpuward_gpu_fabric_misconfiguration",
        .labels = {},
        .value = &fabric_misconfiguration,
        .help =
            "How the fabric is set up wrongly at the GPU: 1 not at all, 2 system GUID, 3 chassis "
            "serial number, 4 no partition, 5 too few NVLinks, 6 GPU firmware, 7 location.",
    },
    ReadingColumn{
        .name = kFabricFault,
        .labels = {FixedLabel{"fault", "degraded_bandwidth"}},
        .value = &fabric_fault<0>,
        .help = "Whether the fabric has this fault at the GPU.",
    },
    ReadingColumn{
        .name = kFabricFault,
        .labels = {FixedLabel{"fault", "route_recovery"}},
        .value = &fabric_fault<2>,
    },
    ReadingColumn{
        .name = kFabricFault,
        .labels = {FixedLabel{"fault", "route_unhealthy"}},
        .value = &fabric_fault<4>,
    },
    ReadingColumn{
        .name = kFabricFault,
        .labels = {FixedLabel{"fault", "access_timeout"}},
        .value = &fabric_fault<6>,
    },
};

void append_single_links(std::span<const LabelledReading> readings, Families& families) {
  Family active{"gpuward_gpu_single_link_active", "Whether the link is up.", kGauge, {}};
  Family errors{"gpuward_gpu_single_link_errors_total", "Errors of one link.", kCounter, {}};
  for (const LabelledReading& one : readings) {
    for (const Link& link : one.reading->links) {
      Labels labels = one.labels;
      labels.emplace_back("link", std::to_string(link.number));
      for (const LinkError& error : kLinkErrors) {
        Labels with_error = labels;
        with_error.emplace_back("error", error.error);
        append_sample(std::move(with_error), number(link.*error.count), errors);
      }
      labels.emplace_back("remote_pci_bus_id", link.remote_pci_bus_id);
      append_sample(std::move(labels), number(link.active), active);
    }
  }
  families.push_back(std::move(active));
  families.push_back(std::move(errors));
}

}  // namespace

void append_gpu_link_families(std::span<const LabelledReading> readings,
                              const MetricsOptions& options, Families& families) {
  append_columns(kLinkColumns, readings, families);
  append_columns(kFabric, readings, families);
  if (options.per_link) append_single_links(readings, families);
}

}  // namespace gpuward::exporter
