// Whether something may be changed right now: asked right before each call that changes anything.
// All is read afresh; what an answer rests on is never older than 30 s. Handed to the steps, whose
// evictions and cloud calls ask again before each repeat.
#pragma once

#include <string>

#include "core/kube/objects.h"
#include "remediator/execution/case_reader.h"
#include "remediator/execution/reconciler_parts.h"
#include "remediator/gates/joint_read.h"
#include "remediator/model/remediation.h"

namespace gpuward::remediator {

// Any thread.
class StepPermits {
 public:
  StepPermits(const ReconcilerParts& parts, CaseReader& reader) : parts_(parts), reader_(reader) {}

  // For any node.
  [[nodiscard]] Status for_any() const { return parts_.permit(); }
  // For one Remediation: an operator may have said cancel or pause since it was read.
  [[nodiscard]] Status for_remediation(const std::string& remediation);

  // What a step was intended for, and when (RFC 3339).
  struct Claim {
    std::string remediation, node, node_uid;
    Step step;
    std::string intended;
    std::string boot;  // the one that it was decided on and must be in still; empty: any
  };
  // For a step: only while that intent stands, while the node is the one that it was intended for,
  // while neither is excluded, and while the mode goes so far. A process that stood still has been
  // overtaken by another, which has withdrawn it or done it; and the view may not know yet that the
  // Node is another.
  [[nodiscard]] Status for_step(const Claim& claim);

 private:
  [[nodiscard]] Status check_intent(const Claim& claim);
  [[nodiscard]] Status check_node(const Claim& claim);
  [[nodiscard]] Status check_exclusion(const Claim& claim, const kube::Node& node);
  [[nodiscard]] Result<Remediation> read_wish(const std::string& remediation);

  const ReconcilerParts& parts_;
  CaseReader& reader_;
  // By Remediation and step: many evictions of one drain wait at the same moment.
  JointReads reads_;
};

// As the resource has it; empty where there is none.
[[nodiscard]] std::string intent_of(const StepRecord* record);

}  // namespace gpuward::remediator
