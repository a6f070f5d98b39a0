// The shared state of the fake's CUDA half and its NCCL half: the device of a thread, and the
// operations in a stream. Used only by the library's files.
#pragma once

#include "tests/fakes/nccl/types.h"

namespace gpuward::fake_nccl {

// The device of this thread; -1 before cuCtxSetCurrent.
[[nodiscard]] int current_device();
[[nodiscard]] int device_of(const FakeStream* stream);
// Advances the NCCL operations in that stream; false while they are not done.
[[nodiscard]] bool advance(const FakeStream* stream);

}  // namespace gpuward::fake_nccl
