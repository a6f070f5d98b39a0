// The Slots of the reconciler, backed by the ledger in the cluster. It counts the nodes of the
// ClusterView, takes the limits of the current policy, and writes a slot into the ledger before the
// step begins. It grants no slot if the view is older than kOldestView. The leader calls keep()
// regularly.
#pragma once

#include <map>
#include <optional>
#include <vector>

#include "core/runtime/clock.h"
#include "remediator/cluster/cluster_view.h"
#include "remediator/cluster/remediation_store.h"
#include "remediator/decide/budgets/budgets.h"
#include "remediator/decide/budgets/ledger_store.h"
#include "remediator/decide/budgets/ledger_upkeep.h"
#include "remediator/decide/budgets/slot_claim.h"
#include "remediator/decide/budgets/slots.h"
#include "remediator/policy/current_policy.h"

namespace gpuward::remediator {

class LedgerSlots final : public Slots {
 public:
  // The arguments must outlive this object.
  LedgerSlots(LedgerStore& ledger, RemediationStore& remediations, const ClusterView& view,
              const CurrentPolicy& policy, Clock& clock);

  [[nodiscard]] Result<std::optional<SlotRefusal>> take(const Remediation& remediation,
                                                        const kube::Node& node, Step step) override;
  [[nodiscard]] Result<std::optional<SlotRefusal>> worn_out(const Remediation& remediation,
                                                            const kube::Node& node,
                                                            Step step) override;
  [[nodiscard]] Status arrived(const Remediation& remediation) override;
  [[nodiscard]] Status give_back(const Remediation& remediation) override;

  // Creates the ledger if there is none. Frees slots that no Remediation will release any more, and
  // deletes Remediations that were closed long ago. Lists all Remediations. Called at the start and
  // regularly after it.
  [[nodiscard]] Status keep();
  // The use at the last read or write of the ledger by this process, for metrics.
  struct Spending {
    Breaker breaker;
    std::vector<BudgetUse> uses;
    std::map<Impact, std::size_t> slots;
  };
  [[nodiscard]] std::optional<Spending> spending() const;

 private:
  [[nodiscard]] Result<std::optional<SlotRefusal>> refuse_by_old_view(
      const Remediation& remediation);
  // `only_asks` has the meaning of SlotClaim::only_asks.
  [[nodiscard]] Result<std::optional<SlotRefusal>> settle(const Remediation& remediation,
                                                          const kube::Node& node, Step step,
                                                          bool only_asks);
  // Returns a refusal if a call of an earlier attempt may still take effect.
  [[nodiscard]] Result<std::optional<SlotRefusal>> look_for_untreated(SlotClaim& claim);
  [[nodiscard]] Status forget(const std::vector<Remediation>& all);

  LedgerStore& ledger_;
  RemediationStore& remediations_;
  const ClusterView& view_;
  const CurrentPolicy& policy_;
  Clock& clock_;
};

// Returns the use in a Remediation's own record. The place of the node is not included.
[[nodiscard]] SpentRecord spent_by(const Remediation& remediation);

}  // namespace gpuward::remediator
