// The step `terminate` on a cluster in memory, with a scripted provider.
#include "remediator/act/actions/terminate_action.h"

#include "remediator/model/step_call.h"
#include "tests/fakes/node_claim.h"
#include "tests/unit/remediator/act/actions/intended_step.h"
#include "tests/unit/remediator/act/drain/drain_cluster.h"

namespace gpuward::remediator {
namespace {

using std::chrono::minutes;
using ::testing::HasSubstr;

constexpr const char* kAttachments = "/apis/storage.k8s.io/v1/volumeattachments";

class LedProvider final : public CloudProvider {
 public:
  bool can(MachineAction, const Machine&) const override { return true; }
  Status reboot(const Machine&, const Permit&) override {
    return fail(ErrorKind::kInternal, "not asked for");
  }
  Status terminate(const Machine& machine, const Permit& permit) override {
    if (auto may = permit(); !may) return may;
    asked.push_back(machine);
    return answer;
  }
  Result<MachineFate> fate(const Machine& machine) override {
    looked_at = machine;
    return is;
  }
  std::vector<Machine> asked;
  Machine looked_at;
  Status answer;
  Result<MachineFate> is = Fate::kEnding;
};

class TerminateActionTest : public DrainCluster {
 protected:
  TerminateActionTest() {
    kube_.create("/api/v1/nodes", fakes::ready_node("gpu-01"));
    kube_.patch("/api/v1/nodes/gpu-01", fakes::owned_by_node_claim("claim-1", "uid-of-claim"));
    node_ = *api_.get_node("gpu-01");
    remediation_.name = "gpu-01-ab-1";
    StepRecord drain = intended_step(Step::kDrain, Severity::kIsolate, clock_.wall(), {});
    drain.result = StepResult::kDone;
    drain.finished_at = clock_.wall();
    remediation_.status.steps = {drain};
  }
  StepRequest request() {
    return {.remediation = remediation_,
            .node = node_,
            .step = step_,
            .facts = action_.facts_before(node_),
            .permit = permit_,
            .now = clock_.wall()};
  }
  void recorded(StepRecord record) { remediation_.status.steps.push_back(std::move(record)); }
  // Looks and records as the reconciler does.
  StepProgress look() {
    StepRequest now = request();
    now.facts = remediation_.status.steps.back().facts;
    const auto progress = action_.watch(now);
    remediation_.status.steps.back().facts = progress->facts;
    return *progress;
  }
  void attach(const std::string& volume, const std::string& node = "gpu-01") {
    kube_.create(kAttachments, {{"apiVersion", "storage.k8s.io/v1"},
                                {"kind", "VolumeAttachment"},
                                {"metadata", {{"name", "csi-" + volume}}},
                                {"spec",
                                 {{"attacher", "ebs.csi.aws.com"},
                                  {"nodeName", node},
                                  {"source", {{"persistentVolumeName", volume}}}}}});
  }

