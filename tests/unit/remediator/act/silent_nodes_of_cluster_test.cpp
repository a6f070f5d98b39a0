// A node that fell silent, from the informer's view to the restart of its machine: the steps that
// need no proof, and those that need two.
#include "core/kube/node_announcements.h"
#include "remediator/act/actions/out_of_service_action.h"
#include "remediator/act/actions/reboot_action.h"
#include "remediator/act/out_of_service_taints.h"
#include "remediator/inbox/sources/silent_source.h"
#include "remediator/model/out_of_service.h"
#include "remediator/model/silent_alerts.h"
#include "tests/unit/remediator/act/cluster_fixture.h"

namespace gpuward::remediator {
namespace {

using std::chrono::hours;
using std::chrono::minutes;
using std::chrono::seconds;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

class SaidProofs final : public ProofSource {
 public:
  Result<MachineProofs> read(const kube::Node&) override {
    ++asked;
    return answer;
  }
  Status check_silent(const kube::Node&) override { return silent; }
  Result<MachineProofs> answer = MachineProofs();
  Status silent;
  int asked = 0;
};

class SilentNodeTest : public ClusterTest {
 protected:
  SilentNodeTest() {
    proofs_ = &said_;
    steps_[Step::kNotify].progress =
        StepProgress{.result = StepResult::kDone, .message = "told", .facts = {}, .look_again = {}};
    clock_.advance(minutes(15));  // the startup grace is over
    policy.mode = Mode::kFull;
    policy.silent.is_on = true;
    policy.machines.reboot = {"/bin/power-cycle"};
    policy_.set(policy);
    restart();
    replica_->view.informers().note_heard(Informer::kNodes, clock_.steady());
    for (int i = 2; i < 9; ++i) add_node("gpu-0" + std::to_string(i));
    clock_.advance(minutes(15));
    for (const std::string& name : names()) say(name, "True");
  }
  static std::vector<std::string> names() {
    std::vector<std::string> all;
    for (int i = 1; i < 9; ++i) all.push_back("gpu-0" + std::to_string(i));
    return all;
  }
  void say(const std::string& name, const std::string& ready) {
    const Json condition = {{"type", "Ready"},
                            {"status", ready},
                            {"lastTransitionTime", to_rfc3339(clock_.wall())},
                            {"lastHeartbeatTime", to_rfc3339(clock_.wall())}};
    kube_.patch_status("/api/v1/nodes/" + name,
                       {{"status", {{"conditions", Json::array({condition})}}}});
    for (const std::string& node : names()) {
      if (node == name) {
        kube_.patch("/api/v1/nodes/" + node,
                    {{"metadata", {{"labels", {{"nvidia.com/gpu.present", "true"}}}}}});
      }
    }
    catch_up(*replica_);
  }
  std::vector<AlertSignal> look() {
    replica_->view.informers().note_heard(Informer::kNodes, clock_.steady());
    replica_->view.informers().note_heard(Informer::kRemediations, clock_.steady());
    const auto found =
        SilentSource(policy_, replica_->view, replica_->view, nullptr, clock_).look();
    return found ? found->signals : std::vector<AlertSignal>();
  }
  void fall_silent() {
    say("gpu-01", "Unknown");
    clock_.advance(minutes(5));
    const auto signals = look();
    ASSERT_THAT(signals, SizeIs(1));
    ASSERT_TRUE(take(signals));
    ASSERT_TRUE(reconcile());  // taint and cordon
    ASSERT_TRUE(reconcile());  // notify
  }
  void come_back() {
    say("gpu-01", "True");
    clock_.advance(minutes(2));
    ASSERT_TRUE(take(look()));
    ASSERT_TRUE(reconcile());
  }
  void restarts() {
    policy.silent.reboots = true;
    policy_.set(policy);
  }
  void prove(std::vector<ProofKind> down) {
    said_.answer = MachineProofs();
    for (const ProofKind kind : down)
      said_.answer->push_back({kind, ProofSign::kDown, clock_.wall(), "so it is", false});
  }
  void announce(Announcement announced, const std::string& boot_id = "boot-gpu-01") {
    announced.id = "event-" + std::to_string(announced_.size());
    announced.announced_by = "aws";
    announced_.push_back(
        {.announced = std::move(announced), .is_stale = false, .boot_id = boot_id});
    kube_.patch(
        "/api/v1/nodes/gpu-01",
        {{"metadata",
          {{"annotations",
            {{std::string(kAnnouncementsAnnotation), node_announcements_text(announced_)}}}}}});
    catch_up(*replica_);
  }
  void say_silent_still() {
    replica_->view.informers().note_heard(Informer::kNodes, clock_.steady());
    replica_->view.informers().note_heard(Informer::kRemediations, clock_.steady());
  }
  void annotate(const std::string& key, const std::string& value) {
    kube_.patch("/apis/gpuward.dev/v1alpha1/remediations/" + remediation().name,
                Json{{"metadata", {{"annotations", {{key, value}}}}}});
  }
  Policy policy;
  SaidProofs said_;
  std::vector<NodeAnnouncement> announced_;
};

TEST_F(SilentNodeTest, IsRecordedTaintedAndCordonedAndNoMore) {
  fall_silent();
  ASSERT_TRUE(reconcile());

  expect_quarantined("reboot");
  EXPECT_EQ(steps_[Step::kNotify].begun, 1);
  EXPECT_EQ(steps_[Step::kDrain].begun + steps_[Step::kReboot].begun, 0);
  EXPECT_EQ(said_.asked, 0);
  EXPECT_THAT(remediation().status.reasons,
              ::testing::Contains(HasSubstr("Ready is Unknown since")));
}

// A failing switch cuts off a GPU node and others with it.
TEST_F(SilentNodeTest, IsNoFindingIfANodeWithoutGpusFellSilentWithIt) {
  kube_.create("/api/v1/nodes", {{"metadata", {{"name", "cpu-01"}}}});
  say("cpu-01", "True");
  clock_.advance(minutes(15));
  say("cpu-01", "Unknown");
  say("gpu-01", "Unknown");
  clock_.advance(minutes(5));

  EXPECT_THAT(look(), IsEmpty());

  say("cpu-01", "True");
  ASSERT_THAT(look(), SizeIs(1));
  EXPECT_EQ(look()[0].node, "gpu-01");
}

TEST_F(SilentNodeTest, ReturnsByItselfOnceAReportSaysThatItIsHealthy) {
  fall_silent();
  come_back();
  expect_quarantined("reboot");

  reports_.answer = report_of(Severity::kNone);
  ASSERT_TRUE(reconcile());
  ASSERT_TRUE(reconcile());

  EXPECT_EQ(remediation().status.phase, Phase::kReleased);
  EXPECT_FALSE(node().unschedulable);
}

// In a partition gpuward cordons no node.
TEST_F(SilentNodeTest, IsNotTouchedIfManyAreSilent) {
  for (const std::string& name : names()) say(name, "Unknown");
  clock_.advance(minutes(30));

  EXPECT_THAT(look(), IsEmpty());
  EXPECT_THAT(remediations(), IsEmpty());
}

TEST_F(SilentNodeTest, IsNotRestartedOnSilenceAlone) {
  restarts();
  for (const std::vector<ProofKind>& down :
       {std::vector<ProofKind>{}, {ProofKind::kScrapes}, {ProofKind::kCloud, ProofKind::kCloud}}) {
    prove(down);
    if (remediations().empty()) fall_silent();
    ASSERT_TRUE(reconcile());
    EXPECT_EQ(remediation().status.rule, "silent.proof");
    EXPECT_EQ(steps_[Step::kReboot].begun, 0);
  }
}

TEST_F(SilentNodeTest, IsRestartedOnTwoProofsThatAreWrittenDown) {
  restarts();
  prove({ProofKind::kScrapes, ProofKind::kPower});
  fall_silent();
  ASSERT_TRUE(reconcile());
  prove({ProofKind::kScrapes, ProofKind::kPower});
  ASSERT_TRUE(reconcile());

  EXPECT_EQ(steps_[Step::kReboot].begun, 1);
  EXPECT_TRUE(steps_[Step::kReboot].permitted) << steps_[Step::kReboot].permitted.error().message;
  EXPECT_THAT(remediation().status.reasons,
              ::testing::Contains(HasSubstr("proofs: scrapes: so it is")));
}

TEST_F(SilentNodeTest, IsNotRestartedWhileItsCloudIsAtWorkOnIt) {
  restarts();
  const WallTime start = clock_.wall() + minutes(4);
  announce({.kind = AnnouncementKind::kRebalance, .start = start - hours(1)});
  announce({.kind = AnnouncementKind::kReboot, .start = start});
  fall_silent();
  const auto look_at = [&](WallTime time) {
    clock_.advance(time - clock_.wall());
    say_silent_still();
    prove({ProofKind::kScrapes, ProofKind::kPower});
    ASSERT_TRUE(reconcile());
    ASSERT_TRUE(reconcile());
  };

  look_at(start + minutes(59));
  EXPECT_EQ(remediation().status.rule, "silent.maintenance");
  EXPECT_THAT(remediation().status.message, HasSubstr("while the cloud works on its machine: "));
  EXPECT_EQ(steps_[Step::kReboot].begun, 0);

  look_at(start + minutes(61));
  EXPECT_EQ(steps_[Step::kReboot].begun, 1);
}

TEST_F(SilentNodeTest, IsRestartedIfWhatIsAnnouncedIsOfAnotherTimeOrBoot) {
  restarts();
  announce({.kind = AnnouncementKind::kReboot, .start = clock_.wall() + hours(2)});
  announce({.kind = AnnouncementKind::kRedeploy, .start = clock_.wall() - hours(5)});
  announce({.kind = AnnouncementKind::kFreeze, .start = clock_.wall()}, "an earlier boot");
  fall_silent();
  prove({ProofKind::kScrapes, ProofKind::kPower});
  ASSERT_TRUE(reconcile());
  ASSERT_TRUE(reconcile());

  EXPECT_EQ(steps_[Step::kReboot].begun, 1);
}

TEST_F(SilentNodeTest, IsNotRestartedIfAnythingSaysThatItIsUp) {
  restarts();
  prove({ProofKind::kCloud, ProofKind::kPower});
  said_.answer->push_back(
      {ProofKind::kScrapes, ProofSign::kUp, clock_.wall(), "it is read", false});
  fall_silent();
  said_.answer->back().at = clock_.wall();
  ASSERT_TRUE(reconcile());

  EXPECT_EQ(steps_[Step::kReboot].begun, 0);
  EXPECT_THAT(remediation().status.message, HasSubstr("the machine is not down"));
}

TEST_F(SilentNodeTest, IsNotRestartedOnceItIsReadyAgain) {
  restarts();
  fall_silent();
  say("gpu-01", "True");
  prove({ProofKind::kScrapes, ProofKind::kPower});

  ASSERT_TRUE(reconcile());

  EXPECT_EQ(steps_[Step::kReboot].begun, 0);
  EXPECT_THAT(remediation().status.message, HasSubstr("the node is Ready again"));
}

// The kubelet speaks again between the proofs and the call.
TEST_F(SilentNodeTest, MayNotBeRestartedOnceItsKubeletSpeaksAgain) {
  restarts();
  fall_silent();
  prove({ProofKind::kScrapes, ProofKind::kPower});
  steps_[Step::kReboot].before = [&] {
    said_.silent = fail(ErrorKind::kRefused, "the kubelet is still renewing the node's Lease");
  };

  ASSERT_TRUE(reconcile());
  ASSERT_TRUE(reconcile());

  EXPECT_EQ(steps_[Step::kReboot].begun, 1);
  ASSERT_FALSE(steps_[Step::kReboot].permitted);
  EXPECT_THAT(steps_[Step::kReboot].permitted.error().message,
              HasSubstr("renewing the node's Lease"));
}

// The next process may have no source of proofs.
TEST_F(SilentNodeTest, MayNotBeRestartedByAProcessThatCannotProveItDown) {
  restarts();
  fall_silent();
  prove({ProofKind::kScrapes, ProofKind::kPower});
  ASSERT_TRUE(reconcile());
  ASSERT_TRUE(reconcile());
  ASSERT_TRUE(steps_[Step::kReboot].permitted);

  proofs_ = nullptr;
  restart();
  ASSERT_TRUE(reconcile());

  EXPECT_EQ(steps_[Step::kReboot].begun, 1);
  ASSERT_FALSE(steps_[Step::kReboot].permitted);
  EXPECT_THAT(steps_[Step::kReboot].permitted.error().message,
              HasSubstr("no proof that the machine is down"));
}

// The operator who cordoned it may have switched it off.
TEST_F(SilentNodeTest, IsNotRestartedIfSomebodyElseHadCordonedIt) {
  restarts();
  kube_.patch("/api/v1/nodes/gpu-01", {{"spec", {{"unschedulable", true}}}});
  fall_silent();
  prove({ProofKind::kScrapes, ProofKind::kPower});
  ASSERT_TRUE(reconcile());

  EXPECT_EQ(steps_[Step::kReboot].begun, 0);
  EXPECT_THAT(remediation().status.message, HasSubstr("already cordoned by another controller"));
}

TEST_F(SilentNodeTest, IsEndedOnlyAfterAnApprovalAndOnProofsOfThatMoment) {
  policy.silent.terminates = true;
  policy_.set(policy);
  prove({ProofKind::kScrapes, ProofKind::kPower});
  fall_silent();
  prove({ProofKind::kScrapes, ProofKind::kPower});
  ASSERT_TRUE(reconcile());
  EXPECT_EQ(remediation().status.rule, "guard.approval");

  prove({});
  annotate("gpuward.dev/approve", remediation().status.approval->token);
  annotate("gpuward.dev/approved-by", "alice");
  ASSERT_TRUE(reconcile());
  EXPECT_EQ(steps_[Step::kTerminate].begun, 0);
  EXPECT_EQ(remediation().status.rule, "silent.proof");

  prove({ProofKind::kScrapes, ProofKind::kPower});
  ASSERT_TRUE(reconcile());
  EXPECT_EQ(steps_[Step::kTerminate].begun, 1);
}

// The fault took the kubelet down with it.
TEST_F(SilentNodeTest, ThatWasUnhealthyBeforeGoesOnByProofsToo) {
  restarts();
  ASSERT_TRUE(take({signal()}));
  ASSERT_TRUE(reconcile());
  EXPECT_EQ(steps_[Step::kReboot].begun, 0);
  fall_silent();
  prove({ProofKind::kScrapes, ProofKind::kPower});
  ASSERT_TRUE(reconcile());
  prove({ProofKind::kScrapes, ProofKind::kPower});
  ASSERT_TRUE(reconcile());

  EXPECT_EQ(steps_[Step::kDrain].begun, 0);
  EXPECT_EQ(steps_[Step::kReboot].begun, 1);
}

// Otherwise gpuward would forget the steps that failed for the fault, and return the node after a
// report.
TEST_F(SilentNodeTest, GoesOnByItsFaultIfThatWasTheLastWord) {
  fall_silent();
  ASSERT_TRUE(rests_on_silence(remediation()));
  AlertSignal fault = signal(Severity::kReboot);
  ASSERT_TRUE(take({fault}));
  come_back();
  EXPECT_FALSE(rests_on_silence(remediation()));
  clock_.advance(minutes(1));
  fault.firing = false;
  fault.ends_at = clock_.wall();
  ASSERT_TRUE(take({fault}));
  EXPECT_FALSE(rests_on_silence(remediation()));
}

// The policy has the key `out_of_service`.
class SilentNodeThatIsOff : public SilentNodeTest {
 protected:
  SilentNodeThatIsOff() {
    policy.silent.moves_pods = true;
    restarts();
  }
  StepAction* action_of(Step step) override {
    return step == Step::kOutOfService ? &moves_ : SilentNodeTest::action_of(step);
  }
  void prove_off() {
    prove({ProofKind::kScrapes, ProofKind::kPower});
    said_.answer->back().is_off = true;
  }
  void look_again() {
    prove_off();
    ASSERT_TRUE(reconcile());
    catch_up(*replica_);
  }
  void take_off() {
    catch_up(*replica_);
    ASSERT_TRUE(take_off_out_of_service(api_, replica_->view, [this] { return stop_; }));
  }
  StepRecord step() {
    const Remediation known = remediation();
    const StepRecord* const record = known.status.find(Step::kOutOfService);
    return record == nullptr ? StepRecord() : *record;
  }
  OutOfServiceAction moves_{api_, &said_};
  Status stop_;
};

TEST_F(SilentNodeThatIsOff, LetsKubernetesMoveItsPodsBeforeItIsRestarted) {
  prove_off();
  fall_silent();
  look_again();
  EXPECT_TRUE(has_our_out_of_service_taint(node()));
  EXPECT_EQ(step().result, StepResult::kDone);
  EXPECT_THAT(step().message, HasSubstr("the machine is off (power: so it is)"));
  EXPECT_EQ(steps_[Step::kReboot].begun, 0);

  look_again();
  EXPECT_EQ(steps_[Step::kReboot].begun, 1);
}

// A machine that is down may not be off: it may still write to its volumes.
TEST_F(SilentNodeThatIsOff, KeepsItsPodsIfItIsOnlyKnownToBeDown) {
  prove({ProofKind::kScrapes, ProofKind::kCloud});
  fall_silent();
  prove({ProofKind::kScrapes, ProofKind::kCloud});
  ASSERT_TRUE(reconcile());
  EXPECT_FALSE(is_out_of_service(node()));
  EXPECT_EQ(step().result, StepResult::kDone);
  EXPECT_THAT(step().message, HasSubstr("no proof that the machine is off"));
  prove({ProofKind::kScrapes, ProofKind::kCloud});
  ASSERT_TRUE(reconcile());
  EXPECT_EQ(steps_[Step::kReboot].begun, 1);
}

TEST_F(SilentNodeThatIsOff, GetsNoTaintOnceItsKubeletSpeaksAgain) {
  fall_silent();
  said_.silent = fail(ErrorKind::kRefused, "the kubelet is still renewing the node's Lease");
  look_again();
  EXPECT_FALSE(is_out_of_service(node()));
  EXPECT_EQ(steps_[Step::kReboot].begun, 0);
  EXPECT_THAT(remediation().status.message, HasSubstr("renewing the node's Lease"));
}

TEST_F(SilentNodeThatIsOff, GetsNoTaintWithoutTwoProofs) {
  fall_silent();
  prove({ProofKind::kPower});
  said_.answer->back().is_off = true;
  ASSERT_TRUE(reconcile());
  EXPECT_FALSE(is_out_of_service(node()));
  EXPECT_EQ(remediation().status.rule, "silent.proof");
}

TEST_F(SilentNodeThatIsOff, KeepsTheTaintUntilItIsReadyAgain) {
  fall_silent();
  look_again();
  take_off();
  EXPECT_TRUE(has_our_out_of_service_taint(node()));

  say("gpu-01", "True");
  stop_ = fail(ErrorKind::kBlocked, "stopped");
  take_off();
  EXPECT_TRUE(has_our_out_of_service_taint(node()));
  stop_ = {};
  take_off();
  EXPECT_FALSE(is_out_of_service(node()));
}

TEST_F(SilentNodeThatIsOff, LosesTheTaintOnceItsRemediationIsCancelled) {
  fall_silent();
  look_again();
  annotate("gpuward.dev/cancel", "true");
  ASSERT_TRUE(reconcile());
  take_off();
  EXPECT_FALSE(is_out_of_service(node()));
}

TEST_F(SilentNodeThatIsOff, KeepsTheTaintOfAnother) {
  kube_.patch("/api/v1/nodes/gpu-01", Json{{"spec",
                                            {{"taints",
                                              {{{"key", "node.kubernetes.io/out-of-service"},
                                                {"value", "nodeshutdown"},
                                                {"effect", "NoExecute"}}}}}}});
  fall_silent();
  look_again();
  EXPECT_THAT(step().message, HasSubstr("already has the taint"));
  say("gpu-01", "True");
  take_off();
  EXPECT_TRUE(is_out_of_service(node()));
}

}  // namespace
}  // namespace gpuward::remediator
