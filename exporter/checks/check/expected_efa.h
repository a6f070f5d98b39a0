// How many EFA devices this machine must have. A profile says how many its instance type can have,
// and an instance may be launched with fewer, or with none. Used by checks 2, 5 and 6.
#pragma once

#include <cstddef>

#include "exporter/checks/check/check.h"

namespace gpuward::exporter {

struct ExpectedEfa {
  std::size_t by_profile = 0;  // of the instance type, at most; 0 without a profile
  std::size_t had = 0;         // the most that this machine has had
  // False in a check without the exporter's state: `had` is 0 then.
  bool is_history_known = false;
  // None is on the PCI bus, and this machine has had none. False if the bus cannot be read, and
  // with the seed profile, which believes its table.
  bool was_launched_without = false;

  [[nodiscard]] std::size_t count() const {
    if (was_launched_without) return 0;
    return by_profile > had ? by_profile : had;
  }
};

[[nodiscard]] ExpectedEfa expected_efa(const CheckContext& context);

}  // namespace gpuward::exporter
