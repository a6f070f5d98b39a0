// Machines whose Node was deleted and registered again, at any severity.
#include "remediator/inbox/returned_machines.h"

#include "remediator/act/actions/step_progress.h"
#include "remediator/decide/guards/drills.h"
#include "remediator/model/diagnostics.h"
#include "remediator/model/step_call.h"
#include "tests/unit/remediator/act/cluster_fixture.h"

namespace gpuward::remediator {
namespace {

using std::chrono::hours;
using std::chrono::minutes;
using std::chrono::seconds;
using ::testing::SizeIs;

constexpr const char* kUuid = "4c4c4544-0042-3510-8054-b7c04f4a5731";
constexpr const char* kOtherUuid = "4c4c4544-0042-3510-8054-b7c04f4a5732";

class RegisteredAnew : public ClusterTest {
 protected:
  void SetUp() override {
    set_policy(Mode::kFull, true);
    node_goes();
    clock_.advance(hours(1));
    registers({{"bootID", "boot-1"}, {"systemUUID", kUuid}});
    clock_.advance(hours(1));
    reports_.answer = report_of(Severity::kReboot, "boot-1");
  }

  void node_goes() {
    kube_.remove("/api/v1/nodes/gpu-01");
    catch_up(*replica_);
  }
  void registers(const Json& node_info, const std::string& provider_id = "k3s://gpu-01") {
    Json json = fakes::ready_node("gpu-01");
    json["spec"]["providerID"] = provider_id;
    json["status"]["nodeInfo"].merge_patch(node_info);
    kube_.create("/api/v1/nodes", json);
    catch_up(*replica_);
  }
  // gpuward gives its Remediation up with that severity.
  AlertSignal given_up(Severity severity = Severity::kReboot) {
    AlertSignal fires = signal(severity);
    EXPECT_TRUE(take({fires}));
    EXPECT_TRUE(reconcile());
    EXPECT_EQ(our_taint_on(node()), to_string(severity));
    clock_.advance(minutes(5));
    node_goes();
    EXPECT_TRUE(reconcile());
    EXPECT_EQ(remediation().status.phase, Phase::kSuperseded);
    clock_.advance(minutes(1));
    return fires;
  }
  void given_up_after_diagnostic(Severity severity) { given_up_after_diagnostic(signal(severity)); }
  void given_up_after_diagnostic(const AlertSignal& fires) {
    ASSERT_TRUE(take({fires}));
    ASSERT_TRUE(reconcile());
    clock_.advance(minutes(5));
    node_goes();
    ASSERT_TRUE(reconcile());
    ASSERT_FALSE(newest().open());
    add_step({{"name", "quarantine-job"},
              {"result", "failed"},
              {"severity", to_string(fires.severity)},
              {"finishedAt", to_rfc3339_ms(clock_.wall())},
              {"facts", {{kJobBootFact, "boot-1"}, {kHasRunFact, "true"}}}});
    ASSERT_EQ(newest().status.phase, Phase::kSuperseded);
    clock_.advance(minutes(1));
  }
  // Adds the step to the record of the newest Remediation.
  void add_step(const Json& step) {
    const std::string path = "/apis/gpuward.dev/v1alpha1/remediations/" + newest().name;
    Json status = kube_.get(path)["status"];
    status["steps"].push_back(step);
    kube_.patch_status(path, {{"status", status}});
    catch_up(*replica_);
  }
  // The node is healthy for as long as verify takes by default.
  void is_healthy_in(const std::string& boot_id) {
    is_seen_healthy_for(minutes(11), boot_id);
    clock_.advance(minutes(1));
    reports_.answer = report_of(Severity::kNone, boot_id);
    ASSERT_TRUE(reconcile());
  }
  void is_seen_healthy_in(const std::string& boot_id, minutes later = minutes(1)) {
    clock_.advance(later);
    reports_.answer = report_of(Severity::kNone, boot_id);
    look();
  }
  // The node is healthy at each look.
  void is_seen_healthy_for(minutes span, const std::string& boot_id = "boot-2") {
    for (minutes past(0); past < span; ++past) is_seen_healthy_in(boot_id);
  }
  void becomes_ready_at(WallTime at) {
    kube_.patch_status(
        "/api/v1/nodes/gpu-01",
        {{"status",
          {{"conditions", Json::array({{{"type", "Ready"},
                                        {"status", "True"},
                                        {"lastTransitionTime", to_rfc3339(at)}}})}}}});
    catch_up(*replica_);
  }
  void look() {
    if (!returned_) {
      returned_.emplace(replica_->view, replica_->intake, &reports_, policy_, clock_);
    }
    ASSERT_TRUE(returned_->take_in());
    ASSERT_TRUE(reconcile());
  }
  void annotate_open(const std::string& key) {
    for (const Remediation& one : remediations()) {
      if (!one.open()) continue;
      kube_.patch("/apis/gpuward.dev/v1alpha1/remediations/" + one.name,
                  {{"metadata", {{"annotations", {{key, "true"}}}}}});
    }
    catch_up(*replica_);
  }
  Remediation newest() {
    auto all = remediations();
    return *std::ranges::max_element(all, {}, &Remediation::created);
  }

