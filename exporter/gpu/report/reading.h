// The report of a vendor's driver about its GPUs at one moment: one shape for all vendors. The GPU
// worker process makes it and sends it over its pipe; checks judge it, and it is published as
// metrics.
//
// Every value that a driver may lack is optional: absent means "not supported here" or "could not
// be read" and becomes an absent series, never a placeholder number.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/model/gpu.h"

namespace gpuward::exporter {

template <typename T>
using Maybe = std::optional<T>;

// Errors that a memory counter has seen: by repair (corrected or not), by period (volatile: since
// the driver was loaded or the GPU reset; aggregate: in the life of the board), and by place.
struct EccCounters {
  struct Places {
    Maybe<std::uint64_t> total, sram, dram;
  };
  Places corrected_volatile, uncorrected_volatile, corrected_aggregate, uncorrected_aggregate;
};

// Boards before Ampere.
struct RetiredPages {
  Maybe<std::uint64_t> single_bit, double_bit;
  Maybe<bool> pending;
};

// Ampere and later. The histogram counts banks by the number of spare rows left.
struct RemappedRows {
  Maybe<std::uint64_t> correctable, uncorrectable;
  Maybe<bool> pending, failure;
  Maybe<std::uint64_t> banks_max, banks_high, banks_partial, banks_low, banks_none;
};

struct Thermals {  // degrees Celsius
  Maybe<double> gpu, memory, hotspot;
  Maybe<double> margin;  // to the slowdown threshold
  Maybe<double> slowdown_threshold, shutdown_threshold, memory_threshold;
  // The margins at which the driver acts, if it counts in margins (NVML's T.Limit). At or below
  // them the GPU shuts down, is slowed down by the hardware, is slowed down to protect the memory,
  // or is slowed down by the driver.
  Maybe<double> shutdown_margin, slowdown_margin, memory_margin, gpu_margin;
};

struct Power {
  Maybe<double> usage_watts, limit_watts, default_limit_watts;
  Maybe<double> energy_joules;  // since the driver was loaded
};

// NVML's clocks event reasons, with NVML's bits; and how long the GPU was slowed down.
struct Slowdown {
  Maybe<std::uint64_t> reasons;
  Maybe<double> power_violation_seconds, thermal_violation_seconds;
};

struct Pcie {
  Maybe<std::uint32_t> generation, generation_max, width, width_max;
  Maybe<std::uint64_t> replays;
};

struct Link {  // one NVLink or XGMI link
  std::uint32_t number = 0;
  Maybe<bool> active;
  Maybe<std::uint64_t> replay_errors, recovery_errors, crc_flit_errors, crc_data_errors;
  Maybe<std::uint64_t> symbol_errors, effective_errors;  // NVLink 5
  std::string remote_pci_bus_id;                         // empty if the driver does not report it
};

// nvmlGpuFabricState_t.
inline constexpr std::uint32_t kFabricNotSupported = 0, kFabricNotStarted = 1,
                               kFabricInProgress = 2, kFabricCompleted = 3;

// NVML's fabric info (HGX H100 and later). The health mask has NVML's bits.
struct Fabric {
  Maybe<std::uint32_t> state, status, health_mask, health_summary;
};

struct GpuProcess {
  std::int64_t pid = 0;
  Maybe<std::uint64_t> used_bytes;
};

// AMD: errors by hardware block, since the driver was loaded.
struct RasBlock {
  std::string block;  // "umc", "sdma", "gfx", ...
  Maybe<std::uint64_t> corrected, uncorrected, deferred;
};

enum class CperSeverity : std::uint8_t { kUncorrected, kFatal, kCorrected };

// AMD: one error record of the driver (a Common Platform Error Record).
struct CperRecord {
  CperSeverity severity = CperSeverity::kUncorrected;
  Maybe<std::chrono::system_clock::time_point> recorded_at;  // absent if the record has no time
  std::string id;           // of the record, "0:1F": restarts when the driver is loaded
  std::string notify_type;  // how the error was detected: "MCE"; empty if unknown
  // AMD's numbers of the faults in a fatal record (AFID); empty if the library does not report
  // them.
  std::vector<std::uint64_t> afids = {};
};

struct MigInstance {
  std::string uuid;  // "MIG-…"
  std::uint32_t gpu_instance = 0, compute_instance = 0;
};

struct GpuReading {
  Gpu gpu;
  // The driver reports that this GPU cannot be reached any more (NVML_ERROR_GPU_IS_LOST); most
  // other values are absent then.
  bool is_lost = false;
  // A call about this GPU has not returned, and it is not read any more; all else is absent then.
  bool is_hung = false;
  // The driver's error if it reported nothing about the GPU; else empty.
  std::string fault;
  // The driver's error if it requires a reset of the GPU first (NVML_ERROR_RESET_REQUIRED); else
  // empty. Other values may still be present.
  std::string reset_required;
  std::string vbios_version, part_number;
  Maybe<std::uint32_t> minor_number;  // of /dev/nvidia<N>
  Maybe<std::uint32_t> architecture;  // NVML's number: 7 Ampere, 9 Hopper, 10 Blackwell
  Maybe<bool> ecc_enabled, ecc_pending, persistence_mode, mig_enabled;
  Maybe<bool> ecc_default;  // the factory setting: off on boards for workstations
  std::vector<MigInstance> mig_instances;
  EccCounters ecc;
  Maybe<std::uint64_t> sram_unc_parity, sram_unc_secded;
  Maybe<bool> sram_threshold_exceeded;
  RetiredPages retired;
  RemappedRows rows;
  Thermals thermals;
  Power power;
  Slowdown slowdown;
  Pcie pcie;
  Maybe<double> sm_clock_mhz, memory_clock_mhz;
  Maybe<double> utilization_ratio, memory_utilization_ratio;  // 0..1
  Maybe<std::uint64_t> memory_total_bytes, memory_used_bytes, memory_free_bytes;
  std::vector<Link> links;
  Fabric fabric;
  // NVML field 230: 0 none, 1 reset, 2 reboot, 3 drain P2P, 4 drain and reset, 5 IMEX domain.
  Maybe<std::uint32_t> recovery_action;
  Maybe<std::vector<GpuProcess>> processes;  // compute
  std::vector<RasBlock> ras;
  Maybe<std::uint64_t> bad_pages;  // AMD: retired VRAM pages
  Maybe<CperRecord> latest_cper;   // AMD: absent if there is none or it is not readable
  // AMD: the partitioning of the GPU ("SPX", "NPS1"); empty if it cannot be partitioned.
  std::string compute_partition, memory_partition;
  // AMD: whether the compute driver offers it to programs; absent if there is no such driver.
  Maybe<bool> is_in_kfd;
};

// Whether two GPUs can reach each other's memory, from the driver's peer-to-peer matrix.
struct PeerStatus {
  std::uint32_t from = 0, to = 0;                                 // indexes
  Maybe<std::uint32_t> read_status, write_status, nvlink_status;  // 0 is good; NVML's numbers
  // NVML's common ancestor: 0 internal, 10 single, 20 multiple, 30 host bridge, 40 node, 50 system.
  Maybe<std::uint32_t> topology;
};

enum class LibraryState : std::uint8_t {
  kAbsent,    // no library on this machine: no GPUs of this vendor, not an error
  kUnusable,  // a library that does not work: version mismatch, driver not loaded, no permission
  kReady
};

struct VendorReading {
  Vendor vendor = Vendor::kNvidia;
  LibraryState state = LibraryState::kAbsent;
  std::string fault;    // for kUnusable: the library's own message
  std::string library;  // its name, "libnvidia-ml.so.1" or "amdgpu sysfs"
  std::string driver_version, library_version;
  std::vector<GpuReading> gpus;  // ascending by index
  std::vector<PeerStatus> peers;
  // The call that waits for Xids does not return: only the kernel log reports them.
  bool has_hung_events = false;

  [[nodiscard]] const GpuReading* find(const PciAddress& pci) const {
    for (const GpuReading& reading : gpus) {
      if (reading.gpu.pci.same_device(pci)) return &reading;
    }
    return nullptr;
  }
};

struct GpuReport {
  std::vector<VendorReading> vendors;

  [[nodiscard]] const VendorReading* find(Vendor vendor) const {
    for (const VendorReading& report : vendors) {
      if (report.vendor == vendor) return &report;
    }
    return nullptr;
  }
};

// A critical Xid from the driver's event set: only the number, no text.
struct GpuXid {
  std::string pci_bus_id;
  std::uint32_t code = 0;
  std::chrono::system_clock::time_point seen;
  Maybe<std::uint32_t> gpu_instance, compute_instance;  // MIG, if the driver names one
};

}  // namespace gpuward::exporter
