// A GPU reset beside NVIDIA's GPU operator: gpuward pauses its operands, decides about the reset
// again, and resumes them after any outcome of the reset.
#include <algorithm>
#include <functional>
#include <tuple>
#include <utility>

#include "core/kube/gpu_operator_labels.h"
#include "remediator/act/actions/gpu_reset_action.h"
#include "remediator/act/actions/step_progress.h"
#include "remediator/model/gpu_operands.h"
#include "tests/unit/remediator/act/cluster_fixture.h"

namespace gpuward::remediator {
namespace {

using fakes::FaultKind;
using std::chrono::minutes;
using std::chrono::seconds;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

constexpr const char* kNodeOfOperands = "/api/v1/nodes/gpu-01";
constexpr const char* kOperatorPods = "/api/v1/namespaces/gpu-operator/pods";
constexpr const char* kResetJobs = "/apis/batch/v1/namespaces/gpu-healthcheck/jobs";
constexpr const char* kResetPods = "/api/v1/namespaces/gpu-healthcheck/pods";
const std::string kPlugin = "nvidia.com/gpu.deploy.device-plugin";
const std::string kDcgm = "nvidia.com/gpu.deploy.dcgm-exporter";
const std::string kUpgrade = "nvidia.com/gpu-driver-upgrade-state";

class OperandsTest : public ClusterTest {
 protected:
  OperandsTest() {
    for (const char* name : {"gpu-healthcheck", "gpu-operator"}) {
      kube_.create(
          "/api/v1/namespaces",
          Json{{"apiVersion", "v1"}, {"kind", "Namespace"}, {"metadata", {{"name", name}}}});
    }
    clock_.advance(minutes(15));  // the node is not new
    Policy policy;
    policy.mode = Mode::kFull;
    policy.jobs.image = "here/gpuward:1";
    for (const Step step : {Step::kTaint, Step::kCordon, Step::kGpuReset, Step::kVerify})
      policy.steps[Severity::kReset].push_back(planned(step));
    policy_.set(policy);
    reports_.answer = report_of(Severity::kReset);
    kube_.patch(kNodeOfOperands, {{"spec", {{"providerID", "gce://p/z/gpu-01"}}}});
    label({{kPlugin, "true"}, {kDcgm, "true"}, {"nvidia.com/gpu.deploy.dcgm", "false"}});
    add_pod("plugin", kPlugin);
    add_pod("dcgm", kDcgm);
  }
  StepAction* action_of(Step step) override {
    return step == Step::kGpuReset ? &reset_ : ClusterTest::action_of(step);
  }

  void label(const Json& labels) {
    kube_.patch(kNodeOfOperands, {{"metadata", {{"labels", labels}}}});
  }
  std::string label_of(const std::string& key) {
    return fakes::label_of(kube_.get(kNodeOfOperands), key);
  }
  void add_pod(const std::string& name, const std::string& key) {
    Json pod = fakes::pod(name, "gpu-01");
    pod["metadata"]["namespace"] = "gpu-operator";
    pod["spec"]["nodeSelector"] = {{key, "true"}};
    kube_.create(kOperatorPods, pod);
  }
  void remove_pod(const std::string& name) {
    kube_.remove(std::string(kOperatorPods) + "/" + name);
  }
  void open() {
    AlertSignal bad = signal(Severity::kReset);
    ASSERT_TRUE(take({bad}));
    ASSERT_TRUE(reconcile());  // taint and cordon
    ASSERT_TRUE(reconcile());
  }
  // Continues until the pods are gone and the Job exists.
  void open_and_reset() {
    open();
    remove_pod("plugin");
    remove_pod("dcgm");
    ASSERT_TRUE(reconcile());  // withdraws the intent
    ASSERT_TRUE(reconcile());
    ASSERT_THAT(jobs(), SizeIs(1));
  }
  Json jobs() { return kube_.get(kResetJobs)["items"]; }
  void exit_job(int code, const std::string& words) {
    const Json job = jobs()[0];
    const std::string name = string_at(job["metadata"], "name");
    Json pod = fakes::pod(name + "-pod", "gpu-01", {{"job-name", name}});
    pod["metadata"]["namespace"] = "gpu-healthcheck";
    pod["metadata"]["ownerReferences"] = fakes::owned_by_job(job);
    kube_.create(kResetPods, pod);
    kube_.patch_status(std::string(kResetPods) + "/" + name + "-pod",
                       fakes::ended_pod_status("c", code, words));
    kube_.patch_status(std::string(kResetJobs) + "/" + name,
                       fakes::ended_job_status(code == 0 ? "Complete" : "Failed"));
  }
  void end_job(int code, const std::string& words) {
    exit_job(code, words);
    ASSERT_TRUE(reconcile());
  }
  void annotate(const std::string& key, const std::string& value) {
    kube_.patch(remediation_collection() + "/" + remediation().name,
                {{"metadata", {{"annotations", {{key, value}}}}}});
  }
  Status round() {
    catch_up(*replica_);
    return replica_->reconciler.resume_left_operands();
  }
  Status sweep() {
    if (auto first = round(); !first) return first;
    return round();
  }
  void expect_paused() {
    EXPECT_EQ(label_of(kPlugin), kube::kPausedForReset);
    EXPECT_EQ(label_of(kDcgm), kube::kPausedForReset);
    EXPECT_EQ(label_of("nvidia.com/gpu.deploy.dcgm"), "false") << "an owner's own choice";
  }
  void expect_resumed() {
    EXPECT_EQ(label_of(kPlugin), "true");
    EXPECT_EQ(label_of(kDcgm), "true");
    EXPECT_EQ(label_of("nvidia.com/gpu.deploy.dcgm"), "false");
  }
  StepResult result() {
    const Remediation now = remediation();
    const StepRecord* const record = now.status.find(Step::kGpuReset);
    EXPECT_NE(record, nullptr);
    return record == nullptr ? StepResult::kFailed : record->result;
  }

