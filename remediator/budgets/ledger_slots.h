// The Slots of the reconciler, with the ledger in the cluster. It counts the nodes of the
// ClusterView, takes the limits of the current policy, and writes a slot into the ledger before the
// step begins. It grants nothing if the view is older than kOldestView. The leader calls keep()
// regularly.
#pragma once

#include <map>
#include <optional>
#include <vector>

#include "core/runtime/clock.h"
#include "remediator/budgets/budgets.h"
#include "remediator/budgets/ledger_store.h"
#include "remediator/budgets/ledger_upkeep.h"
#include "remediator/budgets/slot_claim.h"
#include "remediator/budgets/slots.h"
#include "remediator/policy/current_policy.h"
#include "remediator/records/cluster_view.h"
#include "remediator/records/remediation_store.h"

namespace gpuward::remediator {

class LedgerSlots final : public Slots {
 public:
  // All must outlive it.
  LedgerSlots(LedgerStore& ledger, RemediationStore& remediations, const ClusterView& view,
              const CurrentPolicy& policy, Clock& clock);

  [[nodiscard]] Result<std::optional<SlotRefusal>> take(const Remediation& remediation,
                                                        const kube::Node& node, Step step) override;
  [[nodiscard]] Result<std::optional<SlotRefusal>> worn_out(const Remediation& remediation,
                                                            const kube::Node& node,
                                                            Step step) override;
  [[nodiscard]] Status arrived(const Remediation& remediation) override;
  [[nodiscard]] Status give_back(const Remediation& remediation) override;

  // Creates the ledger if there is none, frees slots that no Remediation will release any more, and
  // deletes Remediations that were closed long ago. Lists all Remediations; called at the start and
  // from time to time.
  [[nodiscard]] Status keep();
  // The use as of the last read or write here, for metrics; costs no request. nullopt before that.
  struct Spending {
    Breaker breaker;
    std::vector<BudgetUse> uses;
    std::map<Impact, std::size_t> slots;
  };
  [[nodiscard]] std::optional<Spending> spending() const;

 private:
  [[nodiscard]] Result<std::optional<SlotRefusal>> refuse_by_old_view(
      const Remediation& remediation);
  // `only_asks`: SlotClaim's.
  [[nodiscard]] Result<std::optional<SlotRefusal>> settle(const Remediation& remediation,
                                                          const kube::Node& node, Step step,
                                                          bool only_asks);
  // Returns a refusal if a call of one of them may still take effect.
  [[nodiscard]] Result<std::optional<SlotRefusal>> look_for_untreated(SlotClaim& claim);
  [[nodiscard]] Status forget(const std::vector<Remediation>& all);

  LedgerStore& ledger_;
  RemediationStore& remediations_;
  const ClusterView& view_;
  const CurrentPolicy& policy_;
  Clock& clock_;
};

// Returns what a Remediation's own record says it has spent; its place is not part of it.
[[nodiscard]] SpentRecord spent_by(const Remediation& remediation);

}  // namespace gpuward::remediator
