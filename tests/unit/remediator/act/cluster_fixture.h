// A cluster in memory with the Remediation resource defined, and the reconciler's parts around it
// on one thread. Base of the tests of act/.
#pragma once

#include <gmock/gmock.h>

#include <memory>
#include <set>
#include <string>
#include <vector>

#include "core/kube/decode.h"
#include "remediator/act/controller.h"
#include "remediator/cluster/remediation_json.h"
#include "remediator/inbox/remediation_intake.h"
#include "remediator/model/node_mark.h"
#include "remediator/policy/current_policy.h"
#include "tests/fakes/fake_clock.h"
#include "tests/fakes/fake_kube.h"
#include "tests/fakes/in_process_client.h"
#include "tests/fakes/kube_objects.h"
#include "tests/fakes/remediation_definition.h"

namespace gpuward::remediator {

class NoCredentials final : public kube::Credentials {
 public:
  Result<std::string> authorization() override { return std::string(); }
  void reject(const std::string&) override {}
};

class RecordingAnnouncer final : public Announcer {
 public:
  void announce(kube::NodeEvent event) override { events.push_back(std::move(event)); }
  Status deliver(const kube::NodeEvent& event) override {
    if (!telling) return telling;
    told.push_back(event);
    return {};
  }
  std::vector<kube::NodeEvent> events, told;
  Status telling;  // the result of deliver()
};

// Records the events for sinks of any name, and accepts them if `take` is set.
class RecordingNotifications final : public Notifications {
 public:
  bool are_notified(const NotificationEvent& event, const std::vector<std::string>&) override {
    events.push_back(event);
    return take;
  }
  std::vector<NotificationEvent> events;  // one for each time that gpuward offers it
  bool take = true;
};

class RecordingObserver final : public ReconcileObserver {
 public:
  void on_audit(const AuditRecord& record) override {
    moments.push_back(record.moment);
    verdicts.push_back(record.decision.verdict);
  }
  void on_error(const std::string&, const Error& error) override { errors.push_back(error); }
  void on_milestone(Milestone milestone, std::chrono::duration<double> since_fault) override {
    milestones.emplace_back(milestone, since_fault.count());
  }
  std::vector<std::pair<Milestone, double>> milestones;
  std::vector<AuditMoment> moments;
  std::vector<Verdict> verdicts;
  std::vector<Error> errors;
};

class FixedReports final : public HealthReports {
 public:
  Result<HealthReport> latest(std::string_view) override {
    ++asked;
    if (before) std::exchange(before, {})();
    return answer;
  }
  int asked = 0;
  Result<HealthReport> answer = fail(ErrorKind::kNotFound, "nothing known");
  std::function<void()> before;  // called once
};

class FixedSlots final : public Slots {
 public:
  Result<std::optional<SlotRefusal>> take(const Remediation& remediation, const kube::Node&,
                                          Step step) override {
    asked.push_back(remediation.name + "/" + std::string(to_string(step)));
    if (is_arrival(remediation)) arrivals.push_back(remediation.name);
    if (before) before();
    return answer;
  }
  Result<std::optional<SlotRefusal>> worn_out(const Remediation&, const kube::Node&,
                                              Step) override {
    return is_worn_out;
  }
  Status arrived(const Remediation& remediation) override {
    arrivals.push_back(remediation.name);
    return {};
  }
  Status give_back(const Remediation& remediation) override {
    given_back.push_back(remediation.name);
    return {};
  }
  Result<std::optional<SlotRefusal>> answer = std::nullopt, is_worn_out = std::nullopt;
  std::function<void()> before;  // called just before it answers
  std::vector<std::string> asked, arrivals, given_back;
};

// A step that the test scripts.
class ScriptedStep final : public StepAction {
 public:
  Facts facts_before(const kube::Node& node) const override {
    Facts known = more_before;
    known["boot"] = node.boot_id;
    return known;
  }
  Result<std::optional<std::string>> obstacle(const StepRequest&) override { return waits_for; }
  Result<StepProgress> begin(const StepRequest& request) override {
    ++begun;
    return next(request);
  }
  Result<StepProgress> watch(const StepRequest& request) override {
    ++watched;
    return next(request);
  }
  Result<std::optional<StepUndone>> undone(const StepRequest&) override { return undoing; }
  Status abandon(const StepRequest& request) override {
    ++abandoned;
    facts = request.facts;
    return abandoning;
  }
  Result<StepProgress> next(const StepRequest& request) {
    facts = request.facts;
    step = request.step;
    if (before) before();
    permit = request.permit;
    permitted = permit();
    auto answer = progress;
    if (answer) answer->facts = request.facts;
    if (answer) answer->facts.insert(adds.begin(), adds.end());
    return answer;
  }
  Facts more_before;
  Result<StepProgress> progress = StepProgress{};
  std::function<void()> before;    // called just before the step asks for its permit
  std::function<Status()> permit;  // the permit of the last call
  Result<std::optional<std::string>> waits_for = std::nullopt;
  Result<std::optional<StepUndone>> undoing = std::nullopt;
  Status permitted, abandoning;
  Facts facts, adds;  // those of the last call; those to add to the answer
  PlannedStep step;   // that of the last call
  int begun = 0, watched = 0, abandoned = 0;
};

inline kube::ApiOptions one_try() {
  kube::ApiOptions options;
  options.server = "http://fake";
  options.retry_deadline = std::chrono::milliseconds(0);
  return options;
}

// One process of the remediator. Its memory is lost with it.
struct Replica {
  Replica(kube::Api& api, Clock& clock, CurrentPolicy& policy, HealthReports* reports,
          ActiveAlerts* alerts, Slots& slots, StepActions step_actions,
          std::function<Status()> permit, ExclusionStore* exclusions,
          ApprovalGuard* guard = nullptr, ProofSource* proofs = nullptr)
      : store(api),
        queue(clock, 1000),
        intake(view, store, queue, clock),
        reconciler({.api = api,
                    .store = store,
                    .view = view,
                    .policy = policy,
                    .reports = reports,
                    .alerts = alerts,
                    .slots = slots,
                    .step_actions = std::move(step_actions),
                    .permit = std::move(permit),
                    .announcer = announcer,
                    .observer = recorder,
                    .clock = clock,
                    .notifications = &notifications,
                    .exclusions = exclusions,
                    .guard = guard,
                    .proofs = proofs}) {
    view.informers().note_synced(Informer::kNodes);
    view.informers().note_synced(Informer::kRemediations);
  }
  RemediationStore store;
  ClusterView view;
  std::set<std::string> nodes_seen;
  WorkQueue queue;
  RecordingAnnouncer announcer;
  RecordingNotifications notifications;
  RecordingObserver recorder;
  RemediationIntake intake;
  Reconciler reconciler;
};

class ClusterTest : public ::testing::Test {
 protected:
  ClusterTest() : policy_(Policy{}) {
    kube_.create(kDefinitions, remediation_definition());
    Policy policy;
    policy.mode = Mode::kCordon;
    policy_.set(policy);
    add_node("gpu-01");
    restart();
    kube_.clear_requests();
  }

