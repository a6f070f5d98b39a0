// One Remediation with its Node and the policy for it, as the loop hands it on: read and decided
// here, carried out and recorded by the files beside this one. What it rests on is its type: a Case
// may be what the informers reported last, which is enough for taint, cordon and records; a
// FreshCase was read from the API server for this decision: without one no step is begun and no
// node returns to service. What a step that has begun sends later, StepPermits allows call by call.
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

// How soon a node that waits for others which failed with it is checked again.
inline constexpr std::chrono::milliseconds kStormInterval{300};

// How long a node that failed at the same moment may take to be marked.
inline constexpr std::chrono::milliseconds kTaintsFirst{30'000};

// The API server says no and will say no again until somebody changes something.
inline bool is_permanent(ErrorKind kind) {
  return kind == ErrorKind::kForbidden || kind == ErrorKind::kInvalid ||
         kind == ErrorKind::kRefused;
}

// What is to be changed in a Node, in one patch.
struct NodePlan {
  kube::NodeChange change;
  // Where the plan puts a cordon on the node: whether somebody else had put one there before.
  std::optional<bool> pre_existing_cordon = {};
};

struct Case {
  Remediation remediation;
  std::optional<kube::Node> node;
  kube::Node target;  // the node, or what is remembered of it where it is gone or another one
  std::shared_ptr<const Policy> policy;
  Decision decision = {};
  std::optional<ExclusionHit> excluded = {};
  // Of others that failed at the same moment, as this one did: their marks come before what was
  // done here is written down, that before what is only good to know of this one.
  bool are_others_untainted = false, are_others_unrecorded = false;
  std::optional<HealthReport> report = {};  // where the decision asked for it
  bool has_asked_slot = false;
};

// Made by CaseReader alone.
class FreshCase {
 public:
  [[nodiscard]] Case& operator*() { return case_; }
  [[nodiscard]] Case* operator->() { return &case_; }

 private:
  friend class CaseReader;
  explicit FreshCase(Case read) : case_(std::move(read)) {}

  Case case_;
};

[[nodiscard]] inline Case& case_in(Case& now) { return now; }
[[nodiscard]] inline Case& case_in(FreshCase& now) { return *now; }

// Reads what a decision is about: out of the view, which may lag behind, or from the API server.
// Any thread.
class CaseReader {
 public:
  explicit CaseReader(const ReconcilerParts& parts) : parts_(parts) {}

  // As it was last seen; nullopt where that is not enough to decide anything.
  [[nodiscard]] std::optional<Case> recall(const std::string& name,
                                           std::shared_ptr<const Policy> policy);
  // As it is now; nullopt: the Remediation is gone. Of a closed one the Node is not read.
  [[nodiscard]] Result<std::optional<FreshCase>> read(const std::string& name,
                                                      std::shared_ptr<const Policy> policy);
  // Right before a call: an error where an operator has said pause or cancel since the case was
  // read, or where the Remediation is closed.
  [[nodiscard]] Result<Remediation> read_wish(const std::string& name);
  // The view was not enough, or a failure may come of its being old: the next look is at what is
  // true.
  void distrust(const std::string& name);
  [[nodiscard]] bool is_distrusted(const std::string& name);
  // The next look may be at the view again.
  void trust(const std::string& name);

 private:
  [[nodiscard]] Status look_up_named(const kube::Node& node, const std::string& reading);
  [[nodiscard]] Status look_up_exclusion(Case& now, std::chrono::milliseconds max_age);

  const ReconcilerParts& parts_;
  std::mutex mutex_;
  std::set<std::string> distrusted_;  // Remediations
};

// Asks decide(), and fetches what it asks for: a health report, the alerts that fire, the guard of
// approvals, a slot of the budgets. Any thread.
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
  [[nodiscard]] DecisionInputs inputs_of(const Case& now) const;
  [[nodiscard]] std::string goes_first_of(const Case& now) const;
  [[nodiscard]] std::string left_cordon_of(const Case& now) const;
  [[nodiscard]] bool ask(const Decision& asked, Case& now, DecisionInputs& inputs) const;
  template <typename MayGoOn>
  void decide_with_answers(Case& now, const MayGoOn& may_go_on) const;

  const ReconcilerParts& parts_;
};

}  // namespace gpuward::remediator
