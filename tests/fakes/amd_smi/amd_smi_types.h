// The structures of the fake libamd_smi: its own, so that it and gpuward can be wrong together only
// if both were copied wrong; tests/abi compares both with AMD's package.
#pragma once

#include <cstdint>

struct FakeVersion {
  unsigned first, second, third, fourth;
  const char* build;
};

struct FakeErrorCount {
  std::uint64_t corrected, uncorrected, deferred, unused[5];
};
