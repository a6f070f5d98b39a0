// Asks decide(), and fetches what it asks for: a health report, the alerts that fire, the guard of
// approvals, a slot of the budgets. Used by the Reconciler.
#pragma once

#include <optional>
#include <string>

#include "remediator/execution/case.h"
#include "remediator/execution/reconciler_parts.h"

namespace gpuward::remediator {

// Any thread.
class CaseDecider {
 public:
  explicit CaseDecider(const ReconcilerParts& parts) : parts_(parts) {}

  // False where what was last seen is not enough to go by: then nothing was asked for.
  [[nodiscard]] bool decide_cached(Case& now) const;
  void decide_fresh(FreshCase& now) const;
  // What it comes to where the record says `next`; asks for nothing.
  [[nodiscard]] Decision decide_after(const Case& now, const RemediationStatus& next) const;
  // Counts the Remediation as new, before anything is done for it; said again until the first step
  // is recorded. Who asks for a slot says it with that.
  [[nodiscard]] Status count_arrival(const Case& now) const;
  // What the node's exporter says, by way of Prometheus.
  [[nodiscard]] Result<HealthReport> report_of(const std::string& node) const;

 private:
  [[nodiscard]] World world_of(const Case& now) const;
  [[nodiscard]] std::string goes_first_of(const Case& now) const;
  [[nodiscard]] bool ask(const Decision& asked, Case& now, World& world) const;
  template <typename MayGoOn>
  void decide_with_answers(Case& now, const MayGoOn& may_go_on) const;

  const ReconcilerParts& parts_;
};

}  // namespace gpuward::remediator
