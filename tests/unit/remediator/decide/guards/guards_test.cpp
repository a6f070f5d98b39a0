#include <gmock/gmock.h>

#include "remediator/decide/guards/manual_change.h"
#include "remediator/decide/guards/other_repairers.h"
#include "remediator/model/health_report.h"
#include "remediator/model/node_mark.h"

namespace gpuward::remediator {
namespace {

using std::chrono::seconds;
using ::testing::HasSubstr;

const WallTime kNow = WallTime(std::chrono::hours(500'000));

kube::Node plain_node() {
  kube::Node node;
  node.meta.name = "gpu-01";
  node.meta.uid = "uid-1";
  node.boot_id = "boot-1";
  return node;
}

kube::Node quarantined_node(const std::string& remediation) {
  kube::Node node = plain_node();
  OwnerAnnotation mark;
  mark.name = remediation;
  mark.severity = Severity::kReboot;
  mark.taint = mark.cordon = true;
  node.meta.annotations[std::string(kAnnotation)] = to_annotation(mark);
  node.taints.push_back({std::string(kTaintKey), "reboot", std::string(kTaintEffect), ""});
  node.unschedulable = true;
  return node;
}

Remediation done_remediation() {
  Remediation remediation;
  remediation.name = "rem-1";
  for (const Step step : {Step::kTaint, Step::kCordon}) {
    StepRecord record;
    record.step = step;
    record.result = StepResult::kDone;
    remediation.status.steps.push_back(record);
  }
  return remediation;
}

TEST(OwnerAnnotation, SurvivesTheWayToTheNodeAndBack) {
  OwnerAnnotation mark;
  mark.name = "rem-1";
  mark.why = "severity reboot: \"x\"\n";
  mark.severity = Severity::kIsolate;
  mark.cordon = true;
  mark.pre_existing_cordon = true;
  mark.since = "2026-11-21T08:04:56Z";
  kube::Node node = plain_node();
  node.meta.annotations[std::string(kAnnotation)] = to_annotation(mark);

  const auto read = owner_annotation_on(node);

  ASSERT_TRUE(read);
  EXPECT_EQ(read->name, "rem-1");
  EXPECT_EQ(read->why, mark.why);
  EXPECT_EQ(read->severity, Severity::kIsolate);
  EXPECT_TRUE(read->cordon);
  EXPECT_FALSE(read->taint);
  EXPECT_TRUE(read->pre_existing_cordon);
  EXPECT_EQ(read->since, mark.since);
}

TEST(OwnerAnnotation, IsNotReadFromWhatSomebodyElseWrote) {
  for (const char* text :
       {"", "{", "[]", R"({"name":"rem-1"})", R"({"name":"rem-1","owner":"somebody"})",
        R"({"owner":"gpuward-remediator"})"}) {
    kube::Node node = plain_node();
    node.meta.annotations[std::string(kAnnotation)] = text;
    EXPECT_FALSE(owner_annotation_on(node)) << text;
  }
}

TEST(OwnerAnnotation, TakesOnlyTheTaintOfOurKeyAndEffectForOurs) {
  kube::Node node = plain_node();
  node.taints.push_back({std::string(kTaintKey), "x", "NoExecute", ""});
  EXPECT_FALSE(our_taint_on(node));
  node.taints.push_back({std::string(kTaintKey), "reset", "NoSchedule", ""});
  EXPECT_EQ(our_taint_on(node), "reset");
}

TEST(HumanOverride, SeesNothingIfAllStands) {
  EXPECT_FALSE(manual_change(done_remediation(), quarantined_node("rem-1")));
  EXPECT_FALSE(manual_change(Remediation{}, plain_node()));
}

TEST(HumanOverride, SeesARemovedTaint) {
  kube::Node node = quarantined_node("rem-1");
  node.taints.clear();
  EXPECT_THAT(manual_change(done_remediation(), node).value_or(""), HasSubstr("taint"));
}

TEST(HumanOverride, SeesAnUncordon) {
  kube::Node node = quarantined_node("rem-1");
  node.unschedulable = false;
  EXPECT_THAT(manual_change(done_remediation(), node).value_or(""), HasSubstr("uncordoned"));
}

TEST(HumanOverride, TrustsTheMarkIfACrashKeptTheResultFromBeingRecorded) {
  Remediation unrecorded;
  unrecorded.name = "rem-1";
  kube::Node node = quarantined_node("rem-1");
  node.taints.clear();
  EXPECT_TRUE(manual_change(unrecorded, node));
}

TEST(HumanOverride, DoesNotTakeOurOwnReturnForAHumans) {
  Remediation remediation = done_remediation();
  StepRecord back;
  back.step = Step::kReturn;
  remediation.status.steps.push_back(back);
  EXPECT_FALSE(manual_change(remediation, plain_node()));
}

HealthReport good_report() {
  return {.measured_at = kNow - seconds(10),
          .severity = Severity::kNone,
          .confirmed_severity = Severity::kNone,
          .boot_id = "boot-1",
          .sees_kernel_log = true};
}

const HealthDemand kDemand{.after = kNow - seconds(60), .max_age = seconds(30), .now = kNow};

TEST(HealthReport, IsEnoughIfItIsFreshOfThisBootAndGood) {
  EXPECT_FALSE(objection_to(good_report(), plain_node(), kDemand));
  HealthReport monitor = good_report();
  monitor.severity = Severity::kMonitor;
  EXPECT_FALSE(objection_to(monitor, plain_node(), kDemand));
}

TEST(HealthReport, IsNotEnoughIfItSaysNothingOfTheNodeNow) {
  HealthReport other_boot = good_report();
  other_boot.boot_id = "boot-0";
  HealthReport before_the_end = good_report();
  before_the_end.measured_at = kDemand.after;
  HealthReport future = good_report();
  future.measured_at = kNow + seconds(31);
  HealthReport bad = good_report();
  bad.severity = Severity::kReset;
  HealthReport blind = good_report();
  blind.sees_kernel_log = false;
  for (const HealthReport& report : {other_boot, before_the_end, future, bad, blind}) {
    EXPECT_TRUE(objection_to(report, plain_node(), kDemand));
  }
}

TEST(HealthReport, IsNotEnoughIfItIsTooOld) {
  HealthReport old = good_report();
  old.measured_at = kNow - seconds(31);
  EXPECT_THAT(objection_to(old, plain_node(), kDemand).value_or(""), HasSubstr("too old"));
}

// A GPU that is missing after the reboot has severity monitor until the node has settled.
TEST(HealthReport, IsNotEnoughWhileItIsTooSoonToJudge) {
  HealthReport young = good_report();
  young.severity = Severity::kMonitor;
  young.is_settled = false;
  EXPECT_THAT(objection_to(young, plain_node(), kDemand).value_or(""), HasSubstr("soon after"));
}

TEST(HealthReport, IsNotEnoughForANodeWithoutABoot) {
  kube::Node node = plain_node();
  node.boot_id.clear();
  HealthReport report = good_report();
  report.boot_id.clear();
  EXPECT_TRUE(objection_to(report, node, kDemand));
}

constexpr std::chrono::minutes kStartupGrace{10};

constexpr WallTime kAnyTime{std::chrono::hours(500'000)};

kube::Node old_node() {
  kube::Node node;
  node.meta.created = kAnyTime - std::chrono::hours(1);
  return node;
}

std::string repairer_of(const kube::Node& node) {
  return other_repairer(node, known_repairer_signs(), kAnyTime, kStartupGrace).value_or("");
}

kube::Node with_sign(const RepairerSign& sign, const std::string& value) {
  kube::Node node = old_node();
  if (sign.kind == SignKind::kOfTaint)
    node.taints = {{.key = sign.key, .value = value, .effect = "NoSchedule", .raw = {}}};
  if (sign.kind == SignKind::kOfAnnotation) node.meta.annotations[sign.key] = value;
  if (sign.kind == SignKind::kOfLabel) node.meta.labels[sign.key] = value;
  return node;
}

TEST(OtherRepairers, AreSeenByWhatTheyPutOnTheNode) {
  for (const RepairerSign& sign : known_repairer_signs()) {
    EXPECT_EQ(repairer_of(with_sign(sign, "at work")),
              sign.who + " (" + std::string(to_string(sign.kind)) + " " + sign.key + ")");
    for (const std::string& value : sign.at_rest)
      EXPECT_EQ(repairer_of(with_sign(sign, value)), "") << sign.key << "=" << value;
  }
  EXPECT_EQ(repairer_of(old_node()), "");
}

// The values that each program writes while it works, and those that it leaves behind.
TEST(OtherRepairers, AreKnownByTheirValues) {
  for (const auto& [key, value] : std::map<std::string, std::string>{
           {"nvidia.com/gpu-driver-upgrade-state", "drain-required"},
           {"nvidia.com/mig.config.state", "rebooting"},
           {"dgxc.nvidia.com/nvsentinel-state", "remediation-failed"},
           {"sagemaker.amazonaws.com/node-health-status", "UnschedulablePendingReboot"}}) {
    kube::Node node = old_node();
    node.meta.labels[key] = value;
    EXPECT_NE(repairer_of(node), "") << key;
  }
  kube::Node node = old_node();
  node.meta.annotations["machineconfiguration.openshift.io/state"] = "Working";
  EXPECT_THAT(repairer_of(node), HasSubstr("Machine Config Operator"));
  node.meta.annotations["machineconfiguration.openshift.io/state"] = "Done";
  node.meta.labels["nvidia.com/gpu-driver-upgrade-state"] = "upgrade-required";
  EXPECT_EQ(repairer_of(node), "") << "it waits, perhaps for weeks";
  node.meta.annotations["cluster.x-k8s.io/remediate-machine"] = "";
  EXPECT_THAT(repairer_of(node), HasSubstr("Cluster API"));
}

TEST(OtherRepairers, AreAtWorkOnANodeThatHasJustBeenMade) {
  const WallTime now = WallTime(std::chrono::hours(500'000));
  kube::Node node;
  node.meta.created = now - std::chrono::minutes(9);
  EXPECT_TRUE(other_repairer(node, known_repairer_signs(), now, kStartupGrace));
  EXPECT_FALSE(other_repairer(node, known_repairer_signs(), now, std::chrono::minutes(9)));
  node.meta.created = now - std::chrono::minutes(10);
  EXPECT_FALSE(other_repairer(node, known_repairer_signs(), now, kStartupGrace));
}

// CONTRACTS D's fault: a machine was ended because of an old log line.
TEST(HarmNeeds, MoreThanALatchForTheEndOfAMachine) {
  const WallTime now = WallTime(std::chrono::hours(500'000));
  HealthReport report{.measured_at = now,
                      .severity = Severity::kIsolate,
                      .confirmed_severity = Severity::kIsolate,
                      .boot_id = "boot-1",
                      .sees_kernel_log = true};
  const auto why = objection_to_the_end(report, Severity::kIsolate, now);
  ASSERT_TRUE(why);
  EXPECT_THAT(*why, ::testing::HasSubstr("latched"));

  report.observed_at = {{Severity::kReboot, now}};
  EXPECT_TRUE(objection_to_the_end(report, Severity::kIsolate, now));
  EXPECT_FALSE(objection_to_the_end(report, Severity::kReboot, now));
  report.observed_at = {{Severity::kIsolate, now - std::chrono::seconds(120)}};
  EXPECT_FALSE(objection_to_the_end(report, Severity::kIsolate, now));
  EXPECT_FALSE(objection_to_the_end(report, Severity::kReboot, now));
  report.observed_at = {{Severity::kIsolate, now - std::chrono::seconds(121)}};
  EXPECT_TRUE(objection_to_the_end(report, Severity::kIsolate, now));
  report.observed_at = {{Severity::kIsolate, now + std::chrono::seconds(121)}};
  EXPECT_TRUE(objection_to_the_end(report, Severity::kIsolate, now));

  report.diagnostics_severity = Severity::kReboot;
  EXPECT_TRUE(objection_to_the_end(report, Severity::kIsolate, now));
  report.diagnostics_severity = Severity::kIsolate;
  EXPECT_FALSE(objection_to_the_end(report, Severity::kIsolate, now));
}

TEST(HarmNeeds, AReportAsBadAsTheStepByMoreThanALineOfTheKernelLog) {
  const WallTime now = WallTime(std::chrono::hours(500'000));
  kube::Node node;
  node.boot_id = "boot-1";
  const HealthDemand demand{.after = {}, .max_age = std::chrono::minutes(2), .now = now};
  HealthReport report{.measured_at = now,
                      .severity = Severity::kReboot,
                      .confirmed_severity = Severity::kReboot,
                      .boot_id = "boot-1",
                      .sees_kernel_log = false};
  EXPECT_EQ(objection_to_disruption(report, node, Severity::kReboot, demand), std::nullopt);
  EXPECT_TRUE(objection_to_disruption(report, node, Severity::kIsolate, demand));
  report.confirmed_severity = Severity::kMonitor;
  EXPECT_THAT(*objection_to_disruption(report, node, Severity::kReboot, demand),
              ::testing::HasSubstr("only a line of the kernel log"));
  report.confirmed_severity = Severity::kReboot;
  report.boot_id = "boot-0";
  EXPECT_TRUE(objection_to_disruption(report, node, Severity::kReboot, demand));
  report.boot_id = "boot-1";
  report.measured_at = now - std::chrono::minutes(3);
  EXPECT_TRUE(objection_to_disruption(report, node, Severity::kReboot, demand));
  report.measured_at = now + std::chrono::minutes(3);
  EXPECT_TRUE(objection_to_disruption(report, node, Severity::kReboot, demand));
}

}  // namespace
}  // namespace gpuward::remediator
