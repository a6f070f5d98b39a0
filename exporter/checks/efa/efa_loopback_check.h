// Check 6: every EFA device sends to itself, by libfabric's fi_pingpong or, if that is missing,
// perftest's ib_write_bw. If one device fails while others work, it is broken. If all fail, the
// cause may be software, and the check reports that instead of blaming a device.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "exporter/checks/check/check.h"

namespace gpuward::exporter {

// The result of one domain.
struct LoopbackResult {
  std::string domain;
  std::string pci_bus_id;                                // empty if sysfs does not know the device
  std::optional<double> gbits;                           // absent: the test failed
  std::string failure;                                   // the reason if it failed
  std::uint64_t drops = 0, retransmission_timeouts = 0;  // during the test
};

// Combines the results of all domains. Pure.
[[nodiscard]] CheckOutcome efa_loopback_outcome(const std::vector<LoopbackResult>& results,
                                                const CheckSettings& settings);

class EfaLoopbackCheck final : public Check {
 public:
  [[nodiscard]] CheckOutcome run(const CheckContext& context) override;
};

[[nodiscard]] CheckEntry efa_loopback_entry();

}  // namespace gpuward::exporter
