// The slots that a simulation runs with. THE place where the ledger is plugged in: until then a
// count in the memory of the cluster, with the same caps that the invariant checks.
#pragma once

#include <set>
#include <string>

#include "remediator/safety/slots.h"
#include "tests/simulation/stage.h"

namespace gpuward::remediator::simulation {

class CountedSlots final : public Slots {
 public:
  explicit CountedSlots(Stage& stage) : stage_(stage) {}
  [[nodiscard]] Result<std::optional<SlotRefusal>> take(const Remediation& remediation,
                                                        const kube::Node& node, Step step) override;
  // The circuit breaker is not part of this count.
  [[nodiscard]] Status arrived(const Remediation&) override { return {}; }
  [[nodiscard]] Status give_back(const Remediation& remediation) override;

 private:
  // Those of Remediations that are closed by now come back.
  void take_stock(std::set<std::string>& holders) const;

  Stage& stage_;
  std::set<std::string> cordoned_, disrupted_;  // names of Remediations
};

}  // namespace gpuward::remediator::simulation
