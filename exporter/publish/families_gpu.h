// The parts of the metrics from GPU readings: memory, load and links. Used by families_gpu.cpp,
// which combines them.
#pragma once

#include "exporter/publish/reading_columns.h"

namespace gpuward::exporter {

// ECC, retired pages, remapped rows, SRAM, AMD's RAS, memory use.
void append_gpu_memory_families(const LabelledReadings& readings, Families& families);
// Temperature, power, throttling, clocks, utilisation, PCIe.
void append_gpu_load_families(const LabelledReadings& readings, Families& families);
// NVLink or XGMI, and the fabric.
void append_gpu_link_families(const LabelledReadings& readings, const MetricsOptions& options,
                              Families& families);

}  // namespace gpuward::exporter
