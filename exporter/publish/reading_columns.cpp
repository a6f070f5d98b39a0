#include "exporter/publish/reading_columns.h"

#include <cmath>

namespace gpuward::exporter {
std::vector<LabelledReading> current_readings(const Snapshot& snapshot) {
  std::vector<LabelledReading> readings;
  const GpuTelemetry& telemetry = snapshot.telemetry;
  if (!telemetry.report || telemetry.state != WorkerState::kAnswering) return readings;
  for (const VendorReport& vendor : telemetry.report->vendors) {
    for (const GpuReading& reading : vendor.gpus) {
      if (!reading.gpu.has_address()) continue;
      Labels labels{{"gpu", std::to_string(reading.gpu.index)},
                    {"uuid", reading.gpu.uuid},
                    {"pci_bus_id", reading.gpu.pci.bus_id()}};
      readings.push_back({&reading, std::move(labels)});
    }
  }
  return readings;
}

void append_sample(Labels labels, Maybe<double> value, metrics::Family& family) {
  if (!value || !std::isfinite(*value)) return;
  family.samples.push_back({std::move(labels), *value});
}

void append_columns(std::span<const ReadingColumn> columns,
                    std::span<const LabelledReading> readings, Families& families) {
  std::string_view current;
  for (const ReadingColumn& column : columns) {
    if (column.name != current) {
      families.push_back({std::string(column.name), std::string(column.help), column.type, {}});
      current = column.name;
    }
    for (const LabelledReading& reading : readings) {
      const Maybe<double> value = column.value(*reading.reading);
      if (!value) continue;
      Labels labels = reading.labels;
      for (const FixedLabel& label : column.labels) {
        if (!label.name.empty()) labels.emplace_back(label.name, label.value);
      }
      append_sample(std::move(labels), value, families.back());
    }
  }
}

}  // namespace gpuward::exporter
