// One Remediation with its Node and policy, as the input of one decision. This file reads and
// decides it; the other files of this folder carry out and record the decision. The type of a case
// shows the age of its data. A Case may hold the informers' last state, which is enough for taint,
// cordon and records. A FreshCase was read from the API server for this decision. Only a FreshCase
// can start a step or return a node to service. StepPermits checks each later call of a started
// step.
#pragma once

#include <chrono>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "core/kube/api.h"
#include "core/kube/objects.h"
#include "remediator/act/reconciler_parts.h"
#include "remediator/cluster/exclusions.h"
#include "remediator/decide/decide.h"
#include "remediator/model/health_report.h"
#include "remediator/model/remediation.h"
#include "remediator/policy/policy.h"

namespace gpuward::remediator {

// Interval between checks of a node that waits for other nodes which failed at the same time.
inline constexpr std::chrono::milliseconds kStormInterval{300};

// How long gpuward waits until all nodes that failed at the same moment are tainted.
inline constexpr std::chrono::milliseconds kTaintsFirst{30'000};

// Returns whether the API server will refuse again until an operator changes something.
inline bool is_permanent(ErrorKind kind) {
  return kind == ErrorKind::kForbidden || kind == ErrorKind::kInvalid ||
         kind == ErrorKind::kRefused;
}

// The changes to a Node, made in one patch.
struct NodePlan {
  kube::NodeChange change;
  // Set if the plan cordons the node: true if another writer than gpuward had already cordoned it.
  std::optional<bool> pre_existing_cordon = {};
};

struct Case {
  Remediation remediation;
  std::optional<kube::Node> node;
  kube::Node target;  // The node, or its recorded identity if it is gone or replaced.
  std::shared_ptr<const Policy> policy;
  Decision decision = {};
  std::optional<ExclusionHit> excluded = {};
  // Whether other nodes that failed at the same moment still lack their taint, or their record.
  // gpuward first taints those nodes, then records the changes here, and then records details about
  // this node.
  bool are_others_untainted = false, are_others_unrecorded = false;
  std::optional<HealthReport> report = {};  // Set if the decision read it.
  bool has_asked_slot = false;
};

// A case that was read from the API server. Only CaseReader can create one.
class FreshCase {
 public:
  [[nodiscard]] Case& operator*() { return case_; }
  [[nodiscard]] const Case& operator*() const { return case_; }
  [[nodiscard]] Case* operator->() { return &case_; }
  [[nodiscard]] const Case* operator->() const { return &case_; }

 private:
  friend class CaseReader;
  explicit FreshCase(Case read) : case_(std::move(read)) {}

  Case case_;
};

[[nodiscard]] inline Case& case_in(Case& now) { return now; }
[[nodiscard]] inline Case& case_in(FreshCase& now) { return *now; }

// Reads the inputs of a decision from the view, which may lag behind, or from the API server. Any
// thread may call it.
class CaseReader {
 public:
  explicit CaseReader(const ReconcilerParts& parts) : parts_(parts) {}

  // Reads the case from the view; nullopt if the view is not enough to decide.
  [[nodiscard]] std::optional<Case> recall(const std::string& name,
                                           std::shared_ptr<const Policy> policy);
  // Reads the case from the API server; nullopt if the Remediation is gone. The Node of a closed
  // Remediation is not read.
  [[nodiscard]] Result<std::optional<FreshCase>> read(const std::string& name,
                                                      std::shared_ptr<const Policy> policy);
  // Reads the case again right before a call, the Remediation last. Returns kCancelled if an
  // operator has paused or cancelled the Remediation, if it is closed, or if its node is gone.
  [[nodiscard]] Result<FreshCase> read_again(const std::string& name, const std::string& node,
                                             std::shared_ptr<const Policy> policy);
  // Reads the Remediation alone, with the errors of read_again().
  [[nodiscard]] Result<Remediation> read_wish(const std::string& name);
  // Makes the next check read from the API server, because the view was not enough or may have
  // caused a failure by its age.
  void distrust(const std::string& name);
  [[nodiscard]] bool is_distrusted(const std::string& name);
  // Allows the next check to use the view again.
  void trust(const std::string& name);

 private:
  [[nodiscard]] Status look_up_named(const kube::Node& node, const std::string& reading);
  [[nodiscard]] Status look_up_exclusion(Case& now, std::chrono::milliseconds max_age);

  const ReconcilerParts& parts_;
  std::mutex mutex_;
  std::set<std::string> distrusted_;  // Names of Remediations.
};

// Calls decide() with the Answers that the case allows. Thread-safe.
class CaseDecider {
 public:
  explicit CaseDecider(const ReconcilerParts& parts) : parts_(parts) {}

  // Decides from the view; returns false if the view is not enough. The only question that it asks
  // is for a slot for taint and cordon.
  [[nodiscard]] bool decide_cached(Case& now) const;
  void decide_fresh(FreshCase& now) const;
  // Returns the decision that follows if the record has the status `next`; nullopt if the decision
  // depends on an answer. Asks no question.
  [[nodiscard]] std::optional<Decision> decide_after(const Case& now,
                                                     const RemediationStatus& next) const;
  // Returns an error unless the decision on the case is still to watch `step`, which has begun.
  // Asks no question.
  [[nodiscard]] Status check_under_way(const FreshCase& now, Step step) const;
  // Counts the Remediation as new, before its first step. Repeated until the first step is
  // recorded. A request for a slot counts the Remediation too.
  [[nodiscard]] Status count_arrival(const Case& now) const;
  // Returns the report of the node's exporter, read from Prometheus.
  [[nodiscard]] Result<HealthReport> report_of(const std::string& node) const;

 private:
  [[nodiscard]] DecisionInputs inputs_of(const Case& now) const;
  [[nodiscard]] std::string goes_first_of(const Case& now) const;
  [[nodiscard]] std::string left_cordon_of(const Case& now) const;
  void decide_with(Answers& answers, Case& now) const;
  [[nodiscard]] std::optional<Decision> decide_unasked(const Case& now) const;

  const ReconcilerParts& parts_;
};

}  // namespace gpuward::remediator
