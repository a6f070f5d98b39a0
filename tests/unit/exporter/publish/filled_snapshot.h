// A snapshot with every value that a driver, a check, the kubelet and sysfs can report, so that a
// test sees every family. Values are made up; only their presence matters.
#pragma once

#include "exporter/store/store.h"

namespace gpuward::exporter {

// All values that a driver of that vendor can report. `index` also gives the address: 0000:40:00,
// 0000:41:00, ...
[[nodiscard]] GpuReading filled_reading(int index, Vendor vendor = Vendor::kNvidia);

// GPUs with one Xid and one finding each, two checks, an EFA and another RDMA device.
[[nodiscard]] Snapshot filled_snapshot(int gpus, Vendor vendor = Vendor::kNvidia);

// Sets them as the newest answer of the worker, and as the inventory.
void set_readings(std::vector<GpuReading> readings, Snapshot& snapshot);

}  // namespace gpuward::exporter
