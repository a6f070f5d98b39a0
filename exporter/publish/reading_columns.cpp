#include "exporter/publish/reading_columns.h"

#include <algorithm>
#include <cmath>

namespace gpuward::exporter {
namespace {

metrics::Declaration of_each_gpu(metrics::Declaration family, const metrics::LabelNames& gpu) {
  const auto behind = std::ranges::find(gpu, std::string_view());
  metrics::LabelNames names = gpu;
  std::copy_n(family.labels.begin(), gpu.end() - behind, names.begin() + (behind - gpu.begin()));
  family.labels = names;
  if (family.absent.empty()) family.absent = kDriverIsSilent;
  return family;
}

}  // namespace

LabelledReadings current_readings(const Snapshot& snapshot) {
  LabelledReadings readings{kGpuLabels};
  const GpuTelemetry& telemetry = snapshot.telemetry;
  if (!telemetry.report || telemetry.state != WorkerState::kAnswering) return readings;
  for (const VendorReading& vendor : telemetry.report->vendors) {
    for (const GpuReading& reading : vendor.gpus) {
      const Gpu& gpu = reading.gpu;
      if (!gpu.has_address()) continue;
      readings.gpus.push_back({&reading, {std::to_string(gpu.index), gpu.uuid, gpu.pci.bus_id()}});
    }
  }
  return readings;
}

void append_columns(std::span<const ReadingColumn> columns, const LabelledReadings& readings,
                    Families& families) {
  std::size_t own_labels = 0;
  for (const ReadingColumn& column : columns) {
    if (!column.family.name.empty()) {
      declare(families, of_each_gpu(column.family, readings.names));
      own_labels = static_cast<std::size_t>(
          std::ranges::count_if(column.family.labels, [](auto name) { return !name.empty(); }));
    }
    for (const LabelledReading& gpu : readings.gpus) {
      const Maybe<double> value = column.value(*gpu.reading);
      if (!value || !std::isfinite(*value)) continue;
      metrics::Labels labels = gpu.labels;
      labels.insert(labels.end(), column.labels.begin(), column.labels.begin() + own_labels);
      families.back().add(std::move(labels), *value);
    }
  }
}

}  // namespace gpuward::exporter
