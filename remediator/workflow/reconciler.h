// Carries out decide(): decides on the Remediation and its Node as they were last seen, or reads
// them afresh where more than a mark on the node hangs on it, writes the intent into the status,
// acts with one guarded patch, writes the result. Any step may be cut off; the next run goes on
// from there.
#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "core/kube/api.h"
#include "core/runtime/clock.h"
#include "remediator/actions/action.h"
#include "remediator/actions/announcer.h"
#include "remediator/actions/step_action.h"
#include "remediator/gates/joint_read.h"
#include "remediator/notify/notifier.h"
#include "remediator/policy/current_policy.h"
#include "remediator/safety/active_alerts.h"
#include "remediator/safety/approval_guard.h"
#include "remediator/safety/health_report.h"
#include "remediator/safety/slots.h"
#include "remediator/workflow/cluster_view.h"
#include "remediator/workflow/exclusion_store.h"
#include "remediator/workflow/observer.h"
#include "remediator/workflow/remediation_store.h"

namespace gpuward::remediator {

struct World;

// All must outlive the reconciler; `reports` is null where no Prometheus is configured,
// `alerts` where no Alertmanager is.
struct ReconcilerParts {
  kube::Api& api;
  RemediationStore& store;
  ClusterView& view;
  CurrentPolicy& policy;
  HealthReports* reports;
  ActiveAlerts* alerts;
  Slots& slots;
  StepActions step_actions;
  // Why nothing may be changed right now, for any node; asked before every change.
  std::function<Status()> permit;
  Announcer& announcer;
  WorkflowObserver& observer;
  Clock& clock;
  Notifications* notifications = nullptr;  // null: nobody is told but by Events
  ExclusionStore* exclusions = nullptr;    // null: nobody is excluded for a while
  ApprovalGuard* guard = nullptr;          // null: approvals are believed as they are
  // Whether this process leads still; asked last before anything leaves for others than the API
  // server, which refuses those who do not. Null: there is no other.
  std::function<bool()> leads = {};
};

class Reconciler {
 public:
  explicit Reconciler(ReconcilerParts parts) : parts_(std::move(parts)) {}

  // When to look at the node again (nullopt: when something changes), or why it must be tried
  // again. One call a node at a time; several nodes at once.
  [[nodiscard]] Result<std::optional<std::chrono::milliseconds>> reconcile(const std::string& node);

 private:
  struct Case;  // one Remediation with all that was read for it
  [[nodiscard]] Result<std::optional<std::chrono::milliseconds>> reconcile_one(
      const std::string& name, const std::shared_ptr<const Policy>& policy);
  [[nodiscard]] std::optional<Case> recall(const std::string& name,
                                           std::shared_ptr<const Policy> policy);
  [[nodiscard]] Result<std::optional<Case>> read(const std::string& name,
                                                 std::shared_ptr<const Policy> policy);
  [[nodiscard]] Status look_up_named(const kube::Node& node, const std::string& reading);
  [[nodiscard]] static Case case_of(Remediation remediation, std::optional<kube::Node> node,
                                    std::shared_ptr<const Policy> policy);
  [[nodiscard]] Result<std::optional<std::chrono::milliseconds>> go_on(Case& now);
  [[nodiscard]] Status look_up_exclusion(Case& now);
  void distrust(const std::string& name);
  void trust(const std::string& name);
  void forget(const std::string& name);
  [[nodiscard]] Result<HealthReport> report_of(const std::string& node);
  // Of a closed Remediation its end is told.
  [[nodiscard]] Result<std::optional<std::chrono::milliseconds>> see_off(Case& now);
  // Lets a closed Remediation that somebody has deleted go.
  [[nodiscard]] Result<std::optional<std::chrono::milliseconds>> let_go(const Remediation& closed);
  [[nodiscard]] Status count_arrival(const Case& now);
  [[nodiscard]] std::string goes_first_of(const Case& now) const;
  [[nodiscard]] World world_of(const Case& now) const;
  [[nodiscard]] Decision decide_with_answers(Case& now);
  [[nodiscard]] Status carry_out(Case& now);
  [[nodiscard]] bool weighs_evidence(const Case& now) const;
  [[nodiscard]] Status weigh_evidence(Case& now);
  [[nodiscard]] Status act(Case& now);
  // A node that was changed, and whose Remediation does not say so yet.
  struct ToRecord {
    WallTime at;
    std::optional<WallTime> opened = {};
    std::string node = {}, version = {}, node_version = {};  // when it was put off
  };
  void note_change(const std::string& remediation);
  void put_off_record(Case& now);
  [[nodiscard]] bool waits_for_marks(const std::string& name);
  [[nodiscard]] WallTime time_of_change(const std::string& remediation);
  [[nodiscard]] RemediationStatus with_own_marks(const Case& now);
  void forget_record(const Remediation& remediation);
  [[nodiscard]] Status abandon_steps(const Case& now, bool (*which)(Step));
  [[nodiscard]] Status wait_for(Case& now, const std::string& what);
  [[nodiscard]] Status hold_back(Case& now, const Error& why);
  [[nodiscard]] Status begin_step(Case& now);
  [[nodiscard]] Status record_call(Case& now, const Result<StepProgress>& progress);
  [[nodiscard]] Status watch_step(Case& now);
  [[nodiscard]] Status record_progress(Case& now, const Result<StepProgress>& progress);
  [[nodiscard]] std::optional<Decision> end_after(const Case& now, const RemediationStatus& next);
  void note_words(const std::string& remediation);
  [[nodiscard]] bool is_not_worth_a_write(const Case& now, const RemediationStatus& next);
  [[nodiscard]] StepOrder order_of(const Case& now);
  // The same question as parts_.permit, for one Remediation: read afresh, because a human may have
  // said cancel or pause since.
  [[nodiscard]] Status permit(const std::string& remediation);
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
  // Node is another. All is read afresh, and an answer that rests on what was read more than 30 s
  // ago is a no.
  [[nodiscard]] Status permit_step(const Claim& claim);
  [[nodiscard]] Status check_intent(const Claim& claim);
  [[nodiscard]] Status check_node(const Claim& claim);
  [[nodiscard]] Status check_hands_off(const Claim& claim, const kube::Node& node);
  [[nodiscard]] Result<Remediation> wish_on(const std::string& remediation);
  [[nodiscard]] Status record_intent(Case& now, const NodePlan& plan);
  void withdraw_intent(Case& now, const Error& why, const RemediationStatus& without_intent);
  [[nodiscard]] Status record_failure(Case& now, const Error& error);
  [[nodiscard]] Status write(Case& now, const RemediationStatus& next);
  void audit(const Case& now, AuditMoment moment, const std::string& error = {});
  void announce(const Case& now, Phase before);
  [[nodiscard]] Status tell_human(Case& now);
  // Hands what is to be told to the sinks, and writes down what they have.
  [[nodiscard]] Status tell_sinks(Case& now);
  void say(const Case& now, const std::string& what);
  [[nodiscard]] static kube::NodeEvent event_of(const Remediation& remediation,
                                                const std::string& what);

  ReconcilerParts parts_;
  std::mutex mutex_;
  std::set<std::string> distrusted_;              // Remediations of which the view was not enough
  std::map<std::string, ToRecord> to_record_;     // by Remediation
  std::map<std::string, Clock::Steady> said_at_;  // by Remediation, of steps that go on
  std::optional<Clock::Steady> last_said_;        // of all of them
  JointReads
      wishes_;  // by Remediation and step: many evictions of one drain wait at the same moment
};

}  // namespace gpuward::remediator
