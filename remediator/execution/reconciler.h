// One look at a node: reads the case, decides, carries the decision out, records and tells what
// came of it. Each of these is a class of its own below; none calls back up. Any step may be cut
// off; the next look goes on from there. Called by the Controller's workers.
#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "remediator/execution/case.h"
#include "remediator/execution/case_decider.h"
#include "remediator/execution/case_reader.h"
#include "remediator/execution/case_records.h"
#include "remediator/execution/mark_execution.h"
#include "remediator/execution/pending_records.h"
#include "remediator/execution/reconciler_parts.h"
#include "remediator/execution/step_execution.h"
#include "remediator/execution/step_permits.h"

namespace gpuward::remediator {

class Reconciler {
 public:
  explicit Reconciler(ReconcilerParts parts) : parts_(std::move(parts)) {}

  // When to look at the node again (nullopt: when something changes), or why it must be tried
  // again. One call a node at a time; several nodes at once.
  [[nodiscard]] LookAgain reconcile(const std::string& node);

 private:
  [[nodiscard]] LookAgain reconcile_one(const std::string& name,
                                        const std::shared_ptr<const Policy>& policy);
  template <typename AnyCase>
  [[nodiscard]] LookAgain go_on(AnyCase& decided);
  [[nodiscard]] Status carry_out(Case& now);
  [[nodiscard]] Status carry_out(FreshCase& now);
  [[nodiscard]] LookAgain tell(Case& now, const std::string& seen);
  [[nodiscard]] LookAgain see_off(Case& now);
  [[nodiscard]] bool weighs_evidence(const Case& now) const;
  [[nodiscard]] Status weigh_evidence(Case& now);
  void forget(const std::string& name);

  const ReconcilerParts parts_;
  CaseReader reader_{parts_};
  CaseDecider decider_{parts_};
  PendingRecords pending_{parts_};
  CaseRecords records_{parts_, pending_};
  StepPermits permits_{parts_, reader_};
  StepExecution steps_{parts_, decider_, records_, permits_};
  MarkExecution marks_{parts_, records_, pending_, permits_, steps_};
};

}  // namespace gpuward::remediator
