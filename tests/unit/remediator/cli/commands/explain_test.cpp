#include "remediator/cli/commands/explain.h"

#include <gmock/gmock.h>

#include "remediator/tell/texts/last_command.h"
#include "remediator/tell/texts/standing.h"

namespace gpuward::remediator {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

const WallTime kStart = WallTime(std::chrono::hours(500'000));

Remediation closed(Phase phase, const std::string& node_uid) {
  Remediation remediation;
  remediation.name = "gpu-01-1";
  remediation.node = "gpu-01";
  remediation.node_uid = node_uid;
  remediation.status.phase = phase;
  remediation.alerts = {{.alertname = "GpuNodeBad",
                         .fingerprint = "ab",
                         .severity = Severity::kReboot,
                         .starts_at = kStart,
                         .first_received = kStart,
                         .ended_at = std::nullopt}};
  return remediation;
}

kube::Node joined(const std::string& uid, WallTime at) {
  kube::Node node;
  node.meta.name = "gpu-01";
  node.meta.uid = uid;
  node.meta.created = at;
  return node;
}

TEST(Explain, SaysThatAnAlertIsIgnoredBecauseItIsOlderThanTheNode) {
  const auto node = joined("new", kStart + std::chrono::hours(1));

  EXPECT_THAT(ignored_alerts(closed(Phase::kSuperseded, "old"), node),
              HasSubstr("alert GpuNodeBad (ab) since 2027-01-15T08:00:00Z: it started before the "
                        "node joined 2027-01-15T09:00:00Z. It counts only if the machine is known "
                        "to be the same"));
}

TEST(Explain, SaysThatRepeatsOfACancelledAlertAreIgnored) {
  EXPECT_THAT(
      ignored_alerts(closed(Phase::kCancelled, "same"), joined("same", kStart)),
      HasSubstr(
          "gpu-01-1 was cancelled. The alert counts again once it has resolved and fires again"));
}

TEST(Explain, TellsADrillAndTheTimeOfEachOfItsSteps) {
  Remediation drill = closed(Phase::kReleased, "same");
  drill.alerts[0].drill = true;
  drill.status.reached = {
      {Milestone::kAccepted, kStart + std::chrono::milliseconds(400)},
      {Milestone::kCordoned, kStart + std::chrono::milliseconds(1200)},
      {Milestone::kActed, kStart + std::chrono::seconds(75)},
      {Milestone::kRecovered, kStart + std::chrono::seconds(130)},
  };
  const std::vector<Remediation> all = {drill};

  const std::string text = explain("gpu-01", all, kStart, "");

  EXPECT_THAT(text, HasSubstr("mode observe, drill\n"));
  EXPECT_THAT(text, HasSubstr("since the alert: recorded 0.4 s, cordoned 1.2 s, reset or "
                              "restarted 75.0 s, back in service 130.0 s\n"));
}

TEST(Explain, SaysNothingOfACancelledAlertThatHasEnded) {
  Remediation cancelled = closed(Phase::kCancelled, "same");
  cancelled.alerts[0].ended_at = kStart + std::chrono::minutes(5);

  EXPECT_THAT(ignored_alerts(cancelled, joined("same", kStart)), IsEmpty());
}

TEST(Explain, SaysNothingOfAlertsThatAreTakenIn) {
  const auto node = joined("same", kStart - std::chrono::hours(1));

  EXPECT_THAT(ignored_alerts(closed(Phase::kPending, "same"), node), IsEmpty());
  EXPECT_THAT(ignored_alerts(closed(Phase::kReleased, "same"), node), IsEmpty());
}

Remediation open(const std::string& node, Phase phase, const std::string& rule,
                 const std::string& message) {
  Remediation remediation;
  remediation.name = node + "-ab-1";
  remediation.node = node;
  remediation.status.phase = phase;
  remediation.status.rule = rule;
  remediation.status.message = message;
  return remediation;
}

Slot slot_of(const std::string& node, Impact impact, WallTime since) {
  return {.remediation = node + "-ab-1",
          .node_uid = "uid-of-" + node,
          .place = {},
          .impact = impact,
          .since = since};
}

TEST(Explain, SaysNothingOfACancelledAlertIfTheExporterFindsNothingAnyMore) {
  kube::Node node = joined("same", kStart);
  node.meta.labels["gpu-healthcheck.aws-samples.io/status"] = "pass";

  EXPECT_THAT(ignored_alerts(closed(Phase::kCancelled, "same"), node), IsEmpty());
}

TEST(Explain, TellsOfTheHistoryWhatIsNotToldAlready) {
  Remediation sick = closed(Phase::kDraining, "same");
  sick.status.message = "2 pods left";
  sick.status.history = {"T1 drain done: drained", "T1 drain done: drained",
                         "T2 drain running: 2 pods left"};

  std::string text = explain("gpu-01", {&sick, 1}, kStart);
  EXPECT_EQ(text.find("drained"), text.rfind("drained"));
  EXPECT_EQ(text.find("2 pods left"), text.rfind("2 pods left"));

  sick.status.phase = Phase::kReleased;
  sick.status.findings.emplace_back().check = "xid";
  text = explain("gpu-01", {&sick, 1}, kStart);
  EXPECT_THAT(text, HasSubstr("  before: T2 drain running: 2 pods left\n"));
  EXPECT_THAT(text, HasSubstr("  was broken: xid"));
}

TEST(Explain, TellsWhatIsOpenAndTheLastAndNamesWhatWasBefore) {
  Remediation last = closed(Phase::kReleased, "same");
  last.name = "gpu-01-3";
  Remediation earlier = last;
  earlier.name = "gpu-01-2";
  earlier.severity = Severity::kReboot;
  earlier.status.closed_at = kStart;
  earlier.status.history = {"a line of its history"};
  Remediation still_open = earlier;
  still_open.name = "gpu-01-1";
  still_open.status.phase = Phase::kHeld;

  const std::string text =
      explain("gpu-01", std::vector<Remediation>{last, earlier, still_open}, kStart);

  EXPECT_THAT(text, HasSubstr("gpu-01-3: Released, severity none, mode "));
  EXPECT_THAT(text, HasSubstr("gpu-01-2: Released 2027-01-15T08:00:00Z, severity reboot\n"
                              "  for the full history: gpuwardctl explain gpu-01-2\n"
                              "gpu-01-1: Held, severity reboot, mode "));
  EXPECT_THAT(text, HasSubstr("gpuwardctl cancel gpu-01"));
  EXPECT_EQ(text.find("a line of its history"), text.rfind("a line of its history"));
}

TEST(Explain, NamesWhatBrokeWhoWasHitAndWhichCommandsHelp) {
  Remediation sick = open("gpu-01", Phase::kWaiting, "approval", "reboot waits for an approval");
  sick.status.findings.push_back({.check = "xid",
                                  .code = "79",
                                  .severity = "reboot",
                                  .gpu = "3",
                                  .pci_bus_id = "0000:4e:00",
                                  .serial = "1650523",
                                  .workload = "default/train-0",
                                  .meaning = "it has fallen off the bus",
                                  .line = "NVRM: Xid (PCI:0000:4e:00): 79",
                                  .first_seen = kStart,
                                  .last_seen = kStart});
  sick.status.steps = {{.step = Step::kDrain,
                        .result = StepResult::kDone,
                        .intent_at = std::nullopt,
                        .finished_at = std::nullopt,
                        .message = {},
                        .facts = {{"jobs", "Job default/train"}}}};
  sick.status.approval = ApprovalRecord{Step::kReboot, "0123456789", kStart, "", std::nullopt};

  const std::string text = explain("gpu-01", {&sick, 1}, kStart);

  EXPECT_THAT(text, HasSubstr("\n  now: reboot waits for an approval\n"
                              "  broken: xid 79 on GPU 3 (0000:4e:00), serial 1650523, severity "
                              "reboot, since 2027-01-15T08:00:00Z\n"
                              "    meaning: it has fallen off the bus\n"
                              "    seen: NVRM: Xid (PCI:0000:4e:00): 79\n    witness: none yet; a "
                              "line of the kernel log alone justifies at most the cordon\n"
                              "    used by: default/train-0\n"
                              "  jobs that lost pods: Job default/train\n"));
  EXPECT_THAT(text, HasSubstr("\n  to let it reboot: gpuwardctl approve gpu-01 0123456789\n"
                              "  to pause: gpuwardctl pause gpu-01\n"
                              "  to remove gpuward's taint and cordon and close the remediation: "
                              "gpuwardctl cancel gpu-01\n"));
}

TEST(Explain, HasNoLineThatTheNameOfAJobHasFaked) {
  Remediation sick = open("gpu-01", Phase::kWaiting, "approval", "reboot waits for an approval");
  sick.status.steps = {{.step = Step::kDrain,
                        .result = StepResult::kDone,
                        .intent_at = std::nullopt,
                        .finished_at = std::nullopt,
                        .message = {},
                        .facts = {{"jobs", "Job default/a\ngpu-01-ab-1: Released"}}}};

  EXPECT_THAT(explain("gpu-01", {&sick, 1}, kStart),
              HasSubstr("  jobs that lost pods: Job default/a\\ngpu-01-ab-1: Released\n"));
}

TEST(Explain, SaysWhereTheModeEndsAndWhatToRead) {
  Remediation sick = closed(Phase::kQuarantined, "same");
  sick.alerts[0].alertname = "GpuNodeNeedsReboot";
  sick.status.mode = Mode::kCordon;
  sick.status.rule = "severities.reboot";
  EXPECT_THAT(explain("gpu-01", {&sick, 1}, kStart),
              AllOf(HasSubstr("  next: nothing; mode cordon ends here"),
                    HasSubstr("  for instructions: gpuwardctl runbook GpuNodeNeedsReboot\n")));
  sick.status.rule = "budget.cordon";
  EXPECT_THAT(explain("gpu-01", {&sick, 1}, kStart), Not(HasSubstr("next: nothing")));
  sick.wish.cancel = true;
  EXPECT_THAT(explain("gpu-01", {&sick, 1}, kStart),
              AllOf(HasSubstr("cancelled: it closes"), Not(HasSubstr("gpuwardctl pause"))));
}

TEST(Explain, NamesTheRunbooksOfAHeldNodeAlsoOnceItsAlertHasEnded) {
  Remediation held = closed(Phase::kHeld, "same");
  held.severity = Severity::kReboot;
  held.status.escalated_to = Severity::kIsolate;
  held.alerts[0].alertname = "GpuNodeNeedsReboot";
  held.alerts[0].ended_at = kStart + std::chrono::minutes(5);

  EXPECT_THAT(explain("gpu-01", {&held, 1}, kStart),
              AllOf(HasSubstr("gpu-01-1: Held, severity isolate, mode"),
                    HasSubstr("  escalated to isolate from severity reboot\n"),
                    HasSubstr("gpuwardctl runbook GpuNodeNeedsReboot\n"),
                    HasSubstr("gpuwardctl runbook GpuRemediationHeld\n")));
}

TEST(Explain, SaysOfASilentNodeWhatWasKnownLast) {
  Remediation silent = closed(Phase::kQuarantined, "same");
  silent.alerts[0].fingerprint = "silent.node";
  silent.alerts[0].advice = "Ready is Unknown";

  EXPECT_THAT(explain("gpu-01", {&silent, 1}, kStart),
              AllOf(HasSubstr("    last known: Ready is Unknown\n"), Not(HasSubstr("a model"))));
}

TEST(Explain, SaysEachFactOnce) {
  Remediation sick = closed(Phase::kQuarantined, "same");
  sick.status.message = "severity reboot: taint, cordon";
  sick.status.rule = "severities.reboot";
  sick.status.reasons = {"alert GpuNodeBad fires, severity reboot",
                         "policy severities.reboot in mode cordon: taint, cordon",
                         "severity reboot: taint, cordon"};

  const std::string text = explain("gpu-01", {&sick, 1}, kStart);

  EXPECT_THAT(text, AllOf(HasSubstr("  now: severity reboot: taint, cordon\n"),
                          HasSubstr("  because policy severities.reboot in mode cordon"),
                          Not(HasSubstr("because severity reboot")),
                          Not(HasSubstr("because alert")), Not(HasSubstr("  rule "))));
}

TEST(Explain, SaysOnceWhatTheStepsOfOneDecisionSay) {
  Remediation sick = closed(Phase::kQuarantined, "same");
  sick.status.message = "paused by annotation";
  for (const Step step : {Step::kTaint, Step::kCordon}) {
    sick.status.steps.push_back({.step = step,
                                 .result = StepResult::kDone,
                                 .intent_at = kStart,
                                 .finished_at = kStart,
                                 .attempts = 1,
                                 .message = "severity reboot: taint, cordon"});
  }

  const std::string text = explain("gpu-01", {&sick, 1}, kStart);

  EXPECT_THAT(text, HasSubstr("attempts 1: severity reboot: taint, cordon\n  step cordon: done, "));
  EXPECT_EQ(text.find("taint, cordon"), text.rfind("taint, cordon"));
}

TEST(Explain, SaysWhenAStepWasDoneFirstAndLast) {
  Remediation again = closed(Phase::kQuarantined, "same");
  again.status.steps = {{.step = Step::kCordon,
                         .result = StepResult::kDone,
                         .intent_at = kStart + std::chrono::hours(2),
                         .finished_at = kStart + std::chrono::hours(2),
                         .attempts = 2,
                         .message = {}}};
  again.status.reached[Milestone::kCordoned] = kStart;

  EXPECT_THAT(explain("gpu-01", {&again, 1}, kStart),
              HasSubstr("step cordon: done, intended 2027-01-15T10:00:00Z, finished "
                        "2027-01-15T10:00:00Z (done first 2027-01-15T08:00:00Z), attempts 2\n"));
  again.status.steps[0].attempts = 1;
  EXPECT_THAT(explain("gpu-01", {&again, 1}, kStart), Not(HasSubstr("done first")));
}

TEST(Explain, OffersOfAnExcludedNodeWhatEndsTheExclusion) {
  const Remediation kept = open("gpu-01", Phase::kQuarantined, "excluded", "gpu-01 is excluded");

  const std::string text =
      explain("gpu-01", {&kept, 1}, kStart, "gpuwardctl exclusions remove gpu-01");

  EXPECT_THAT(text,
              AllOf(HasSubstr("act on it again: gpuwardctl exclusions remove gpu-01\n"),
                    HasSubstr("gpuwardctl cancel gpu-01"), Not(HasSubstr("gpuwardctl pause"))));
}

TEST(Explain, SaysWhoHasPausedAndWhen) {
  Remediation paused = open("gpu-01", Phase::kPaused, "guard.pause", "paused by annotation");
  paused.wish.pause = true;
  paused.wish.last_command =
      to_annotation({.command = "pause", .by = "alice", .at = kStart - std::chrono::minutes(5)});
  EXPECT_THAT(explain("gpu-01", {&paused, 1}, kStart),
              AllOf(HasSubstr("\n  now: paused by alice 5m ago\n"), Not(HasSubstr("annotation"))));
  EXPECT_EQ(reason_of(paused, kStart), "paused by alice 5m ago");

  for (const char* other :
       {"", "nonsense", "2027-01-15T08:00:00Z", "2027-01-15T08:00:00Z resume by a"}) {
    paused.wish.last_command = other;
    EXPECT_EQ(reason_of(paused, kStart), "paused by annotation") << other;
  }
}

TEST(Explain, KeepsANameThatHoldsTheWordBy) {
  const LastCommand last{.command = "pause", .by = "oidc:a by b", .at = kStart};
  EXPECT_EQ(parse_last_command(to_annotation(last)), last);
}

TEST(Explain, KnowsWhatHoldsANodeWhateverItsPhase) {
  const auto holding = [](Phase phase, const std::string& rule) {
    return std::string(rule_waited_for(open("gpu-01", phase, rule, "")));
  };
  EXPECT_EQ(holding(Phase::kQuarantined, "budget.cordon"), "budget.cordon");
  EXPECT_EQ(holding(Phase::kQuarantined, "guard.stop"), "guard.stop");
  EXPECT_EQ(holding(Phase::kHeld, "exhausted"), "exhausted");
  EXPECT_EQ(holding(Phase::kQuarantined, "severities.reboot"), "");
  EXPECT_EQ(holding(Phase::kDraining, "step.drain"), "");
  EXPECT_EQ(holding(Phase::kCancelled, "guard.cancel"), "") << "it is closed";
}

TEST(Explain, TellsAgesAsKubectlDoes) {
  const auto age = [](std::chrono::seconds passed) { return age_text(kStart, kStart + passed); };
  EXPECT_EQ(age(std::chrono::seconds(34)), "34s");
  EXPECT_EQ(age(std::chrono::minutes(5)), "5m");
  EXPECT_EQ(age(std::chrono::hours(3)), "3h");
  EXPECT_EQ(age(std::chrono::hours(72)), "3d");
  EXPECT_EQ(age(std::chrono::seconds(-1)), "0s");
}

TEST(Explain, OffersOfACommandOnlyWhatWouldBeTaken) {
  Remediation paused = open("gpu-01", Phase::kPaused, "pause", "paused");
  paused.wish.pause = true;
  EXPECT_THAT(explain("gpu-01", {&paused, 1}, kStart), HasSubstr("gpuwardctl resume gpu-01"));
  EXPECT_THAT(explain("gpu-01", {&paused, 1}, kStart), Not(HasSubstr("gpuwardctl pause")));
  paused.wish.pause = false;  // an operator has changed the node
  EXPECT_THAT(explain("gpu-01", {&paused, 1}, kStart), Not(HasSubstr("gpuwardctl resume")));
  const Remediation over = open("gpu-01", Phase::kReleased, "", "");
  EXPECT_THAT(explain("gpu-01", {&over, 1}, kStart), Not(HasSubstr("gpuwardctl")));
}

// A machine that is gone without a replacement keeps its slot. Operators of waiting nodes must see
// that.
TEST(ExplainSlots, NameWhoHoldsWhatANodeWaitsForAndFirstWhatNeedsAnOperator) {
  const std::vector<Remediation> all = {
      open("gpu-01", Phase::kWaiting, "budget.pool", "1 of 1 allowed are being worked on"),
      open("gpu-02", Phase::kDraining, "step.drain", "3 pods left"),
      open("gpu-07", Phase::kHeld, "exhausted", "its machine is gone")};
  Ledger ledger;
  ledger.slots = {slot_of("gpu-01", Impact::kCordon, kStart),
                  slot_of("gpu-02", Impact::kDisrupt, kStart),
                  slot_of("gpu-07", Impact::kTerminate, kStart + std::chrono::hours(1)),
                  slot_of("gpu-09", Impact::kDisrupt, kStart + std::chrono::hours(2))};

  EXPECT_EQ(explain_slots("gpu-01", ledger, all),
            "Budget slots in use by 3 remediations, until each is closed:\n"
            "  gpu-07-ab-1, terminate since 2027-01-15T09:00:00Z, node gpu-07: Held, its machine "
            "is gone\n"
            "  gpu-09-ab-1, disrupt since 2027-01-15T10:00:00Z: that remediation has been deleted\n"
            "  gpu-02-ab-1, disrupt since 2027-01-15T08:00:00Z, node gpu-02: Draining, 3 pods "
            "left\n");
  EXPECT_THAT(explain_slots("gpu-02", ledger, all), IsEmpty()) << "it waits for no slot";
  EXPECT_THAT(explain_slots("gpu-01", fail(ErrorKind::kForbidden, "no"), all),
              HasSubstr("Cannot tell who holds the slots: no"));
}

TEST(ExplainSlots, AreNamedForANodeThatIsTaintedAndWaitsForItsCordon) {
  const std::vector<Remediation> all = {
      open("gpu-01", Phase::kQuarantined, "budget.cordon", "the cordon waits")};

  EXPECT_THAT(explain_slots("gpu-01", Ledger(), all), HasSubstr("in use by 0 remediations"));
}

TEST(ExplainSlots, NameTheFirstTenAndACount) {
  const std::vector<Remediation> all = {open("gpu-01", Phase::kWaiting, "budget.cordon", "full")};
  Ledger ledger;
  for (int i = 0; i < 12; ++i)
    ledger.slots.push_back(slot_of("a" + std::to_string(i), Impact::kCordon, kStart));

  EXPECT_THAT(explain_slots("gpu-01", ledger, all), HasSubstr("\n  and 2 more\n"));
}

}  // namespace
}  // namespace gpuward::remediator
