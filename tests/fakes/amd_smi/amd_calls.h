// What the functions of the fake libamd_smi have in common: the scenario, the faults that it asks
// for, and the handles. Inside the fake only.
#pragma once

#include <cstddef>

#include "tests/fakes/amd_smi/amd_scenario.h"

#define FAKE_AMD_API extern "C" __attribute__((visibility("default")))

namespace gpuward::fake_amd {

constexpr unsigned kOk = 0, kInvalid = 1, kUnsupported = 2, kOutOfResources = 15, kNotFound = 31;

[[nodiscard]] AmdScenario scenario();
// Called first by each function: hangs or crashes where the scenario says so; else the number to
// return, kOk to go on.
[[nodiscard]] unsigned enter(const char* function);

// Handles are the GPU's place in the list, and one more: no handle is null.
[[nodiscard]] void* handle_of(std::size_t gpu);
[[nodiscard]] std::size_t gpu_of(const void* handle);

}  // namespace gpuward::fake_amd