  // Starts a new process. Everything that was only in memory is lost.
  void restart() {
    replica_ = make_replica();
    catch_up(*replica_);
  }

  // Makes another process beside it, with an empty view.
  std::unique_ptr<Replica> make_replica() {
    return std::make_unique<Replica>(
        api_, clock_, policy_, &reports_, alerts_, slots_,
        [this](Step step) { return action_of(step); }, [this] { return permit_; }, exclusions_,
        guard_, proofs_);
  }

  // The action of a step; a scripted one unless a test overrides this.
  virtual StepAction* action_of(Step step) { return &steps_[step]; }

  // Brings the view up to date as the informers would. The faults of the API do not apply.
  void catch_up(Replica& replica) {
    std::set<std::string> names;
    const Json nodes = kube_.get("/api/v1/nodes");
    for (const Json& item : nodes.at("items")) {
      auto node = *kube::decode_node(item);
      names.insert(node.meta.name);
      auto census = fleet_node(node, place_keys(policy_.get()->budgets));
      replica.view.put_node(std::move(node), std::move(census));
    }
    for (const std::string& name : replica.nodes_seen) {
      if (!names.contains(name)) replica.view.remove_node(name);
    }
    replica.nodes_seen = std::move(names);
    const Json remediations = kube_.get(remediation_collection());
    for (const Json& item : remediations.at("items"))
      replica.view.put_remediation(*read_remediation(item));
  }

