// The common parts of the fake libamd_smi's functions: the scenario, its faults, and the handles.
// Used only inside the fake.
#pragma once

#include <cstddef>

#include "tests/fakes/amd_smi/amd_scenario.h"

#define FAKE_AMD_API extern "C" __attribute__((visibility("default")))

namespace gpuward::fake_amd {

constexpr unsigned kOk = 0, kInvalid = 1, kUnsupported = 2, kOutOfResources = 15, kNotFound = 31;

[[nodiscard]] AmdScenario scenario();
// Each function calls it first. Hangs or crashes if the scenario says so. Otherwise returns the
// number to return, or kOk to continue.
[[nodiscard]] unsigned enter(const char* function);

// A handle is the GPU's index in the list plus one, so that no handle is null.
[[nodiscard]] void* handle_of(std::size_t gpu);
[[nodiscard]] std::size_t gpu_of(const void* handle);

}  // namespace gpuward::fake_amd
