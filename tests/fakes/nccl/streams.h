// What the fake's CUDA half and its NCCL half know of each other: which device a thread works on,
// and what waits in a stream. Used by the library's files alone.
#pragma once

#include "tests/fakes/nccl/types.h"

namespace gpuward::fake_nccl {

// Of this thread; -1 before cuCtxSetCurrent.
[[nodiscard]] int current_device();
[[nodiscard]] int device_of(const FakeStream* stream);
// Goes on with what NCCL has put into that stream; false while it is not done.
[[nodiscard]] bool advance(const FakeStream* stream);

}  // namespace gpuward::fake_nccl