  void add_node(const std::string& name) {
    kube_.create("/api/v1/nodes", fakes::ready_node(name));
    if (replica_) catch_up(*replica_);
  }

  void set_policy(Mode mode, bool returns = false) {
    Policy policy;
    policy.mode = mode;
    policy.return_to_service.enabled = returns;
    policy_.set(policy);
  }

  AlertSignal signal(Severity severity = Severity::kReboot, bool firing = true) {
    return {.node = "gpu-01",
            .severity = severity,
            .alertname = "GpuNodeBad",
            .fingerprint = "ab",
            .firing = firing,
            .starts_at = clock_.wall(),
            .ends_at = clock_.wall()};
  }

  // Makes the step end with that result from now on.
  void end(Step step, StepResult result = StepResult::kDone) {
    steps_[step].progress =
        StepProgress{.result = result, .message = "so it ended", .facts = {}, .look_again = {}};
  }

  // The report that the exporter on gpu-01 gives now: of the kernel log and of all checks.
  HealthReport report_of(Severity severity, const std::string& boot = "boot-gpu-01") {
    return {.measured_at = clock_.wall(),
            .severity = severity,
            .confirmed_severity = severity,
            .boot_id = boot,
            .sees_kernel_log = true};
  }

  Result<IntakeCounts> take(const std::vector<AlertSignal>& signals) {
    return replica_->intake.take(signals, clock_.steady() + std::chrono::seconds(1));
  }

  // Reconciles as the controller's worker does, with a view that is up to date. Retries after a
  // failure, at most `tries` times.
  bool reconcile(int tries = 10, const std::string& node = "gpu-01") {
    catch_up(*replica_);
    for (int i = 0; i < tries; ++i) {
      look_ = replica_->reconciler.reconcile(node);
      if (look_.errors.empty()) return true;
    }
    return false;
  }

  // Lets time pass while a leader looks each minute.
  void pass(std::chrono::milliseconds time) {
    while (time.count() > 0) {
      const auto next = std::min<std::chrono::milliseconds>(time, std::chrono::minutes(1));
      clock_.advance(next);
      time -= next;
      ASSERT_TRUE(reconcile());
    }
  }

  kube::Node node(const std::string& name = "gpu-01") { return *api_.get_node(name); }
  std::vector<Remediation> remediations() {
    std::vector<Remediation> all;
    const auto objects = api_.list_custom(remediation_type());
    for (const auto& object : *objects) {
      all.push_back(*to_remediation(object));
    }
    return all;
  }
  Remediation remediation() {
    const auto all = remediations();
    EXPECT_EQ(all.size(), 1U);
    return all.empty() ? Remediation{} : all[0];
  }
  std::size_t writes() {
    std::size_t count = 0;
    for (const auto& request : kube_.requests()) count += request.method != "GET" ? 1 : 0;
    return count;
  }
  std::size_t node_writes() { return kube_.requests("PATCH", "/api/v1/nodes/").size(); }
  void expect_quarantined(const std::string& value = "reboot") {
    EXPECT_EQ(our_taint_on(node()), value);
    EXPECT_TRUE(node().unschedulable);
    EXPECT_TRUE(owner_annotation_on(node()));
    EXPECT_EQ(remediation().status.phase, Phase::kQuarantined);
    EXPECT_TRUE(remediation().status.has_done(Step::kTaint));
    EXPECT_TRUE(remediation().status.has_done(Step::kCordon));
  }

  fakes::FakeClock clock_{fakes::FakeClock::Mode::kAutoAdvance};
  fakes::FakeKube kube_{clock_};
  fakes::InProcessClient http_{kube_};
  NoCredentials credentials_;
  kube::Api api_{one_try(), http_, credentials_, clock_};
  CurrentPolicy policy_;
  FixedReports reports_;
  ActiveAlerts* alerts_ = nullptr;        // no Alertmanager to ask
  ExclusionStore* exclusions_ = nullptr;  // no node is excluded
  ProofSource* proofs_ = nullptr;         // nothing proves a machine down
  ApprovalGuard* guard_ = nullptr;        // approvals are not checked for a guard
  FixedSlots slots_;
  std::map<Step, ScriptedStep> steps_;
  Status permit_;
  std::unique_ptr<Replica> replica_;
  NodeLook look_;  // the last one
};

}  // namespace gpuward::remediator
