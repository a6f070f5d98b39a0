// The names, units and labels of dcgm-exporter (NVIDIA/dcgm-exporter, etc/default-counters.csv), if
// NVML has the value. They follow its conventions, not gpuward's: percent, MiB, millijoules.
#include <algorithm>
#include <array>

#include "core/runtime/text.h"
#include "exporter/pods/users.h"
#include "exporter/publish/families.h"
#include "exporter/publish/reading_columns.h"

namespace gpuward::exporter {
namespace {

using enum metrics::Type;
using Reading = const GpuReading&;

constexpr double kBytesInMebibyte = 1024.0 * 1024.0;

Maybe<double> times(const Maybe<double>& value, double factor) {
  if (!value) return std::nullopt;
  return *value * factor;
}

Maybe<double> mebibytes(const Maybe<std::uint64_t>& bytes) {
  return times(number(bytes), 1 / kBytesInMebibyte);
}

template <Maybe<std::uint64_t> Link::* kCount>
Maybe<double> link_errors(Reading reading) {
  Maybe<double> sum;
  for (const Link& link : reading.links) {
    if (const Maybe<double> errors = number(link.*kCount)) sum = sum.value_or(0) + *errors;
  }
  return sum;
}

constexpr ReadingColumn gauge(std::string_view name, std::string_view help,
                              Maybe<double> (*value)(Reading)) {
  return {.family = {name, help}, .value = value};
}

constexpr ReadingColumn counter(std::string_view name, std::string_view help,
                                Maybe<double> (*value)(Reading)) {
  return {.family = {name, help, kCounter}, .value = value};
}

constexpr std::array kDcgmWork{
    gauge("DCGM_FI_DEV_SM_CLOCK", "SM clock in MHz.", [](Reading r) { return r.sm_clock_mhz; }),
    gauge("DCGM_FI_DEV_MEM_CLOCK", "Memory clock in MHz.",
          [](Reading r) { return r.memory_clock_mhz; }),
    gauge("DCGM_FI_DEV_MEMORY_TEMP", "Memory temperature in degrees Celsius.",
          [](Reading r) { return r.thermals.memory; }),
    gauge("DCGM_FI_DEV_GPU_TEMP", "GPU temperature in degrees Celsius.",
          [](Reading r) { return r.thermals.gpu; }),
    gauge("DCGM_FI_DEV_POWER_USAGE", "Power draw in watts.",
          [](Reading r) { return r.power.usage_watts; }),
    counter("DCGM_FI_DEV_TOTAL_ENERGY_CONSUMPTION",
            "Energy used since the driver was loaded, in millijoules.",
            [](Reading r) { return times(r.power.energy_joules, 1000); }),
    counter("DCGM_FI_DEV_PCIE_REPLAY_COUNTER", "PCIe packets sent again.",
            [](Reading r) { return number(r.pcie.replays); }),
    gauge("DCGM_FI_DEV_GPU_UTIL", "GPU utilisation in percent.",
          [](Reading r) { return times(r.utilization_ratio, 100); }),
    gauge("DCGM_FI_DEV_MEM_COPY_UTIL", "Memory utilisation in percent.",
          [](Reading r) { return times(r.memory_utilization_ratio, 100); }),
    gauge("DCGM_FI_DEV_FB_FREE", "Free memory of the GPU in MiB.",
          [](Reading r) { return mebibytes(r.memory_free_bytes); }),
    gauge("DCGM_FI_DEV_FB_USED", "Used memory of the GPU in MiB.",
          [](Reading r) { return mebibytes(r.memory_used_bytes); }),
    counter("DCGM_FI_DEV_POWER_VIOLATION", "Time throttled by power limits, in microseconds.",
            [](Reading r) { return times(r.slowdown.power_violation_seconds, 1e6); }),
    counter("DCGM_FI_DEV_THERMAL_VIOLATION", "Time throttled by thermal limits, in microseconds.",
            [](Reading r) { return times(r.slowdown.thermal_violation_seconds, 1e6); }),
};

constexpr std::array kDcgmErrors{
    counter("DCGM_FI_DEV_ECC_SBE_VOL_TOTAL", "Corrected ECC errors since the driver was loaded.",
            [](Reading r) { return number(r.ecc.corrected_volatile.total); }),
    counter("DCGM_FI_DEV_ECC_DBE_VOL_TOTAL", "Uncorrected ECC errors since the driver was loaded.",
            [](Reading r) { return number(r.ecc.uncorrected_volatile.total); }),
    counter("DCGM_FI_DEV_ECC_SBE_AGG_TOTAL", "Corrected ECC errors over the life of the board.",
            [](Reading r) { return number(r.ecc.corrected_aggregate.total); }),
    counter("DCGM_FI_DEV_ECC_DBE_AGG_TOTAL", "Uncorrected ECC errors over the life of the board.",
            [](Reading r) { return number(r.ecc.uncorrected_aggregate.total); }),
    counter("DCGM_FI_DEV_RETIRED_SBE", "Pages retired after single-bit errors.",
            [](Reading r) { return number(r.retired.single_bit); }),
    counter("DCGM_FI_DEV_RETIRED_DBE", "Pages retired after double-bit errors.",
            [](Reading r) { return number(r.retired.double_bit); }),
    counter("DCGM_FI_DEV_RETIRED_PENDING", "Whether pages are pending retirement.",
            [](Reading r) { return number(r.retired.pending); }),
    counter("DCGM_FI_DEV_NVLINK_CRC_FLIT_ERROR_COUNT_TOTAL", "NVLink flow-control CRC errors.",
            &link_errors<&Link::crc_flit_errors>),
    counter("DCGM_FI_DEV_NVLINK_CRC_DATA_ERROR_COUNT_TOTAL", "NVLink data CRC errors.",
            &link_errors<&Link::crc_data_errors>),
    counter("DCGM_FI_DEV_NVLINK_REPLAY_ERROR_COUNT_TOTAL", "NVLink packets sent again.",
            &link_errors<&Link::replay_errors>),
    counter("DCGM_FI_DEV_NVLINK_RECOVERY_ERROR_COUNT_TOTAL", "NVLink recoveries.",
            &link_errors<&Link::recovery_errors>),
    counter("DCGM_FI_DEV_UNCORRECTABLE_REMAPPED_ROWS", "Rows remapped after uncorrected errors.",
            [](Reading r) { return number(r.rows.uncorrectable); }),
    counter("DCGM_FI_DEV_CORRECTABLE_REMAPPED_ROWS", "Rows remapped after corrected errors.",
            [](Reading r) { return number(r.rows.correctable); }),
    gauge("DCGM_FI_DEV_ROW_REMAP_FAILURE", "Whether a row could not be remapped.",
          [](Reading r) { return number(r.rows.failure); }),
};

// Returns the address in NVML's format: `00000000:4E:00.0`.
std::string nvml_bus_id(const PciAddress& pci) {
  std::string id = "0000" + pci.bus_id() + ".0";
  if (pci.domain > 0xFFFF) id.erase(0, 4);
  return to_upper(id);
}

std::string device_of(const GpuReading& reading) {
  const auto index = static_cast<std::uint32_t>(reading.gpu.index);
  return "nvidia" + std::to_string(reading.minor_number.value_or(index));
}

LabelledReadings dcgm_readings(const Snapshot& snapshot, const MetricsOptions& options) {
  LabelledReadings readings = current_readings(snapshot);
  readings.names = {"gpu",
                    "UUID",
                    "pci_bus_id",
                    "device",
                    "modelName",
                    "Hostname",
                    "DCGM_FI_DRIVER_VERSION",
                    "container",
                    "namespace",
                    "pod"};
  std::erase_if(readings.gpus, [](const LabelledReading& one) {
    return one.reading->gpu.vendor != Vendor::kNvidia;
  });
  for (LabelledReading& one : readings.gpus) {
    const Gpu& gpu = one.reading->gpu;
    const std::vector<Workload> users =
        users_of(device_ids_of(gpu, one.reading), snapshot.workloads);
    one.labels = {std::to_string(gpu.index),
                  gpu.uuid,
                  nvml_bus_id(gpu.pci),
                  device_of(*one.reading),
                  gpu.name,
                  options.hostname,
                  snapshot.telemetry.report->find(Vendor::kNvidia)->driver_version,
                  containers_of(users),
                  namespaces_of(users),
                  pods_of(users)};
  }
  return readings;
}

// Returns the last Xid, as dcgm-exporter does: it stays until another comes. 0: none so far.
std::uint32_t last_xid(const Snapshot& snapshot, const std::string& bus_id) {
  std::uint32_t code = 0;
  WallTime newest = WallTime::min();
  for (const auto& [key, counter] : snapshot.state.counters) {
    if (key.kind != xid::Kind::kXid || key.pci_bus_id != bus_id) continue;
    if (counter.last_seen < newest) continue;
    newest = counter.last_seen;
    code = key.code;
  }
  return code;
}

std::string message_of(std::uint32_t code) {
  if (code == 0) return "No Error";
  const xid::Row* const row = xid::Catalogue::find_xid(code);
  return row == nullptr ? "Unknown Error" : std::string(row->description);
}

void append_xids(const Snapshot& snapshot, const LabelledReadings& readings, Families& families) {
  metrics::LabelNames names = readings.names;
  std::ranges::copy(std::array{"err_code", "err_msg"}, std::ranges::find(names, ""));
  auto& last = declare(families, {"DCGM_FI_DEV_XID_ERRORS",
                                  "Code of the last Xid, not a count (`gpuward_xid_errors_total` "
                                  "is the count); 0: none so far.",
                                  kGauge, names, "while the worker does not answer"});
  for (const LabelledReading& one : readings.gpus) {
    const std::uint32_t code = last_xid(snapshot, one.reading->gpu.pci.bus_id());
    last.add(one.labels, {std::to_string(code), message_of(code)}, code);
  }
}

}  // namespace

void append_dcgm_families(const Snapshot& snapshot, const MetricsOptions& options,
                          Families& families) {
  const LabelledReadings readings = dcgm_readings(snapshot, options);
  append_columns(kDcgmWork, readings, families);
  append_columns(kDcgmErrors, readings, families);
  append_xids(snapshot, readings, families);
}

}  // namespace gpuward::exporter
