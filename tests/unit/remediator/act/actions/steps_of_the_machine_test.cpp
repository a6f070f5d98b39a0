// The steps reboot and verify on nodes that the tests build by hand.
#include <gmock/gmock.h>

#include "core/runtime/clock.h"
#include "remediator/act/actions/reboot_action.h"
#include "remediator/act/actions/verify_action.h"
#include "remediator/model/announced.h"
#include "remediator/model/history_alerts.h"
#include "tests/unit/remediator/act/cluster_fixture.h"

namespace gpuward::remediator {
namespace {

using std::chrono::minutes;
using std::chrono::seconds;
using ::testing::HasSubstr;

const WallTime kBegun = WallTime(std::chrono::hours(500'000));

class RecordingProvider final : public CloudProvider {
 public:
  bool can(MachineAction, const Machine&) const override { return true; }
  Status terminate(const Machine& machine, const Permit& permit) override {
    return reboot(machine, permit);
  }
  Result<MachineFate> fate(const Machine&) override { return is; }
  Status reboot(const Machine& machine, const Permit& permit) override {
    if (auto may = permit(); !may) return may;
    machines.push_back(machine);
    return answer;
  }
  Status answer;
  Result<MachineFate> is = Fate::kRuns;
  std::vector<Machine> machines;
};

class OneReport final : public HealthReports {
 public:
  Result<HealthReport> latest(std::string_view) override { return answer; }
  Result<HealthReport> answer = fail(ErrorKind::kNotFound, "nothing known");
};

class NoReplacements final : public Replacements {
 public:
  std::vector<Newcomer> newcomers(const std::string&, WallTime) const override { return {}; }
  Result<std::vector<ReplacementClaim>> claims_on(const std::string&, const std::string&) override {
    return std::vector<ReplacementClaim>();
  }
};

kube::Node a_node(const std::string& boot, bool ready = true) {
  kube::Node node;
  node.meta.name = "gpu-01";
  node.meta.uid = "uid-1";
  node.provider_id = "aws:///a/i-1";
  node.boot_id = boot;
  node.conditions = {
      {.type = "Ready", .status = ready ? "True" : "False", .reason = {}, .message = {}}};
  return node;
}

class MachineSteps : public ::testing::Test {
 protected:
  MachineSteps() {
    remediation.name = "gpu-01-ab-1";
    remediation.status.steps.push_back({.step = Step::kVerify,
                                        .result = StepResult::kRunning,
                                        .severity = Severity::kReboot,
                                        .intent_at = kBegun,
                                        .finished_at = {},
                                        .attempts = 1,
                                        .message = {}});
  }
  StepRequest request(const kube::Node& node, const PlannedStep& step, Facts facts,
                      WallTime now = kBegun) {
    return {.remediation = remediation,
            .node = node,
            .step = step,
            .facts = std::move(facts),
            .permit = [this] { return allowed; },
            .now = now,
            .ran = ran_of(remediation, step.step, now)};
  }
  Remediation remediation;
  Status allowed;
};

class Reboot : public MachineSteps {
 protected:
  StepProgress begin(const kube::Node& node) {
    return *action.begin(request(node, planned(Step::kReboot), action.facts_before(node)));
  }
  StepProgress watch(const kube::Node& node) {
    return *action.watch(
        request(node, planned(Step::kReboot), action.facts_before(a_node("boot-1"))));
  }
  RecordingProvider provider;
  fakes::FakeClock clock;
  fakes::FakeKube kube{clock};
  fakes::InProcessClient http{kube};
  NoCredentials credentials;
  kube::Api api{one_try(), http, credentials, clock};
  CurrentPolicy policy{Policy{}};
  RebootAction action{provider, api, policy};
};

TEST_F(Reboot, AsksOnceForTheMachineBehindTheNode) {
  const auto progress = begin(a_node("boot-1"));

  EXPECT_EQ(progress.result, StepResult::kRunning);
  EXPECT_EQ(progress.facts.at(kCallFact), "accepted");
  ASSERT_EQ(provider.machines.size(), 1U);
  EXPECT_EQ(provider.machines[0].node_uid, "uid-1");
  EXPECT_EQ(provider.machines[0].provider_id, "aws:///a/i-1");
  EXPECT_EQ(provider.machines[0].remediation, "gpu-01-ab-1");
}

TEST_F(Reboot, AsksNobodyIfItMayNot) {
  allowed = fail(ErrorKind::kCancelled, "the switch is on");

  const auto progress = begin(a_node("boot-1"));

  EXPECT_EQ(progress.result, StepResult::kIntended);
  EXPECT_THAT(progress.message, HasSubstr("the switch is on"));
  EXPECT_TRUE(provider.machines.empty());
}

TEST_F(Reboot, AsksNobodyIfItCouldNotTellThatTheNodeHasRestarted) {
  const auto progress = begin(a_node(""));

  EXPECT_EQ(progress.result, StepResult::kFailed);
  EXPECT_TRUE(progress.facts.contains(kNeedsOperatorFact)) << "that is no fault of the machine";
  EXPECT_EQ(progress.facts.at(kCallFact), "none");
  EXPECT_TRUE(provider.machines.empty());
}

TEST_F(Reboot, TellsARefusalFromAnAnswerThatNeverCame) {
  provider.answer = fail(ErrorKind::kRefused, "protected");
  const auto refused = begin(a_node("boot-1"));
  EXPECT_EQ(refused.result, StepResult::kFailed);
  EXPECT_EQ(refused.message, "the restart was refused: protected");
  EXPECT_EQ(refused.facts.at(kCallFact), "none");
  provider.answer = fail(ErrorKind::kTimeout, "nothing heard");

  const auto progress = begin(a_node("boot-1"));

  EXPECT_EQ(progress.result, StepResult::kRunning);
  EXPECT_THAT(progress.message, HasSubstr("not retrying yet"));
  EXPECT_EQ(progress.facts.at(kCallFact), "unknown");
}

TEST_F(Reboot, WaitsIfItIsNotAcceptedNow) {
  for (const ErrorKind kind : {ErrorKind::kOverloaded, ErrorKind::kBlocked}) {
    provider.answer = fail(kind, "RequestLimitExceeded");
    const auto progress = begin(a_node("boot-1"));
    EXPECT_EQ(progress.result, StepResult::kIntended);
    EXPECT_EQ(progress.message, "reboot waits: RequestLimitExceeded");
  }
}

// A more disruptive step would not help if only the right is missing.
TEST_F(Reboot, GivesWhatSaysNothingOfTheMachineToAHuman) {
  for (const ErrorKind kind :
       {ErrorKind::kForbidden, ErrorKind::kUnauthenticated, ErrorKind::kNotFound}) {
    provider.answer = fail(kind, "UnauthorizedOperation");
    const auto progress = begin(a_node("boot-1"));
    EXPECT_EQ(progress.result, StepResult::kFailed);
    EXPECT_TRUE(progress.facts.contains(kNeedsOperatorFact));
    EXPECT_EQ(progress.message, "UnauthorizedOperation");
  }
}

TEST_F(Reboot, IsDoneWhenTheNodeIsReadyInAnotherBoot) {
  EXPECT_EQ(watch(a_node("boot-1")).result, StepResult::kRunning);
  EXPECT_EQ(watch(a_node("boot-1", false)).result, StepResult::kRunning);
  EXPECT_EQ(watch(a_node("boot-2", false)).result, StepResult::kRunning);
  EXPECT_EQ(watch(a_node("boot-2")).result, StepResult::kDone);
}

// The process may have died before the call. The step does not wait for a restart that gpuward may
// never have requested.
TEST_F(Reboot, SaysOnlyOfAnAcceptedRestartThatItIsWaitedFor) {
  EXPECT_THAT(watch(a_node("boot-1")).message,
              HasSubstr("restart requested, response unknown; the"));

  StepRecord accepted;
  accepted.step = Step::kReboot;
  accepted.facts = {{kCallFact, "accepted"}};
  remediation.status.steps.push_back(accepted);

  EXPECT_EQ(watch(a_node("boot-1")).message, "waiting for the node to report a new boot ID");
}

TEST_F(Reboot, HasFailedIfTheNodeHasAnotherInstance) {
  kube::Node other = a_node("boot-2");
  other.provider_id = "aws:///a/i-2";

  EXPECT_EQ(watch(other).result, StepResult::kFailed);
  EXPECT_TRUE(watch(other).facts.contains(kNeedsOperatorFact)) << "it is another machine";
}

class Verify : public MachineSteps {
 protected:
  void report(Severity severity, WallTime measured_at, const std::string& boot = "boot-2") {
    reports.answer = HealthReport{.measured_at = measured_at,
                                  .severity = severity,
                                  .confirmed_severity = severity,
                                  .boot_id = boot,
                                  .sees_kernel_log = true};
  }
  StepProgress look(WallTime now, const Facts& facts = {}, bool ready = true) {
    return *action.watch(request(a_node("boot-2", ready), planned(Step::kVerify), facts, now));
  }
  OneReport reports;
  CurrentPolicy policy{Policy{}};
  NoReplacements replacements;
  VerifyAction action{&reports, policy, replacements};
};

TEST_F(Verify, IsDoneAfterTheSoakWithoutABreak) {
  const WallTime well = kBegun + minutes(1);
  report(Severity::kMonitor, well);
  auto progress = look(well);
  EXPECT_EQ(progress.result, StepResult::kRunning);
  report(Severity::kNone, well + minutes(9));
  progress = look(well + minutes(9), progress.facts);
  EXPECT_EQ(progress.result, StepResult::kRunning);

  report(Severity::kNone, well + minutes(10));
  progress = look(well + minutes(10), progress.facts);

  EXPECT_EQ(progress.result, StepResult::kDone);
}

// No look happens during any of these breaks.
TEST_F(Verify, BeginsAgainAfterABreakBetweenTwoLooks) {
  const WallTime well = kBegun + minutes(1);
  report(Severity::kNone, well);
  const Facts facts = look(well).facts;
  report(Severity::kNone, well + minutes(11));
  const auto is_done = [&](const kube::Node& node) {
    const auto asked = request(node, planned(Step::kVerify), facts, well + minutes(11));
    return action.watch(asked)->result == StepResult::kDone;
  };
  ASSERT_TRUE(is_done(a_node("boot-2")));

  kube::Node was_not_ready = a_node("boot-2");
  was_not_ready.conditions.front().transition = well + minutes(5);
  EXPECT_FALSE(is_done(was_not_ready));

  Facts of_other_boot = facts;
  of_other_boot["verifiedBootID"] = "boot-1";
  EXPECT_EQ(look(well + minutes(11), of_other_boot).result, StepResult::kRunning);

  remediation.alerts.push_back({"Bad", "ab", Severity::kReboot, kBegun, kBegun, well + minutes(5)});
  EXPECT_FALSE(is_done(a_node("boot-2")));
}

TEST_F(Verify, BeginsAnewAfterABreak) {
  const WallTime well = kBegun + minutes(1);
  report(Severity::kNone, well);
  auto progress = look(well);
  report(Severity::kReset, well + minutes(5));
  progress = look(well + minutes(5), progress.facts);
  EXPECT_THAT(progress.message, HasSubstr("still has severity reset"));
  report(Severity::kNone, well + minutes(11));

  EXPECT_EQ(look(well + minutes(11), progress.facts).result, StepResult::kRunning);
}

TEST_F(Verify, TakesNothingForHealthThatIsNone) {
  const WallTime now = kBegun + minutes(1);
  EXPECT_THAT(look(now).message, HasSubstr("nothing known"));
  report(Severity::kNone, now, "boot-1");
  EXPECT_THAT(look(now).message, HasSubstr("another boot"));
  report(Severity::kNone, now - minutes(2));
  EXPECT_THAT(look(now).message, HasSubstr("too old"));
  report(Severity::kNone, now);
  EXPECT_THAT(look(now, {}, false).message, HasSubstr("not Ready"));
  remediation.alerts.push_back({"Bad", "ab", Severity::kReboot, kBegun, kBegun, std::nullopt});
  EXPECT_THAT(look(now).message, HasSubstr("fires"));
}

// No exporter reads GPUs during the upgrade, and the upgrade is not the node's fault.
TEST_F(Verify, HasNoLessTimeBecauseOfAnUpgradeOfTheDriver) {
  kube::Node node = a_node("boot-2");
  const auto look_at = [&] {
    return *action.watch(request(node, planned(Step::kVerify), {}, kBegun + minutes(1)));
  };
  EXPECT_TRUE(look_at().runs_clock);
  for (const auto& [key, value] :
       {std::pair("nvidia.com/gpu-driver-upgrade-state", "pod-restart-required"),
        std::pair("nvidia.com/gpu.deploy.dcgm", "paused-for-driver-upgrade")}) {
    node.meta.labels = {{key, value}};
    EXPECT_FALSE(look_at().runs_clock) << key;
    EXPECT_THAT(look_at().message, HasSubstr(key));
  }
  remediation.alerts.push_back({"Bad", "ab", Severity::kReboot, kBegun, kBegun, std::nullopt});
  EXPECT_TRUE(look_at().runs_clock) << "the upgrade makes no alert fire";
  remediation.alerts.clear();
  report(Severity::kNone, kBegun + minutes(1));
  EXPECT_TRUE(look_at().runs_clock) << "it is healthy all the same";
}

// An announcement of a cloud for next week is not a fault, and neither is a recorded warning.
TEST_F(Verify, IsNotHeldUpByWhatIsAnnouncedNorByAMonitorAlertOfANodeThatIsMaintained) {
  const WallTime now = kBegun + minutes(1);
  report(Severity::kNone, now);
  const Announcement planned_reboot{
      .id = "instance-event-1", .kind = AnnouncementKind::kReboot, .start = now};
  remediation.severity = Severity::kReboot;
  remediation.alerts.push_back({alertname_of(AnnouncementKind::kReboot),
                                announcement_fingerprint(planned_reboot), Severity::kMonitor,
                                kBegun, kBegun, std::nullopt});
  EXPECT_THAT(look(now).message, HasSubstr("healthy since"));

  remediation.alerts.push_back({"Warm", "cd", Severity::kMonitor, kBegun, kBegun, std::nullopt});
  EXPECT_THAT(look(now).message, HasSubstr("Warm fires")) << "the node had a fault";
  remediation.severity = Severity::kMonitor;
  EXPECT_THAT(look(now).message, HasSubstr("healthy since"));
}

// Both soak at the same time. Otherwise the time-out of verify might end first.
TEST_F(Verify, WaitsAfterItsSoakForTheEndOfTheHistoryOfTheMachine) {
  const WallTime well = kBegun + minutes(1);
  remediation.alerts.push_back(
      {std::string(kReturnedAlert), "0123456789", Severity::kReboot, kBegun, kBegun, std::nullopt});
  report(Severity::kNone, well);
  auto progress = look(well);
  report(Severity::kNone, well + minutes(11));
  progress = look(well + minutes(11), progress.facts);
  EXPECT_EQ(progress.result, StepResult::kRunning);
  EXPECT_THAT(progress.message, HasSubstr("but alert GpuwardMachineReturned is firing"));
  EXPECT_TRUE(progress.facts.contains(kSoakedFact));
  report(Severity::kReset, well + minutes(11));
  EXPECT_FALSE(look(well + minutes(11), progress.facts).facts.contains(kSoakedFact));
  report(Severity::kNone, well + minutes(11));

  remediation.alerts.back().ended_at = well + minutes(11);
  EXPECT_EQ(look(well + minutes(11), progress.facts).result, StepResult::kDone);
}

// The node of a machine that gpuward ended does not come back.
TEST_F(Verify, IsOfAnotherNodeOnceTheMachineIsGone) {
  report(Severity::kNone, kBegun);
  StepRecord end;
  end.step = Step::kTerminate;
  end.result = StepResult::kDone;
  remediation.status.steps.push_back(end);

  EXPECT_EQ(look(kBegun).message, "waiting for a replacement");
}

TEST_F(Verify, SaysThatThereIsNobodyToAsk) {
  VerifyAction blind(nullptr, policy, replacements);

  const auto progress =
      blind.begin(request(a_node("boot-2"), planned(Step::kVerify), {}, kBegun + seconds(1)));

  EXPECT_THAT(progress->message, HasSubstr("--prometheus.url"));
}

}  // namespace
}  // namespace gpuward::remediator
