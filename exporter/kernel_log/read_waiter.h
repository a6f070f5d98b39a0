// Waits until a descriptor is readable. A stop request ends the wait at once. Used by the sources
// of the kernel log.
#pragma once

#include <chrono>
#include <stop_token>

#include "core/runtime/descriptor.h"

namespace gpuward::exporter {

// Waits on one descriptor at a time; created once a source.
class ReadWaiter {
 public:
  ReadWaiter();
  // True if `number` is readable (or has failed, which the read shows); false after `wait` or on a
  // stop. Without a descriptor (-1) it only waits.
  bool wait(int number, std::chrono::milliseconds wait, const std::stop_token& stop) const;

 private:
  Descriptor wake_;
};

}  // namespace gpuward::exporter
