// gpuward asks for and believes approvals only while it sees that the API server guards them.
#include "remediator/act/guard_probe.h"
#include "tests/unit/remediator/act/cluster_fixture.h"

namespace gpuward::remediator {
namespace {

using std::chrono::milliseconds;
using std::chrono::minutes;
using std::chrono::seconds;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

const std::string kRemediations = "/apis/gpuward.dev/v1alpha1/remediations";

class GuardedApprovals : public ClusterTest {
 protected:
  GuardedApprovals() {
    clock_.advance(minutes(15));
    Policy policy;
    policy.mode = Mode::kFull;
    policy.steps[Severity::kReboot] = {planned(Step::kTaint), planned(Step::kCordon),
                                       planned(Step::kDrain)};
    policy.steps[Severity::kReboot].back().before.approval = true;
    policy_.set(policy);
    reports_.answer = report_of(Severity::kReboot);
    guard_ = &probe_;
    restart();
  }
  // Brings the policies into force, or removes them. The next look sees it.
  void guard(bool guards) {
    kube_.guard_approvals(guards);
    clock_.advance(seconds(16));
    reports_.answer = report_of(Severity::kReboot);
  }
  void bring_to_the_drain() {
    ASSERT_TRUE(take({signal()}));
    for (int i = 0; i < 2; ++i) ASSERT_TRUE(reconcile());
  }
  void approve(const std::string& token) {
    kube_.patch(kRemediations + "/" + remediation().name,
                {{"metadata",
                  {{"annotations",
                    {{"gpuward.dev/approve", token}, {"gpuward.dev/approved-by", "alice"}}}}}});
  }
  std::string token() {
    const auto& asked = remediation().status.approval;
    return asked ? asked->token : "";
  }
  void expect_waiting_for_the_guard(const std::string& says) {
    EXPECT_EQ(remediation().status.rule, "guard.approvals");
    EXPECT_THAT(remediation().status.message, HasSubstr(says));
    EXPECT_EQ(steps_[Step::kDrain].begun, 0);
  }

  GuardProbe probe_{api_, clock_};
};

TEST_F(GuardedApprovals, AreAskedForAndBelieved) {
  bring_to_the_drain();
  ASSERT_NE(token(), "");
  approve(token());

  ASSERT_TRUE(reconcile());

  EXPECT_EQ(steps_[Step::kDrain].begun, 1);
}

TEST_F(GuardedApprovals, AreNotEvenAskedForWithoutAGuard) {
  kube_.guard_approvals(false);
  bring_to_the_drain();

  expect_waiting_for_the_guard("the admission policy gpuward-approvals is not in force");
  EXPECT_EQ(token(), "");

  guard(true);
  ASSERT_TRUE(reconcile());
  EXPECT_NE(token(), "");
}

// gpuward probes again right before the step: the result of a moment ago is not enough.
TEST_F(GuardedApprovals, AreNotBelievedOnceTheGuardIsGone) {
  bring_to_the_drain();
  kube_.guard_approvals(false);
  approve(token());

  ASSERT_TRUE(reconcile());

  expect_waiting_for_the_guard("approvals are not guarded");
}

TEST_F(GuardedApprovals, AreAskedAnewForWhatWasAnsweredWithoutAGuard) {
  bring_to_the_drain();
  const std::string asked = token();
  kube_.guard_approvals(false);
  approve(asked);
  ASSERT_TRUE(reconcile());
  EXPECT_EQ(token(), "");

  guard(true);
  for (int i = 0; i < 2; ++i) ASSERT_TRUE(reconcile());

  EXPECT_NE(token(), "");
  EXPECT_NE(token(), asked);
  EXPECT_EQ(steps_[Step::kDrain].begun, 0);
}

// No operator can have changed the approval: gpuward only lacks the answer.
TEST_F(GuardedApprovals, WaitAndKeepTheirTokenIfTheServerDoesNotSay) {
  bring_to_the_drain();
  const std::string asked = token();
  approve(asked);
  const auto fault = kube_.add_fault(
      {.kind = fakes::FaultKind::kForbidden, .method = "POST", .path = kRemediations, .times = 1});

  ASSERT_TRUE(reconcile());
  EXPECT_EQ(kube_.fault_hits(fault), 1U);
  expect_waiting_for_the_guard("cannot tell whether the admission policy gpuward-approvals");
  EXPECT_EQ(token(), asked);

  clock_.advance(seconds(16));
  reports_.answer = report_of(Severity::kReboot);
  ASSERT_TRUE(reconcile());
  EXPECT_EQ(steps_[Step::kDrain].begun, 1);
}

TEST_F(GuardedApprovals, CostNothingIfNoStepWaitsForOne) {
  Policy policy = *policy_.get();
  policy.steps[Severity::kReboot].back().before.approval = false;
  policy_.set(policy);
  bring_to_the_drain();

  EXPECT_EQ(steps_[Step::kDrain].begun, 1);
  for (const auto& request : kube_.requests("POST", kRemediations)) EXPECT_EQ(request.query, "");
}

class Probe : public ClusterTest {
 protected:
  GuardProbe probe_{api_, clock_};
};

TEST_F(Probe, ChangesNothing) {
  EXPECT_TRUE(probe_.check(milliseconds(0)));
  kube_.guard_approvals(false);
  EXPECT_EQ(probe_.check(milliseconds(0)).error().kind, ErrorKind::kRefused);

  EXPECT_THAT(remediations(), IsEmpty());
  for (const auto& request : kube_.requests("POST", kRemediations))
    EXPECT_EQ(request.query, "dryRun=All");
}

TEST_F(Probe, IsNotRepeatedWithinTheAgeThatIsGoodEnough) {
  ASSERT_TRUE(probe_.check(seconds(10)));
  const std::size_t asked = kube_.requests("POST", kRemediations).size();
  ASSERT_TRUE(probe_.check(seconds(10)));
  EXPECT_EQ(kube_.requests("POST", kRemediations).size(), asked);

  kube_.guard_approvals(false);
  clock_.advance(seconds(10));
  EXPECT_FALSE(probe_.check(seconds(10)));
  EXPECT_TRUE(probe_.was_in_force());
}

// A refusal by RBAC, or by some other policy, does not prove that the guards are in force.
TEST_F(Probe, TakesNoOtherRefusalForTheGuards) {
  kube_.guard_approvals(false);
  kube_.access().deny({.user = "", .verb = "create", .resource = "remediations"});

  const Status seen = probe_.check(milliseconds(0));

  ASSERT_FALSE(seen);
  EXPECT_EQ(seen.error().kind, ErrorKind::kForbidden);
  EXPECT_FALSE(probe_.was_in_force());
}

TEST(NeedsApprovals, IfAStepOfTheModeWaitsForOne) {
  Policy policy;
  policy.steps.clear();
  policy.steps[Severity::kIsolate] = {planned(Step::kTaint), planned(Step::kTerminate)};
  policy.mode = Mode::kCordon;
  EXPECT_FALSE(needs_approvals(policy));
  policy.mode = Mode::kFull;
  EXPECT_TRUE(needs_approvals(policy));
  policy.steps[Severity::kIsolate].back().before.approval = false;
  EXPECT_FALSE(needs_approvals(policy));
  PoolPolicy pool;
  pool.recovery[Severity::kReboot] = {planned(Step::kReturn)};
  pool.recovery[Severity::kReboot].back().before.approval = true;
  policy.pools = {pool};
  EXPECT_TRUE(needs_approvals(policy));
}

}  // namespace
}  // namespace gpuward::remediator
