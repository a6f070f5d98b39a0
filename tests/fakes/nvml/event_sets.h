// Event sets of the fake libnvidia-ml.so.1: Xids come from a file that a test appends to.
#pragma once

namespace gpuward::fake_nvml {

// The number of event sets that exist.
[[nodiscard]] int live_event_sets();

}  // namespace gpuward::fake_nvml
