// The part of the protocol that encoder and decoder share: the fields of each struct and the kinds
// of field. Inside exporter/gpu/worker only.
#pragma once

#include <chrono>
#include <concepts>
#include <optional>
#include <string_view>
#include <type_traits>
#include <vector>

#include "exporter/gpu/report/reading.h"
#include "exporter/gpu/worker/protocol.h"

namespace gpuward::exporter {

// The fields of all structs in reading.h, each listed once: visit_fields(value, visit) calls
// visit(name, field) for each, in order. Used by the worker's protocol, both ways, and by its
// tests. A field that is added to a struct must be listed here: a list that is too short or too
// long does not compile.

// Takes the next name from "a, b, c".
constexpr std::string_view take_field_name(std::string_view& names) {
  const auto end = names.find(", ");
  const std::string_view name = names.substr(0, end);
  names = end == std::string_view::npos ? std::string_view() : names.substr(end + 2);
  return name;
}

template <typename Visit, typename... Fields>
void visit_each_field(std::string_view names, Visit& visit, Fields&... fields) {
  (visit(take_field_name(names), fields), ...);
}

// All fields of `Type`, in the order of its declaration. A macro, because only a macro has a name
// both as code and as text.
#define GPUWARD_FIELDS(Type, ...)                       \
  template <typename T, typename Visit>                 \
    requires std::same_as<std::remove_const_t<T>, Type> \
  void visit_fields(T& whole, Visit& visit) {           \
    auto& [__VA_ARGS__] = whole;                        \
    visit_each_field(#__VA_ARGS__, visit, __VA_ARGS__); \
  }

GPUWARD_FIELDS(Gpu, index, uuid, pci, serial, name, vendor)
GPUWARD_FIELDS(EccCounters::Places, total, sram, dram)
GPUWARD_FIELDS(EccCounters, corrected_volatile, uncorrected_volatile, corrected_aggregate,
               uncorrected_aggregate)
GPUWARD_FIELDS(RetiredPages, single_bit, double_bit, pending)
GPUWARD_FIELDS(RemappedRows, correctable, uncorrectable, pending, failure, banks_max, banks_high,
               banks_partial, banks_low, banks_none)
GPUWARD_FIELDS(Thermals, gpu, memory, hotspot, margin, slowdown_threshold, shutdown_threshold,
               memory_threshold, shutdown_margin, slowdown_margin, memory_margin, gpu_margin)
GPUWARD_FIELDS(Power, usage_watts, limit_watts, default_limit_watts, energy_joules)
GPUWARD_FIELDS(Slowdown, reasons, power_violation_seconds, thermal_violation_seconds)
GPUWARD_FIELDS(Pcie, generation, generation_max, width, width_max, replays)
GPUWARD_FIELDS(Link, number, active, replay_errors, recovery_errors, crc_flit_errors,
               crc_data_errors, symbol_errors, effective_errors, remote_pci_bus_id)
GPUWARD_FIELDS(Fabric, state, status, health_mask, health_summary)
GPUWARD_FIELDS(GpuProcess, pid, used_bytes)
GPUWARD_FIELDS(RasBlock, block, corrected, uncorrected, deferred)
GPUWARD_FIELDS(CperRecord, severity, recorded_at, id, notify_type, afids)
GPUWARD_FIELDS(MigInstance, uuid, gpu_instance, compute_instance)
GPUWARD_FIELDS(GpuReading, gpu, is_lost, is_hung, fault, reset_required, vbios_version, part_number,
               minor_number, architecture, ecc_enabled, ecc_pending, persistence_mode, mig_enabled,
               ecc_default, mig_instances, ecc, sram_unc_parity, sram_unc_secded,
               sram_threshold_exceeded, retired, rows, thermals, power, slowdown, pcie,
               sm_clock_mhz, memory_clock_mhz, utilization_ratio, memory_utilization_ratio,
               memory_total_bytes, memory_used_bytes, memory_free_bytes, links, fabric,
               recovery_action, processes, ras, bad_pages, latest_cper, compute_partition,
               memory_partition, is_in_kfd)
GPUWARD_FIELDS(PeerStatus, from, to, read_status, write_status, nvlink_status, topology)
GPUWARD_FIELDS(VendorReading, vendor, state, fault, library, driver_version, library_version, gpus,
               peers, has_hung_events)
GPUWARD_FIELDS(GpuReport, vendors)
GPUWARD_FIELDS(GpuXid, pci_bus_id, code, seen, gpu_instance, compute_instance)

GPUWARD_FIELDS(WorkerMessage, progress, report, xid)

template <typename T>
constexpr bool kIsMaybe = false;
template <typename T>
constexpr bool kIsMaybe<std::optional<T>> = true;

template <typename T>
constexpr bool kIsList = false;
template <typename T>
constexpr bool kIsList<std::vector<T>> = true;

// The last valid number of an enum that begins at 0.
template <typename T>
constexpr T kLast = T{};
template <>
inline constexpr Vendor kLast<Vendor> = Vendor::kAmd;
template <>
inline constexpr LibraryState kLast<LibraryState> = LibraryState::kReady;
template <>
inline constexpr CperSeverity kLast<CperSeverity> = CperSeverity::kCorrected;

using WallClock = std::chrono::system_clock::time_point;

}  // namespace gpuward::exporter