  std::optional<ReturnedMachines> returned_;
};

// gpuward gave the machine up with severity reboot, and it registered again in boot-2.
class Soaking : public RegisteredAnew {
 protected:
  void SetUp() override {
    RegisteredAnew::SetUp();
    given_up(Severity::kReboot);
    registers({{"bootID", "boot-2"}, {"systemUUID", kUuid}});
    look();
    is_seen_healthy_in("boot-2");
    ASSERT_TRUE(newest().any_firing());
  }
};

TEST_F(Soaking, EndsItsHistoryAfterTheTimeOfVerify) {
  is_seen_healthy_for(minutes(9));
  EXPECT_TRUE(newest().any_firing());
  is_seen_healthy_for(minutes(1));
  EXPECT_FALSE(newest().any_firing());
}

TEST_F(Soaking, TakesTheTimeThatItsPolicyHas) {
  Policy policy = *policy_.get();
  PlannedStep verify = planned(Step::kVerify);
  verify.soak = minutes(30);
  policy.steps[Severity::kReboot] = {planned(Step::kTaint), verify};
  policy_.set(policy);
  is_seen_healthy_for(minutes(29));
  EXPECT_TRUE(newest().any_firing());
  is_seen_healthy_for(minutes(1));
  EXPECT_FALSE(newest().any_firing());
}

TEST_F(Soaking, BeginsAgainAfterABadReport) {
  is_seen_healthy_for(minutes(5));
  clock_.advance(minutes(1));
  reports_.answer = report_of(Severity::kReset, "boot-2");
  look();
  is_seen_healthy_for(minutes(10));
  EXPECT_TRUE(newest().any_firing());
  is_seen_healthy_for(minutes(1));
  EXPECT_FALSE(newest().any_firing());
}

// The report of verify is as good, and its record outlives the process.
TEST_F(Soaking, EndsItsHistoryOnceVerifyHasSoaked) {
  add_step({{"name", "verify"},
            {"result", "running"},
            {"severity", "reboot"},
            {"intentAt", to_rfc3339_ms(clock_.wall())},
            {"facts",
             {{kVerifiedBootFact, "boot-2"},
              {kHealthySinceFact, to_rfc3339_ms(clock_.wall())},
              {kSoakedFact, "true"}}}});
  reports_.answer = report_of(Severity::kReset, "boot-2");
  look();
  EXPECT_TRUE(newest().any_firing()) << "it is not healthy now";
  is_seen_healthy_in("boot-2");
  EXPECT_TRUE(newest().any_firing()) << "it has been for one look";
  is_seen_healthy_in("boot-2");
  EXPECT_FALSE(newest().any_firing());
}

// Another replica may have led meanwhile.
TEST_F(Soaking, BeginsAgainAfterATimeWithoutALook) {
  is_seen_healthy_for(minutes(5));
  is_seen_healthy_in("boot-2", minutes(5));
  EXPECT_TRUE(newest().any_firing());
  is_seen_healthy_for(minutes(9));
  EXPECT_TRUE(newest().any_firing());
  is_seen_healthy_for(minutes(1));
  EXPECT_FALSE(newest().any_firing());
}

// The clock of its kubelet was ahead.
TEST_F(Soaking, EndsItsHistoryThoughItsConditionIsOfTheFuture) {
  becomes_ready_at(clock_.wall() + hours(9));
  is_seen_healthy_for(minutes(11));
  EXPECT_FALSE(newest().any_firing());
}

TEST_F(Soaking, BeginsAgainIfAnAlertFiredMeanwhile) {
  AlertSignal fires = signal(Severity::kReboot);
  is_seen_healthy_for(minutes(5));
  fires.starts_at = clock_.wall();
  ASSERT_TRUE(take({fires}));
  clock_.advance(seconds(20));
  fires.firing = false;
  fires.ends_at = clock_.wall();
  ASSERT_TRUE(take({fires}));
  is_seen_healthy_for(minutes(10));
  EXPECT_TRUE(newest().any_firing());
  is_seen_healthy_for(minutes(1));
  EXPECT_FALSE(newest().any_firing());
}

TEST_F(Soaking, BeginsAgainIfTheNodeWasNotReadyMeanwhile) {
  is_seen_healthy_for(minutes(8));
  becomes_ready_at(clock_.wall());
  is_seen_healthy_for(minutes(10));
  EXPECT_TRUE(newest().any_firing());
  is_seen_healthy_for(minutes(1));
  EXPECT_FALSE(newest().any_firing());
}

TEST_F(Soaking, BeginsAgainInAnotherProcess) {
  is_seen_healthy_for(minutes(5));
  returned_.reset();
  is_seen_healthy_for(minutes(10));
  EXPECT_TRUE(newest().any_firing());
}

TEST_F(RegisteredAnew, IsTaintedWithTheSeverityOfTheLastRemediation) {
  given_up(Severity::kReboot);
  registers({{"bootID", "boot-2"}, {"systemUUID", kUuid}});

  look();

  EXPECT_EQ(our_taint_on(node()), "reboot");
  EXPECT_TRUE(node().unschedulable);
  EXPECT_THAT(remediations(), SizeIs(2));
  look();
  EXPECT_THAT(remediations(), SizeIs(2)) << "once a node";
}

TEST_F(RegisteredAnew, IsTheSameMachineInTheSameBoot) {
  given_up(Severity::kReset);
  registers({{"bootID", "boot-1"}, {"systemUUID", ""}});

  look();

  EXPECT_EQ(our_taint_on(node()), "reset");
}

TEST_F(RegisteredAnew, IsLeftAloneIfNothingSaysThatItIsTheSameMachine) {
  given_up();
  registers({{"bootID", "boot-2"}, {"systemUUID", ""}});

  look();

  EXPECT_THAT(remediations(), SizeIs(1));
}

TEST_F(RegisteredAnew, IsLeftAloneIfTwoLiveNodesHaveItsUuid) {
  given_up();
  registers({{"bootID", "boot-2"}, {"systemUUID", kUuid}});
  Json twin = fakes::ready_node("gpu-02");
  twin["status"]["nodeInfo"]["systemUUID"] = kUuid;
  kube_.create("/api/v1/nodes", twin);
  catch_up(*replica_);

  look();

  EXPECT_THAT(remediations(), SizeIs(1));
}

TEST_F(RegisteredAnew, TakesInTheAlertThatStillFiresWhateverItsAge) {
  const AlertSignal fires = given_up();
  registers({{"bootID", "boot-1"}, {"systemUUID", kUuid}});

  const auto counts = take({fires});
  ASSERT_TRUE(reconcile());

  EXPECT_EQ(counts->accepted, 1U);
  EXPECT_EQ(our_taint_on(node()), "reboot");
}

TEST_F(RegisteredAnew, TakesInTheOldAlertBesideItsOwn) {
  const AlertSignal fires = given_up();
  registers({{"bootID", "boot-2"}, {"systemUUID", kUuid}});
  look();

  EXPECT_EQ(take({fires})->accepted, 1U);

  EXPECT_THAT(newest().alerts, SizeIs(2));
}

TEST_F(RegisteredAnew, IgnoresAnOldAlertOfAnotherMachineOfItsName) {
  const AlertSignal fires = given_up();
  registers({{"bootID", "boot-2"}, {"systemUUID", kOtherUuid}});

  EXPECT_EQ(take({fires})->ignored, 1U);
  EXPECT_THAT(remediations(), SizeIs(1));
}

TEST_F(RegisteredAnew, IgnoresAnOldAlertThatAHumanHasCancelled) {
  const AlertSignal fires = signal();
  ASSERT_TRUE(take({fires}));
  ASSERT_TRUE(reconcile());
  annotate_open("gpuward.dev/cancel");
  ASSERT_TRUE(reconcile());
  ASSERT_EQ(remediation().status.phase, Phase::kCancelled);
  node_goes();
  clock_.advance(minutes(1));
  registers({{"bootID", "boot-1"}, {"systemUUID", kUuid}});

  EXPECT_EQ(take({fires})->ignored, 1U);
  look();
  EXPECT_FALSE(our_taint_on(node()));
}

// Seen on a real cluster: the repeat came after the operator had cancelled, and gpuward cordoned
// the node again.
TEST_F(RegisteredAnew, IgnoresTheOldAlertOnceAnOperatorHasCancelledTheReturn) {
  AlertSignal fires = given_up();
  registers({{"bootID", "boot-1"}, {"systemUUID", kUuid}});
  look();
  annotate_open("gpuward.dev/cancel");
  ASSERT_TRUE(reconcile());
  ASSERT_EQ(newest().status.phase, Phase::kCancelled);

  EXPECT_EQ(take({fires})->ignored, 1U);
  EXPECT_THAT(remediations(), SizeIs(2));

  fires.starts_at = clock_.wall();
  EXPECT_EQ(take({fires})->accepted, 1U) << "a new episode";
}

TEST_F(RegisteredAnew, IsReturnedIfAFreshReportSaysThatItIsHealthy) {
  given_up();
  registers({{"bootID", "boot-2"}, {"systemUUID", kUuid}});
  look();
  ASSERT_EQ(our_taint_on(node()), "reboot");
  is_healthy_in("boot-1");
  ASSERT_EQ(our_taint_on(node()), "reboot") << "of another boot";

  is_healthy_in("boot-2");

  EXPECT_FALSE(our_taint_on(node()));
  EXPECT_EQ(newest().status.phase, Phase::kReleased);
  look();
  EXPECT_THAT(remediations(), SizeIs(2)) << "it was answered";
}

TEST_F(RegisteredAnew, StaysOutOfServiceAfterIsolateHoweverHealthyItLooks) {
  given_up(Severity::kIsolate);
  registers({{"bootID", "boot-2"}, {"systemUUID", kUuid}});
  look();

  is_healthy_in("boot-2");

  EXPECT_EQ(our_taint_on(node()), "isolate");
}

// A healthy report says less than the diagnostic.
TEST_F(RegisteredAnew, StaysOutOfServiceAfterADiagnosticThatFailedInTheSameBoot) {
  given_up_after_diagnostic(Severity::kReset);
  registers({{"bootID", "boot-1"}, {"systemUUID", kUuid}});
  look();
  is_healthy_in("boot-1");
  EXPECT_EQ(our_taint_on(node()), "reset");
}

// This may be in a maintenance, which has severity monitor. That severity never gives a machine up.
TEST_F(RegisteredAnew, StaysOutOfServiceAfterADiagnosticThatFailedAtAnySeverity) {
  given_up_after_diagnostic(Severity::kMonitor);
  registers({{"bootID", "boot-1"}, {"systemUUID", kUuid}});
  look();
  EXPECT_EQ(our_taint_on(node()), "reset");
}

// The fault of a drill is made up, but the findings of its diagnostics are real.
TEST_F(RegisteredAnew, StaysOutOfServiceAfterADiagnosticThatFailedInADrill) {
  kube_.patch("/api/v1/nodes/gpu-01",
              {{"metadata", {{"labels", {{std::string(kDrillLabel), "allowed"}}}}}});
  AlertSignal drill = signal(Severity::kReset);
  drill.drill = true;
  given_up_after_diagnostic(drill);
  registers({{"bootID", "boot-1"}, {"systemUUID", kUuid}});
  look();
  is_healthy_in("boot-1");
  EXPECT_EQ(our_taint_on(node()), "reset");
}

TEST_F(RegisteredAnew, IsLeftAloneAfterADrillWhoseDiagnosticsDidNotFail) {
  AlertSignal drill = signal(Severity::kReset);
  drill.drill = true;
  ASSERT_TRUE(take({drill}));
  ASSERT_TRUE(reconcile());
  clock_.advance(minutes(5));
  node_goes();
  ASSERT_TRUE(reconcile());
  registers({{"bootID", "boot-1"}, {"systemUUID", kUuid}});
  look();
  EXPECT_THAT(remediations(), SizeIs(1));
}

// The machine itself has failed, whatever the signs say about another one that had its instance.
TEST_F(RegisteredAnew, StaysOutOfServiceAfterADiagnosticThatFailedThoughItsSignsContradict) {
  node_goes();
  registers({{"bootID", "boot-0"}, {"systemUUID", kOtherUuid}}, "aws:///eu-west-1a/i-1");
  clock_.advance(minutes(1));
  given_up(Severity::kIsolate);
  registers({{"bootID", "boot-1"}, {"systemUUID", kUuid}}, "aws:///eu-west-1a/i-1");
  clock_.advance(minutes(1));
  given_up_after_diagnostic(Severity::kReset);
  registers({{"bootID", "boot-1"}, {"systemUUID", kUuid}}, "aws:///eu-west-1a/i-1");
  look();
  ASSERT_EQ(newest().alerts.front().alertname, kContradictoryAlert);
  is_healthy_in("boot-1");
  EXPECT_EQ(our_taint_on(node()), "isolate");
}

TEST_F(RegisteredAnew, IsVerifiedAfterADiagnosticThatFailedIfItsGpusWereResetSince) {
  given_up_after_diagnostic(Severity::kReset);
  registers({{"bootID", "boot-1"}, {"systemUUID", kUuid}});
  look();
  ASSERT_TRUE(newest().any_firing());
  is_healthy_in("boot-1");
  ASSERT_TRUE(newest().any_firing());
  add_step({{"name", "gpu-reset"},
            {"result", "done"},
            {"severity", "reset"},
            {"intentAt", to_rfc3339_ms(clock_.wall())},
            {"finishedAt", to_rfc3339_ms(clock_.wall())}});
  is_healthy_in("boot-1");
  EXPECT_FALSE(newest().any_firing());
}

TEST_F(RegisteredAnew, IsReturnedAfterADiagnosticThatFailedInAnotherBoot) {
  given_up_after_diagnostic(Severity::kReset);
  registers({{"bootID", "boot-2"}, {"systemUUID", kUuid}});
  look();
  ASSERT_EQ(our_taint_on(node()), "reset");
  is_healthy_in("boot-2");
  EXPECT_FALSE(our_taint_on(node()));
}

TEST_F(RegisteredAnew, IsHeldIfItsSignsContradictOneAnother) {
  given_up(Severity::kReboot);
  registers({{"bootID", "boot-2"}, {"systemUUID", kUuid}}, "aws:///eu-west-1a/i-1");
  look();
  clock_.advance(minutes(1));
  node_goes();
  ASSERT_TRUE(reconcile());
  clock_.advance(minutes(1));
  registers({{"bootID", "boot-3"}, {"systemUUID", kOtherUuid}}, "aws:///eu-west-1a/i-1");

  look();
  ASSERT_TRUE(reconcile());

  EXPECT_EQ(our_taint_on(node()), "reboot");
  EXPECT_EQ(newest().status.phase, Phase::kHeld);
  EXPECT_EQ(newest().alerts.front().alertname, kContradictoryAlert);
  EXPECT_EQ(newest().status.notified_phase, Phase::kHeld);
}

// Simulated, seed 4555: gpuward took the severity of the other boards for that of these.
Remediation given_up(const std::string& node_uid, Severity severity, const char* boards,
                     int number = 1) {
  Remediation one;
  one.name = "gpu-01-" + node_uid + "-" + std::to_string(number);
  one.node = "gpu-01";
  one.node_uid = node_uid;
  one.severity = severity;
  one.instance_id = "aws:///eu-west-1a/i-1";
  one.system_uuid = boards;
  one.status.phase = Phase::kSuperseded;
  return one;
}

std::shared_ptr<kube::Node> node_of(const char* node_uid, const char* boards) {
  auto node = std::make_shared<kube::Node>();
  node->meta.name = "gpu-01";
  node->meta.uid = node_uid;
  node->provider_id = "aws:///eu-west-1a/i-1";
  node->system_uuid = boards;
  return node;
}

// The clock of the API server went back between the Remediations of two Nodes.
TEST(ReturnedMachineOfAClockThatWentBack, IsNotAnsweredByAReturnOfItsNodeBefore) {
  const auto at = [](int minute) { return WallTime{} + minutes(minute); };
  const auto node = node_of("c", kUuid);
  RemediationsByName known;
  known["before"] = given_up("a", Severity::kReboot, kUuid);
  known["before"].status.phase = Phase::kReleased;
  known["before"].created = at(10);
  known["first"] = given_up("b", Severity::kReboot, kUuid);
  known["first"].status.phase = Phase::kEnded;
  known["first"].created = at(5);
  known["last"] = given_up("b", Severity::kReboot, kUuid, 2);
  known["last"].created = at(20);

  EXPECT_THAT(find_returned({{"gpu-01", node}}, known), SizeIs(1));
  known["before"].created = at(21);
  EXPECT_THAT(find_returned({{"gpu-01", node}}, known), SizeIs(0)) << "of the Node after it";
}

TEST(ReturnedMachineOfTwoBoards, IsAContradictionIfOnlyTheOtherBoardsWereSoBad) {
  const auto node = node_of("c", kOtherUuid);
  RemediationsByName known;
  known["a"] = given_up("a", Severity::kIsolate, kUuid);
  known["b"] = given_up("b", Severity::kReboot, kOtherUuid);

  auto found = find_returned({{"gpu-01", node}}, known);

  ASSERT_THAT(found, SizeIs(1));
  EXPECT_EQ(found[0].severity, Severity::kIsolate);
  EXPECT_TRUE(found[0].is_contradictory) << "a healthy report ends it";
  known["b"].severity = Severity::kIsolate;
  found = find_returned({{"gpu-01", node}}, known);
  EXPECT_FALSE(found[0].is_contradictory) << "these boards were that bad: a human says when not";
}

TEST_F(RegisteredAnew, IsReturnedIfAHumanSaysThatTheMachineWasReplaced) {
  given_up(Severity::kIsolate);
  registers({{"bootID", "boot-2"}, {"systemUUID", kUuid}});
  look();
  ASSERT_EQ(our_taint_on(node()), "isolate");

  annotate_open("gpuward.dev/machine-replaced");
  ASSERT_TRUE(reconcile());

  EXPECT_FALSE(our_taint_on(node()));
  clock_.advance(minutes(1));
  node_goes();
  registers({{"bootID", "boot-3"}, {"systemUUID", kUuid}});
  look();
  EXPECT_THAT(remediations(), SizeIs(2));
}

TEST_F(RegisteredAnew, StaysTaintedForItsOwnAlertThoughTheMachineWasReplaced) {
  given_up(Severity::kReboot);
  registers({{"bootID", "boot-2"}, {"systemUUID", kUuid}});
  look();
  clock_.advance(minutes(1));
  ASSERT_TRUE(take({signal(Severity::kReboot)}));

  annotate_open("gpuward.dev/machine-replaced");
  look();

  EXPECT_EQ(our_taint_on(node()), "reboot");
}

}  // namespace
}  // namespace gpuward::remediator
