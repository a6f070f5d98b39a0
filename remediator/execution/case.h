// One Remediation with its Node and the policy for it. It is read and decided here; the other files
// of this folder carry it out and record it. Its type says what it rests on. A Case may hold what
// the informers reported last, which is enough for taint, cordon and records. A FreshCase was read
// from the API server for this decision: without one no step starts and no node returns to service.
// StepPermits allows, call by call, what a started step sends later.
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
#include "remediator/decision/decide.h"
#include "remediator/execution/reconciler_parts.h"
#include "remediator/guards/exclusions.h"
#include "remediator/model/health_report.h"
#include "remediator/model/remediation.h"
#include "remediator/policy/policy.h"

namespace gpuward::remediator {

// How soon a node that waits for others which failed at the same time is checked again.
inline constexpr std::chrono::milliseconds kStormInterval{300};

// How long gpuward waits for the taint on a node that failed at the same moment.
inline constexpr std::chrono::milliseconds kTaintsFirst{30'000};

// Whether the API server will refuse again until an operator changes something.
inline bool is_permanent(ErrorKind kind) {
  return kind == ErrorKind::kForbidden || kind == ErrorKind::kInvalid ||
         kind == ErrorKind::kRefused;
}

// The changes to a Node, made in one patch.
struct NodePlan {
  kube::NodeChange change;
  // Set if the plan cordons the node: whether it was already cordoned, not by gpuward.
  std::optional<bool> pre_existing_cordon = {};
};

struct Case {
  Remediation remediation;
  std::optional<kube::Node> node;
  kube::Node target;  // the node, or its recorded identity if it is gone or replaced
  std::shared_ptr<const Policy> policy;
  Decision decision = {};
  std::optional<ExclusionHit> excluded = {};
  // About nodes that failed at the same moment as this one. Their taints come before the record of
  // the changes made here, and that record before details about this node.
  bool are_others_untainted = false, are_others_unrecorded = false;
  std::optional<HealthReport> report = {};  // if the decision asked for it
  bool has_asked_slot = false;
};

// Only CaseReader makes one.
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
// thread.
class CaseReader {
 public:
  explicit CaseReader(const ReconcilerParts& parts) : parts_(parts) {}

  // Reads the case from the view; nullopt if that is not enough to decide.
  [[nodiscard]] std::optional<Case> recall(const std::string& name,
                                           std::shared_ptr<const Policy> policy);
  // Reads the case from the API server; nullopt: the Remediation is gone. The Node of a closed one
  // is not read.
  [[nodiscard]] Result<std::optional<FreshCase>> read(const std::string& name,
                                                      std::shared_ptr<const Policy> policy);
  // Called right before a call: reads the case again, the Remediation last. Returns kCancelled if
  // an operator has paused or cancelled the Remediation, if it is closed, or if its node is gone.
  [[nodiscard]] Result<FreshCase> read_again(const std::string& name, const std::string& node,
                                             std::shared_ptr<const Policy> policy);
  // Returns the Remediation alone, with the errors of read_again.
  [[nodiscard]] Result<Remediation> read_wish(const std::string& name);
  // The view was not enough, or a failure may come from its age: the next check reads from the API
  // server.
  void distrust(const std::string& name);
  [[nodiscard]] bool is_distrusted(const std::string& name);
  // The next check may use the view again.
  void trust(const std::string& name);

 private:
  [[nodiscard]] Status look_up_named(const kube::Node& node, const std::string& reading);
  [[nodiscard]] Status look_up_exclusion(Case& now, std::chrono::milliseconds max_age);

  const ReconcilerParts& parts_;
  std::mutex mutex_;
  std::set<std::string> distrusted_;  // Remediations
};

// Calls decide() with the Answers that the case allows. Thread-safe.
class CaseDecider {
 public:
  explicit CaseDecider(const ReconcilerParts& parts) : parts_(parts) {}

  // Returns false if the view is not enough to decide. Asks for nothing but a slot for taint and
  // cordon.
  [[nodiscard]] bool decide_cached(Case& now) const;
  void decide_fresh(FreshCase& now) const;
  // Returns the decision that follows if the record says `next`; nullopt if that depends on an
  // answer. Asks for nothing.
  [[nodiscard]] std::optional<Decision> decide_after(const Case& now,
                                                     const RemediationStatus& next) const;
  // Returns an error unless the decision on the case is still to watch `step`, which is under way.
  // Asks for nothing.
  [[nodiscard]] Status check_under_way(const FreshCase& now, Step step) const;
  // Counts the Remediation as new, before any step for it; repeated until the first step is
  // recorded. A request for a slot counts it as well.
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
