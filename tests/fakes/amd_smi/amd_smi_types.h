// The structures of the fake libamd_smi, declared separately, so that it and gpuward are wrong
// together only if both were copied wrong; tests/abi compares both with AMD's package.
#pragma once

#include <cstdint>

struct FakeVersion {
  unsigned first, second, third, fourth;
  const char* build;
};

struct FakeErrorCount {
  std::uint64_t corrected, uncorrected, deferred, unused[5];
};

struct __attribute__((packed)) FakeCperHeader {
  char cper[4];
  std::uint16_t version;
  std::uint32_t all_ones;
  std::uint16_t section_count;
  std::uint32_t sev, valid, length;
  unsigned char second, minute, hour, unused, day, month, year, century;
  unsigned char platform[16], partition[16], creator[16], notify[16];
  char id[8];
  unsigned char rest[24];
};
