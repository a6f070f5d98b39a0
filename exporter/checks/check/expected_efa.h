// How many EFA devices this machine must have. A profile says how many its instance type can have,
// but an instance may be launched with fewer or with none. Used by checks 2, 5 and 6.
#pragma once

#include <cstddef>

#include "exporter/checks/check/check.h"

namespace gpuward::exporter {

struct ExpectedEfa {
  std::size_t by_profile = 0;  // maximum of the instance type; 0 without a profile
  std::size_t had = 0;         // the most that this machine has had
  // False if the check runs without the exporter's state; `had` is 0 then.
  bool is_history_known = false;
  // The PCI bus has no EFA device, and this machine has never had one. False if the bus cannot be
  // read, and with the seed profile, which always trusts its table.
  bool was_launched_without = false;

  [[nodiscard]] std::size_t count() const {
    if (was_launched_without) return 0;
    return by_profile > had ? by_profile : had;
  }
};

[[nodiscard]] ExpectedEfa expected_efa(const CheckContext& context);

}  // namespace gpuward::exporter
