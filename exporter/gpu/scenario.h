// GPUs from a scenario file (--gpu.simulate), for tests, the demo and machines without a driver:
//
//   driver_version: "575.57.08"
//   lost_file: /simulated/lost   GPUs whose addresses (0000:4e:00) are in this file are lost
//   gpus:
//     - {index: 0, uuid: GPU-6f1c…, pci: "0000:4e:00.0", serial: "165", name: NVIDIA H200, vendor:
//     nvidia}
//
// `pci` is required; vendor is nvidia (default) or amd; index defaults to the place in the list.
// An item may also contain what the driver would report about the GPU's health; missing keys are
// absent:
//
//   lost: true, fault: text              it cannot be reached; the driver's error
//   ecc_{corrected,uncorrected}_{volatile,aggregate}: N
//   rows_{correctable,uncorrectable}: N, row_remap_pending: true, row_remap_failure: true
//   retired_pages_{single_bit,double_bit}: N, retired_pages_pending: true
//   temperature: °C, temperature_margin: °C, power_watts: W, slowdown_reasons: NVML's bits
//   pcie_generation, pcie_generation_max, pcie_width, pcie_width_max, pcie_replays: N
//   links: N, links_inactive: N          `links` is 18 if only the second is set
//   recovery_action: 0..5, persistence_mode: true, ecc_enabled: true, sram_threshold_exceeded: true
#pragma once

#include <filesystem>

#include "core/model/result.h"
#include "exporter/gpu/report/reading.h"

namespace gpuward::exporter {

// Reads the file again; returns one VendorReading for each vendor in it. kInvalid with file and
// line if two GPUs share an index, an address or a UUID.
[[nodiscard]] Result<GpuReport> read_scenario(const std::filesystem::path& path);

}  // namespace gpuward::exporter
