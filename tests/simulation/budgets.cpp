#include "tests/simulation/budgets.h"

namespace gpuward::remediator::simulation {

Result<std::optional<SlotRefusal>> CountedSlots::take(const Remediation& remediation,
                                                      const kube::Node&, Step step) {
  if (stage_.is_off(Sabotage::kBudgets)) return std::nullopt;
  if (!stage_.is_quiet) {
    if (stage_.chance.happens(stage_.setting.fault))
      return fail(ErrorKind::kUnavailable, "the ledger cannot be read");
    if (stage_.chance.happens(0.05)) return SlotRefusal{"breaker", "the breaker is open"};
  }
  const bool is_cordon = step == Step::kCordon;
  std::set<std::string>& holders = is_cordon ? cordoned_ : disrupted_;
  const int cap = is_cordon ? stage_.setting.caps.cordoned : stage_.setting.caps.disrupted;
  take_stock(holders);
  if (!holders.contains(remediation.name) && holders.size() >= static_cast<std::size_t>(cap)) {
    return SlotRefusal{"budget", "all " + std::to_string(cap) + " slots are taken"};
  }
  holders.insert(remediation.name);
  return std::nullopt;
}

void CountedSlots::take_stock(std::set<std::string>& holders) const {
  std::erase_if(holders, [&](const std::string& name) {
    const Remediation* const holder = stage_.truth.remediation(name);
    return holder != nullptr && !holder->open();
  });
}

Status CountedSlots::give_back(const Remediation& remediation) {
  cordoned_.erase(remediation.name);
  disrupted_.erase(remediation.name);
  return {};
}

}  // namespace gpuward::remediator::simulation