  LedProvider provider_;
  CurrentPolicy policy_{Policy{}};
  TerminateAction action_{api_, provider_, policy_};
  kube::Node node_;
  Remediation remediation_;
  PlannedStep step_ = planned(Step::kTerminate);
};

TEST_F(TerminateActionTest, AsksForTheEndOfTheMachineThatTheNodeRanOnAtTheIntent) {
  StepRequest first = request();

  const auto begun = action_.begin(first);

  ASSERT_TRUE(begun);
  EXPECT_EQ(begun->result, StepResult::kRunning);
  ASSERT_EQ(provider_.asked.size(), 1U);
  EXPECT_EQ(provider_.asked[0].provider_id, node_.provider_id);
  ASSERT_TRUE(provider_.asked[0].owner);
  EXPECT_EQ(provider_.asked[0].owner->name, "claim-1");
  // At a later look the Node may be gone, so the step reads these from its facts.
  kube::Node remembered;
  remembered.meta.name = "gpu-01";
  const StepRequest later{.remediation = remediation_,
                          .node = remembered,
                          .step = step_,
                          .facts = begun->facts,
                          .permit = permit_,
                          .now = clock_.wall()};
  ASSERT_TRUE(action_.watch(later));
  EXPECT_EQ(provider_.looked_at.provider_id, node_.provider_id);
  EXPECT_EQ(provider_.looked_at.owner->name, "claim-1");
}

TEST_F(TerminateActionTest, IsDoneWhenTheMachineIsGoneAndTheNodeWithIt) {
  EXPECT_EQ(action_.watch(request())->result, StepResult::kRunning);
  provider_.is = Fate::kGone;
  const auto with_node = action_.watch(request());
  EXPECT_EQ(with_node->result, StepResult::kRunning);
  EXPECT_THAT(with_node->message, HasSubstr("waiting for the Node to be deleted"));
  kube_.remove("/api/v1/nodes/gpu-01");
  EXPECT_EQ(action_.watch(request())->result, StepResult::kDone);
  kube_.create("/api/v1/nodes", fakes::ready_node("gpu-01"));  // another node of the same name
  EXPECT_EQ(action_.watch(request())->result, StepResult::kDone);
  provider_.is = fail(ErrorKind::kUnavailable, "no answer");
  EXPECT_EQ(action_.watch(request())->result, StepResult::kRunning) << "that proves nothing";
}

TEST_F(TerminateActionTest, SaysWhatAnEndingMachineWaitsForIfItsProviderKnows) {
  provider_.is = MachineFate(
      Fate::kEnding,
      "Auto Scaling group gpu reports the instance in lifecycle state Terminating:Wait");
  EXPECT_EQ(action_.watch(request())->message,
            "waiting for the machine to terminate: Auto Scaling group gpu reports the instance in "
            "lifecycle state Terminating:Wait");
}

TEST_F(TerminateActionTest, RemembersWhetherTheCallWasAccepted) {
  EXPECT_EQ(request().facts.at(kCallFact), "unknown");
  EXPECT_EQ(action_.begin(request())->facts.at(kCallFact), "accepted");
  provider_.answer = fail(ErrorKind::kTimeout, "no answer");
  EXPECT_EQ(action_.begin(request())->facts.at(kCallFact), "unknown");
  provider_.answer = fail(ErrorKind::kRefused, "protected");
  EXPECT_EQ(action_.begin(request())->facts.at(kCallFact), "none");
}

// The answer that the machine runs may be older than the call.
TEST_F(TerminateActionTest, PassesTheGuardsAnewIfTheCallHasNotArrivedForLong) {
  provider_.is = Fate::kRuns;
  recorded(intended_step(Step::kTerminate, Severity::kIsolate, clock_.wall(), request().facts));

  EXPECT_EQ(look().result, StepResult::kRunning);
  clock_.advance(minutes(9));
  EXPECT_EQ(look().result, StepResult::kRunning);
  clock_.advance(minutes(1));

  EXPECT_EQ(look().result, StepResult::kIntended);
}

TEST_F(TerminateActionTest, TellsAHumanIfWhatWasAcceptedIsContradictedForLong) {
  provider_.is = Fate::kRuns;
  recorded(intended_step(Step::kTerminate, Severity::kIsolate, clock_.wall(), request().facts));
  remediation_.status.steps.back().facts[kCallFact] = "accepted";
  EXPECT_EQ(look().result, StepResult::kRunning);
  clock_.advance(minutes(9));
  provider_.is = Fate::kEnding;
  EXPECT_EQ(look().message, "waiting for the machine to terminate");
  provider_.is = Fate::kRuns;
  EXPECT_EQ(look().result, StepResult::kRunning);
  clock_.advance(minutes(9));
  EXPECT_EQ(look().result, StepResult::kRunning) << "nobody has contradicted that for so long";
  clock_.advance(minutes(1));

  const auto progress = look();

  EXPECT_EQ(progress.result, StepResult::kFailed);
  EXPECT_TRUE(progress.facts.contains(kNeedsOperatorFact));
  EXPECT_EQ(progress.facts.at(kCallFact), "accepted");
  EXPECT_THAT(progress.message, HasSubstr("was accepted, but since "));
}

TEST_F(TerminateActionTest, WaitsIfItIsNotAcceptedNow) {
  for (const ErrorKind kind : {ErrorKind::kOverloaded, ErrorKind::kBlocked}) {
    provider_.answer = fail(kind, "RequestLimitExceeded");
    const auto held = action_.begin(request());
    EXPECT_EQ(held->result, StepResult::kIntended);
    EXPECT_EQ(held->message, "terminate waits: RequestLimitExceeded");
  }
}

TEST_F(TerminateActionTest, GivesWhatIsRefusedToAHuman) {
  provider_.answer = fail(ErrorKind::kForbidden, "may not delete nodeclaims");
  const auto refused = action_.begin(request());
  EXPECT_EQ(refused->result, StepResult::kFailed);
  EXPECT_TRUE(refused->facts.contains(kNeedsOperatorFact));
  EXPECT_THAT(refused->message, HasSubstr("may not delete nodeclaims"));

  provider_.answer = fail(ErrorKind::kTimeout, "no answer");
  EXPECT_EQ(action_.begin(request())->result, StepResult::kRunning);

  node_.provider_id.clear();
  const auto unknown = action_.begin(request());
  EXPECT_EQ(unknown->result, StepResult::kFailed);
  EXPECT_TRUE(unknown->facts.contains(kNeedsOperatorFact));
  EXPECT_EQ(provider_.asked.size(), 2U);
}

TEST_F(TerminateActionTest, AsksForNothingWithoutLeave) {
  may_send_ = false;

  EXPECT_EQ(action_.begin(request())->result, StepResult::kIntended);
  EXPECT_TRUE(provider_.asked.empty());
}

TEST_F(TerminateActionTest, Row22WaitsUntilNoVolumeIsAttachedAnyMore) {
  attach("pv-1");
  attach("pv-elsewhere", "gpu-02");

  const auto obstacle = action_.obstacle(request());
  ASSERT_TRUE(obstacle && *obstacle);
  EXPECT_EQ(**obstacle, "1 volume is still attached: pv-1");
  EXPECT_EQ(action_.begin(request())->result, StepResult::kIntended);
  EXPECT_TRUE(provider_.asked.empty());

  kube_.remove(std::string(kAttachments) + "/csi-pv-1");
  EXPECT_FALSE(*action_.obstacle(request()));
  EXPECT_EQ(action_.begin(request())->result, StepResult::kRunning);
}

TEST_F(TerminateActionTest, Row22DoesAfterTheDeadlineWhatThePolicySays) {
  attach("pv-1");
  attach("pv-2");
  clock_.advance(minutes(10));

  EXPECT_FALSE(*action_.obstacle(request()));
  const auto held = action_.begin(request());
  EXPECT_EQ(held->result, StepResult::kFailed);
  EXPECT_TRUE(held->facts.contains(kNeedsOperatorFact));
  EXPECT_EQ(held->message, "2 volumes are still attached: pv-1, pv-2");
  EXPECT_TRUE(provider_.asked.empty());

  step_.volumes.proceeds = true;
  EXPECT_EQ(action_.begin(request())->result, StepResult::kRunning);
  EXPECT_EQ(provider_.asked.size(), 1U);
}

TEST_F(TerminateActionTest, KeepsOnWaitingIfItDoesNotKnowOfTheVolumes) {
  kube_.add_fault(
      {.kind = fakes::FaultKind::kForbidden, .path = ".*volumeattachments", .times = -1});

  EXPECT_FALSE(action_.obstacle(request()));
  EXPECT_EQ(action_.begin(request())->result, StepResult::kIntended);
  EXPECT_TRUE(provider_.asked.empty());
}

}  // namespace
}  // namespace gpuward::remediator
