// The parts of what GPU readings become as metrics. Used by families_gpu.cpp, which puts them
// together.
#pragma once

#include "exporter/publish/reading_columns.h"

namespace gpuward::exporter {

// ECC, retired pages, remapped rows, SRAM, AMD's RAS, how full the memory is.
void append_gpu_memory_families(const LabelledReadings& readings, Families& families);
// Temperature, power, throttling, clocks, utilisation, PCIe.
void append_gpu_load_families(const LabelledReadings& readings, Families& families);
// NVLink or XGMI, and the fabric.
void append_gpu_link_families(const LabelledReadings& readings, const MetricsOptions& options,
                              Families& families);

}  // namespace gpuward::exporter
