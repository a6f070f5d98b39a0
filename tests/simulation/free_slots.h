// Slots without a ledger: each request gets one. Shows what the budgets prevent.
#pragma once

#include "remediator/decide/budgets/slots.h"

namespace gpuward::remediator::simulation {

class FreeSlots final : public Slots {
 public:
  [[nodiscard]] Result<std::optional<SlotRefusal>> take(const Remediation&, const kube::Node&,
                                                        Step) override {
    return std::nullopt;
  }
  [[nodiscard]] Result<std::optional<SlotRefusal>> worn_out(const Remediation&, const kube::Node&,
                                                            Step) override {
    return std::nullopt;
  }
  [[nodiscard]] Status arrived(const Remediation&) override { return {}; }
  [[nodiscard]] Status give_back(const Remediation&) override { return {}; }
};

}  // namespace gpuward::remediator::simulation