  // A Remediation that the reconciler does not know.
  Remediation with_step(StepResult result) {
    Remediation made;
    made.node = "gpu-01";
    made.node_uid = node().meta.uid;
    made.status.steps.emplace_back();
    made.status.steps[0].step = Step::kGpuReset;
    made.status.steps[0].result = result;
    return made;
  }

  GpuResetAction reset_{api_, policy_};
};

// The Job of a drill has the name that the Job of the real step gets.
TEST_F(OperandsTest, AreResetForARealFaultAfterTheResetOfADrill) {
  kube_.patch(kNodeOfOperands, {{"metadata", {{"labels", {{"gpuward.dev/drill", "allowed"}}}}}});
  reports_.answer = report_of(Severity::kNone);
  reports_.answer->drill_severity = Severity::kReset;
  AlertSignal drill = signal(Severity::kReset);
  drill.alertname = "GpuDrill";
  drill.fingerprint = "d1";
  drill.drill = true;
  ASSERT_TRUE(take({drill}));
  ASSERT_TRUE(reconcile());
  ASSERT_TRUE(reconcile());
  remove_pod("plugin");
  remove_pod("dcgm");
  ASSERT_TRUE(reconcile());
  ASSERT_TRUE(reconcile());
  ASSERT_THAT(jobs(), SizeIs(1));
  const Json first = jobs()[0]["metadata"];
  end_job(0, "");
  ASSERT_EQ(result(), StepResult::kDone);

  reports_.answer = report_of(Severity::kReset);
  AlertSignal real = signal(Severity::kReset);
  real.starts_at = clock_.wall();
  ASSERT_TRUE(take({real}));
  for (int i = 0; i < 4; ++i) ASSERT_TRUE(reconcile());

  EXPECT_EQ(result(), StepResult::kRunning) << remediation().status.message;
  ASSERT_THAT(jobs(), SizeIs(1));
  EXPECT_EQ(jobs()[0]["metadata"]["name"], first["name"]);
  EXPECT_NE(jobs()[0]["metadata"]["uid"], first["uid"]);
}

TEST_F(OperandsTest, ArePausedUntilTheJobHasEnded) {
  open();
  expect_paused();
  EXPECT_THAT(jobs(), IsEmpty());
  EXPECT_THAT(remediation().status.message,
              HasSubstr("waiting for the pods of the operands dcgm-exporter, device-plugin"));
  EXPECT_EQ(remediation().status.find(Step::kGpuReset)->facts.at("pausedOperands"),
            "dcgm-exporter, device-plugin")
      << "written before anything was changed";

  remove_pod("plugin");
  ASSERT_TRUE(reconcile());
  EXPECT_THAT(jobs(), IsEmpty());
  EXPECT_THAT(remediation().status.message, HasSubstr("gpu-operator/dcgm"));

  remove_pod("dcgm");
  ASSERT_TRUE(reconcile());
  ASSERT_TRUE(reconcile());
  EXPECT_THAT(jobs(), SizeIs(1));
  expect_paused();
  ASSERT_TRUE(sweep());
  expect_paused();

  end_job(0, "reset");
  EXPECT_EQ(result(), StepResult::kDone);
  expect_resumed();
  const std::vector<std::string> history = remediation().status.history;
  EXPECT_THAT(history,
              ::testing::Contains(HasSubstr("paused operands: dcgm-exporter, device-plugin")));
  EXPECT_THAT(history,
              ::testing::Contains(HasSubstr("resumed operands: dcgm-exporter, device-plugin")));
}

// DaemonSets of the cluster's owner, with or without the operator.
TEST_F(OperandsTest, OfTheOwnerArePausedByTheLabelsThatThePolicyNames) {
  const std::string telemetry = "example.com/gpu-telemetry", other = "example.com/gpu-other";
  Policy policy = *policy_.get();
  policy.jobs.pause_labels = {telemetry, "example.com/not-here"};
  policy_.set(policy);
  label({{telemetry, "true"}, {other, "true"}});
  add_pod("telemetry", telemetry);
  open();
  expect_paused();
  EXPECT_EQ(label_of(telemetry), kube::kPausedForReset);
  EXPECT_EQ(label_of(other), "true");
  EXPECT_EQ(remediation().status.find(Step::kGpuReset)->facts.at("pausedOperands"),
            "dcgm-exporter, device-plugin, " + telemetry);
  remove_pod("plugin");
  remove_pod("dcgm");
  ASSERT_TRUE(reconcile());
  EXPECT_THAT(remediation().status.message, HasSubstr("gpu-operator/telemetry"));
  remove_pod("telemetry");
  ASSERT_TRUE(reconcile());
  ASSERT_TRUE(reconcile());
  ASSERT_THAT(jobs(), SizeIs(1));

  end_job(0, "reset");
  expect_resumed();
  EXPECT_EQ(label_of(telemetry), "true");
}

TEST_F(OperandsTest, ThatAreTurnedOnMeanwhileArePausedToo) {
  open();
  label({{"nvidia.com/gpu.deploy.dcgm", "true"}});
  add_pod("late", "nvidia.com/gpu.deploy.dcgm");
  remove_pod("plugin");
  remove_pod("dcgm");
  for (int i = 0; i < 4; ++i) ASSERT_TRUE(reconcile());
  EXPECT_THAT(jobs(), IsEmpty());
  EXPECT_EQ(label_of("nvidia.com/gpu.deploy.dcgm"), kube::kPausedForReset);
  remove_pod("late");
  for (int i = 0; i < 2; ++i) ASSERT_TRUE(reconcile());
  EXPECT_THAT(jobs(), SizeIs(1));
}

TEST_F(OperandsTest, OfTheOwnerAreResumedThoughThePolicyNamesThemNoMore) {
  label({{"example.com/gpu-telemetry", std::string(kube::kPausedForReset)}});
  ASSERT_TRUE(sweep());
  EXPECT_EQ(label_of("example.com/gpu-telemetry"), "true");
}

TEST_F(OperandsTest, AreResumedAfterAFailedReset) {
  open_and_reset();
  end_job(1, "In use by another client");
  EXPECT_EQ(result(), StepResult::kFailed);
  expect_resumed();
}

// The pods may take minutes, and the earlier evidence may be out of date.
TEST_F(OperandsTest, AreNoReasonToResetWithoutFreshEvidence) {
  open();
  remove_pod("plugin");
  remove_pod("dcgm");
  reports_.answer = report_of(Severity::kNone);
  clock_.advance(seconds(5));
  ASSERT_TRUE(reconcile());
  ASSERT_TRUE(reconcile());
  EXPECT_THAT(jobs(), IsEmpty());
  ASSERT_TRUE(sweep());
  expect_resumed();
}

TEST_F(OperandsTest, ThatStayHoldTheNodeAndAreResumed) {
  open();
  pass(minutes(12));
  EXPECT_EQ(remediation().status.phase, Phase::kHeld);
  EXPECT_THAT(remediation().status.message, HasSubstr("not gone in time"));
  EXPECT_THAT(remediation().status.message, HasSubstr("gpu-operator/dcgm"));
  EXPECT_THAT(jobs(), IsEmpty());
  expect_resumed();
}

// Another program, or a guard that comes and goes, may make gpuward pause them again.
TEST_F(OperandsTest, ArePausedThreeTimesAtMost) {
  open();
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(label_of(kPlugin), kube::kPausedForReset) << i;
    label({{kPlugin, "true"}});
    ASSERT_TRUE(reconcile());
    ASSERT_TRUE(reconcile());
  }
  EXPECT_EQ(remediation().status.phase, Phase::kHeld);
  EXPECT_THAT(remediation().status.message, HasSubstr("3 times, and could not reset"));
  expect_resumed();
}

TEST_F(OperandsTest, ThatStayEscalateIfThePolicySaysSoOfBusyGpus) {
  for (const bool escalates : {false, true}) {
    PlannedStep step = planned(Step::kGpuReset);
    step.job.escalates_when_busy = escalates;
    const Remediation made = with_step(StepResult::kRunning);
    label({{kPlugin, std::string(kube::kPausedForReset)},
           {kDcgm, std::string(kube::kPausedForReset)}});
    const kube::Node seen = node();
    const auto progress = reset_.watch({.remediation = made,
                                        .node = seen,
                                        .step = step,
                                        .facts = reset_.facts_before(seen),
                                        .permit = [] { return Status(); },
                                        .now = clock_.wall(),
                                        .ran = step.timeout + seconds(1)});
    ASSERT_TRUE(progress);
    EXPECT_EQ(progress->result, StepResult::kFailed);
    EXPECT_EQ(progress->facts.contains(kNeedsOperatorFact), !escalates);
    expect_resumed();
  }
}

// No replica watches the step in these cases.
class UnwatchedOperandsTest : public OperandsTest,
                              public ::testing::WithParamInterface<std::size_t> {};

TEST_P(UnwatchedOperandsTest, AreResumed) {
  const auto exclude = [&] { label({{"gpuward.dev/managed", "false"}}); };
  const auto uncordon = [&] {
    kube_.patch(kNodeOfOperands, {{"spec", {{"unschedulable", nullptr}}}});
  };
  const auto lower = [&] {
    Policy policy = *policy_.get();
    policy.mode = Mode::kCordon;
    policy_.set(policy);
  };
  open();
  const std::vector<std::function<void()>> changes = {exclude, uncordon, lower};
  changes.at(GetParam())();
  ASSERT_TRUE(reconcile());
  EXPECT_NE(remediation().status.phase, Phase::kResetting);
  ASSERT_TRUE(sweep());
  expect_resumed();
}

INSTANTIATE_TEST_SUITE_P(ByEach, UnwatchedOperandsTest, ::testing::Range<std::size_t>(0, 3));

// The reset was done and cleared its finding, but still counts as a reset.
TEST_F(OperandsTest, AreNoReasonToForgetAJobWhoseAnswerWasLost) {
  open();
  remove_pod("plugin");
  remove_pod("dcgm");
  ASSERT_TRUE(reconcile());
  kube_.add_fault({.kind = FaultKind::kDropAfter, .method = "POST", .path = kResetJobs});
  (void)reconcile(1);
  ASSERT_THAT(jobs(), SizeIs(1));
  exit_job(0, "reset");
  reports_.answer = report_of(Severity::kNone);
  ASSERT_TRUE(reconcile());
  EXPECT_EQ(result(), StepResult::kDone);
  expect_resumed();
}

// A tenant's pod would start into the reset.
TEST_F(OperandsTest, ACancelledNodeReturnsWhenThePodOfTheResetHasEnded) {
  open_and_reset();
  const Json job = jobs()[0];
  const std::string name = string_at(job["metadata"], "name");
  Json pod =
      fakes::pod(name + "-pod", "gpu-01", {{"job-name", name}, {"gpuward.dev/step", "gpu-reset"}});
  pod["metadata"]["namespace"] = "gpu-healthcheck";
  kube_.create(kResetPods, pod);
  kube_.patch_status(std::string(kResetPods) + "/" + name + "-pod",
                     {{"status", {{"phase", "Running"}}}});
  annotate(std::string(kCancelAnnotation), "true");

  EXPECT_FALSE(reconcile(1));
  EXPECT_THAT(jobs(), IsEmpty()) << "the Job is deleted, and its pod ends";
  EXPECT_TRUE(node().unschedulable);
  expect_paused();

  kube_.remove(std::string(kResetPods) + "/" + name + "-pod");
  ASSERT_TRUE(reconcile());
  EXPECT_FALSE(node().unschedulable);
  EXPECT_EQ(remediation().status.phase, Phase::kCancelled);
  expect_resumed();
}

TEST_F(OperandsTest, OfARefusedResetAreNotSaidToBeResumed) {
  kube_.patch(kNodeOfOperands, {{"spec", {{"providerID", "aws:///eu-1a/i-0123456789abcdef0"}}}});
  Policy policy = *policy_.get();
  policy.steps[Severity::kReset][2].job.not_on = {"aws://"};
  policy_.set(policy);
  open();
  EXPECT_THAT(kube_.requests("PATCH", "/api/v1/nodes/"), SizeIs(1)) << "taint and cordon";
  EXPECT_EQ(result(), StepResult::kFailed);
  EXPECT_THAT(remediation().status.history,
              ::testing::Not(::testing::Contains(HasSubstr("resumed operands"))));
}

TEST_F(OperandsTest, AreNotPausedBesideADriverUpgrade) {
  label({{kUpgrade, "drain-required"}});
  open();
  EXPECT_EQ(label_of(kPlugin), "true");
  EXPECT_EQ(remediation().status.phase, Phase::kWaiting);
  EXPECT_THAT(remediation().status.message, HasSubstr("is upgrading the driver"));

  label({{kUpgrade, "upgrade-done"}});
  ASSERT_TRUE(reconcile());
  expect_paused();
}

TEST_F(OperandsTest, AreNotPausedBesideThePauseOfAnotherProgram) {
  label({{kPlugin, "paused-for-mig-change"}});
  open();
  EXPECT_EQ(label_of(kPlugin), "paused-for-mig-change");
  EXPECT_EQ(label_of(kDcgm), "true");
  EXPECT_THAT(remediation().status.message, HasSubstr("paused-for-mig-change"));
}

// The decision saw an older Node, and the pods of the operands have not left yet.
TEST_F(OperandsTest, NeedAnotherDecisionIfAnotherProgramPausesThemRightBeforeTheStep) {
  label({{kPlugin, "paused-for-mig-change"}, {kDcgm, "paused-for-mig-change"}});
  const PlannedStep step = planned(Step::kGpuReset);
  const Remediation made = with_step(StepResult::kIntended);
  const kube::Node seen = node();
  const auto progress = reset_.begin({.remediation = made,
                                      .node = seen,
                                      .step = step,
                                      .facts = reset_.facts_before(seen),
                                      .permit = [] { return Status(); },
                                      .now = clock_.wall()});
  ASSERT_TRUE(progress);
  EXPECT_EQ(progress->result, StepResult::kIntended);
  EXPECT_THAT(jobs(), IsEmpty());
}

// k8s-driver-manager appends its own value. When it removes that later, gpuward's value stays.
TEST_F(OperandsTest, AreLeftToADriverUpgradeThatBeginsMeanwhile) {
  open();
  label({{kPlugin, "paused-for-gpuward-reset_paused-for-driver-upgrade"}});
  ASSERT_TRUE(reconcile());
  EXPECT_EQ(remediation().status.phase, Phase::kWaiting);
  ASSERT_TRUE(sweep());
  EXPECT_EQ(label_of(kPlugin), "paused-for-gpuward-reset_paused-for-driver-upgrade");
  EXPECT_EQ(label_of(kDcgm), "true");
}

TEST_F(OperandsTest, OfADeletedRemediationAreResumed) {
  open();
  kube_.patch(remediation_collection() + "/" + remediation().name,
              {{"metadata", {{"finalizers", nullptr}}}});
  const std::string name = remediation().name;
  kube_.remove(remediation_collection() + "/" + name);
  replica_->view.remove_remediation(name);
  ASSERT_TRUE(sweep());
  expect_resumed();
}

TEST_F(OperandsTest, OfAnAbandonedResetAreResumed) {
  open_and_reset();
  annotate(std::string(kCancelAnnotation), "true");
  ASSERT_TRUE(reconcile());
  EXPECT_THAT(jobs(), IsEmpty());
  expect_resumed();
}

TEST_F(OperandsTest, OfAPausedRemediationAreResumed) {
  open();
  annotate(std::string(kPauseAnnotation), "true");
  ASSERT_TRUE(reconcile());
  ASSERT_TRUE(sweep());
  expect_resumed();
}

TEST_F(OperandsTest, ArePausedAgainWhenTheRemediationIsResumed) {
  open();
  annotate(std::string(kPauseAnnotation), "true");
  ASSERT_TRUE(reconcile());
  ASSERT_TRUE(sweep());
  expect_resumed();
  kube_.patch(remediation_collection() + "/" + remediation().name,
              {{"metadata", {{"annotations", {{std::string(kPauseAnnotation), nullptr}}}}}});
  ASSERT_TRUE(reconcile());
  ASSERT_TRUE(reconcile());
  expect_paused();
}

TEST_F(OperandsTest, StayPausedWhileTheSwitchStopsAllChanges) {
  label({{kPlugin, std::string(kube::kPausedForReset)}});
  permit_ = fail(ErrorKind::kBlocked, "stopped");
  ASSERT_TRUE(sweep());
  EXPECT_EQ(label_of(kPlugin), kube::kPausedForReset);
  permit_ = {};
  ASSERT_TRUE(sweep());
  EXPECT_EQ(label_of(kPlugin), "true");
}

TEST_F(OperandsTest, StayPausedWhileAJobResetsTheGpus) {
  open_and_reset();
  const std::string name = remediation().name;
  const Json job = jobs()[0];
  Json pod = fakes::pod("reset", "gpu-01");
  pod["metadata"]["namespace"] = "gpu-healthcheck";
  pod["metadata"]["labels"] = job["spec"]["template"]["metadata"]["labels"];
  kube_.create(kResetPods, pod);
  annotate(std::string(kPauseAnnotation), "true");
  ASSERT_TRUE(sweep());
  expect_paused();
  kube_.remove(std::string(kResetPods) + "/reset");
  ASSERT_TRUE(sweep());
  expect_resumed();
}

// control() acts as the DaemonSet and Job controllers do.
class KilledOperandsTest : public OperandsTest,
                           public ::testing::WithParamInterface<std::tuple<int, bool>> {
 protected:
  void control() {
    for (const auto& [pod, key] : {std::pair("plugin", kPlugin), std::pair("dcgm", kDcgm)}) {
      const bool is_there = has_pod(pod);
      const bool is_wanted = label_of(key) == "true";
      if (is_there && !is_wanted) remove_pod(pod);
      if (!is_there && is_wanted) add_pod(pod, key);
    }
    for (const Json& job : jobs()) {
      if (member_at(job, "status").contains("conditions")) continue;
      EXPECT_FALSE(has_pod("plugin") || has_pod("dcgm")) << "a reset beside the operands";
      exit_job(0, "reset");
    }
  }
  bool has_pod(const std::string& name) {
    const Json pods = kube_.get(kOperatorPods)["items"];
    return std::ranges::any_of(
        pods, [&](const Json& pod) { return string_at(pod["metadata"], "name") == name; });
  }
  bool is_over() {
    const auto all = remediations();
    return all.size() == 1 && all[0].status.has_done(Step::kGpuReset) &&
           label_of(kPlugin) == "true" && label_of(kDcgm) == "true";
  }
};

TEST_P(KilledOperandsTest, AreResumedThoughTheRemediatorIsKilledAtAWrite) {
  const auto [before, is_done] = GetParam();
  bool is_dead = false, was_killed = false;
  ASSERT_TRUE(take({signal(Severity::kReset)}));
  kube_.add_fault({.kind = is_done ? FaultKind::kDropAfter : FaultKind::kDropBefore,
                   .method = "POST|PATCH|PUT|DELETE",
                   .skip = before,
                   .on_hit = [&] {
                     is_dead = was_killed = true;
                     kube_.add_fault({.kind = FaultKind::kDropBefore, .times = -1});
                   }});
  for (int i = 0; i < 60 && !is_over(); ++i) {
    clock_.advance(seconds(5));
    reports_.answer = report_of(Severity::kReset);
    (void)reconcile(1);
    if (is_dead) {
      is_dead = false;
      kube_.clear_faults();
      restart();
    }
    control();
    ASSERT_TRUE(round());
  }
  EXPECT_TRUE(is_over()) << remediation().status.message;
  EXPECT_THAT(jobs(), SizeIs(1));
  EXPECT_TRUE(was_killed) << "there are fewer writes: lower the range";
}

INSTANTIATE_TEST_SUITE_P(AtEachWrite, KilledOperandsTest,
                         ::testing::Combine(::testing::Range(0, 12), ::testing::Bool()));

}  // namespace
}  // namespace gpuward::remediator
