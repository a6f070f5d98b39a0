// The memory of simulated GPUs: it keeps no bytes, only the ranges with their 32-bit value, so that
// a buffer of a GiB costs nothing. Used only by the library's files, on one thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace gpuward::fake_nccl {

struct Run {
  std::size_t begin = 0, end = 0;  // in 32-bit values from the start of the buffer
  std::uint32_t value = 0;
};

class DeviceBuffer {
 public:
  DeviceBuffer(int device, std::size_t bytes) : device_(device), bytes_(bytes) {}

  [[nodiscard]] int device() const { return device_; }
  [[nodiscard]] std::size_t values() const { return bytes_ / sizeof(std::uint32_t); }
  void set(const Run& run);  // a later range covers earlier ones
  [[nodiscard]] std::uint32_t at(std::size_t index) const;
  // The first `count` values, without gaps.
  [[nodiscard]] std::vector<Run> first(std::size_t count) const;

 private:
  int device_;
  std::size_t bytes_;
  std::vector<Run> runs_;
};

struct Place {
  DeviceBuffer* buffer = nullptr;  // null: no such address
  std::size_t index = 0;           // in 32-bit values
};

// 0 if the device has not enough memory left.
[[nodiscard]] unsigned long long allocate(int device, std::size_t bytes);
[[nodiscard]] Place place_of(unsigned long long address);
[[nodiscard]] unsigned long long free_bytes(int device);

}  // namespace gpuward::fake_nccl
