// Check 6: every EFA device sends to itself, by libfabric's fi_pingpong or, where that is missing,
// perftest's ib_write_bw. A device that cannot while others can is broken; if none can, it is as
// well the software, and the check says so instead of blaming a device.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "exporter/checks/check/check.h"

namespace gpuward::exporter {

// How one domain did.
struct LoopbackResult {
  std::string domain;
  std::string pci_bus_id;       // empty where sysfs does not know the device
  std::optional<double> gbits;  // absent: it failed
  std::string failure;          // why
  std::uint64_t drops = 0, retransmission_timeouts = 0;  // while it ran
};

// What all of them amount to. Pure.
[[nodiscard]] CheckOutcome efa_loopback_outcome(const std::vector<LoopbackResult>& results,
                                                const CheckSettings& settings);

class EfaLoopbackCheck final : public Check {
 public:
  [[nodiscard]] CheckOutcome run(const CheckContext& context) override;
};

[[nodiscard]] CheckEntry efa_loopback_entry();

}  // namespace gpuward::exporter
