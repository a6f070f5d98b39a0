#include "exporter/publish/node/node_change.h"

#include <gmock/gmock.h>

#include "core/runtime/clock.h"
#include "core/runtime/json.h"
#include "core/xid/catalogue.h"
#include "exporter/publish/node/claim.h"
#include "exporter/publish/node/diagnosis.h"
#include "tests/unit/exporter/publish/node/snapshots.h"

namespace gpuward::exporter {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Key;
using ::testing::Pair;
using ::testing::UnorderedElementsAre;

constexpr std::chrono::minutes kHeartbeat{5};

NodeKeys preset(NodePreset preset) { return keys_of({.preset = preset}); }

kube::Node a_node() {
  kube::Node node;
  node.meta.name = "gpu-01";
  return node;
}

kube::NodeChange change(const NodeWish& wish, NodePreset which = NodePreset::kAwsSamples,
                        const kube::Node& seen = a_node()) {
  return change_of(wish, preset(which), seen, kNoon);
}

// CONTRACTS A: labels /status, /severity, /last-check.
TEST(NodeChange, WritesStatusSeverityAndLastCheck) {
  EXPECT_THAT(change(wish_of(broken())).set_labels,
              UnorderedElementsAre(
                  Pair("gpu-healthcheck.aws-samples.io/status", "fail"),
                  Pair("gpu-healthcheck.aws-samples.io/severity", "REBOOT"),
                  Pair("gpu-healthcheck.aws-samples.io/last-check", "2026-01-01T120000Z")));
}

TEST(NodeChange, TheHealthySeverityIsPass) {
  const auto labels = change(wish_of(healthy())).set_labels;
  EXPECT_EQ(labels.at("gpu-healthcheck.aws-samples.io/severity"), "PASS");
  EXPECT_EQ(labels.at("gpu-healthcheck.aws-samples.io/status"), "pass");
}

TEST(NodeChange, TaintsUnhealthyNoSchedule) {
  const auto taints = change(wish_of(broken())).set_taints;
  ASSERT_EQ(taints.size(), 1U);
  EXPECT_EQ(taints[0].key, "gpu-healthcheck.aws-samples.io/unhealthy");
  EXPECT_EQ(taints[0].value, "true");
  EXPECT_EQ(taints[0].effect, "NoSchedule");
}

TEST(NodeKeys, MaintenanceSweepIsNoSchedule) {
  EXPECT_EQ(maintenance_taint(kAwsSamplesNames).key, "gpu-healthcheck.aws-samples.io/maintenance");
  EXPECT_EQ(maintenance_taint(kAwsSamplesNames).value, "sweep");
  EXPECT_EQ(maintenance_taint(kAwsSamplesNames).effect, "NoSchedule");
}

TEST(NodeChange, AnnotatesTheResults) {
  Snapshot snapshot = broken();
  add_result(snapshot, "0-nvidia-smi", CheckStatus::kFail, Severity::kReboot);
  const auto annotations = change(wish_of(snapshot)).set_annotations;
  const auto json = parse_json(annotations.at("gpu-healthcheck.aws-samples.io/results"));
  ASSERT_TRUE(json);
  EXPECT_EQ((*json)["timestamp"], "2026-01-01T12:00:00Z");
  EXPECT_EQ((*json)["hostname"], "gpu-01");
  EXPECT_EQ((*json)["instance_type"], "p5.48xlarge");
  EXPECT_EQ((*json)["status"], "fail");
  EXPECT_EQ((*json)["severity"], "REBOOT");
  ASSERT_EQ((*json)["checks"].size(), 3U);
  const Json failed = {{"check", "0-nvidia-smi"}, {"status", "FAIL"}, {"severity", "REBOOT"}};
  const Json passed = {{"check", "2-efa-enumeration"}, {"status", "PASS"}, {"severity", ""}};
  EXPECT_EQ((*json)["checks"][0], failed);
  EXPECT_EQ((*json)["checks"][1], passed);
}

class NodeFindings : public testing::Test {
 protected:
  void add(const char* code, Severity severity, int second, std::string_view why = "bad",
           Evidence evidence = Evidence::kKernel) {
    Finding finding;
    finding.check = "xid";
    finding.code = code;
    finding.pci_bus_id = "0000:4e:00";
    finding.severity = severity;
    finding.evidence = evidence;
    finding.line = "NVRM: Xid (PCI:0000:4e:00): " + finding.code + ", odd";
    finding.why = why;
    finding.workload = "default/train-0";
    finding.first_seen = finding.last_seen = kNoon + std::chrono::seconds(second);
    snapshot_.state.findings[{"xid", code, "0000:4e:00", evidence}] = finding;
  }
  // Returns the findings as a reader of the Node sees them.
  std::vector<NodeFinding> said() {
    const auto annotations = change(wish_of(snapshot_)).set_annotations;
    kube::Node node;
    node.meta.annotations = {annotations.begin(), annotations.end()};
    return node_findings_of(node);
  }
  std::vector<std::string> codes() {
    std::vector<std::string> all;
    for (const NodeFinding& one : said()) all.push_back(one.code);
    return all;
  }

  Snapshot snapshot_ = healthy();
};

TEST_F(NodeFindings, SayWhatBrokeAndWhoUsedIt) {
  Gpu gpu;
  gpu.index = 3;
  gpu.pci = *parse_pci_address("0000:4e:00.0");
  gpu.serial = "1650523";
  snapshot_.gpus = {gpu};
  add("79", Severity::kReboot, 1);

  const auto found = said();

  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0],
            (NodeFinding{.check = "xid",
                         .code = "79",
                         .severity = "reboot",
                         .gpu = "3",
                         .pci_bus_id = "0000:4e:00",
                         .serial = "1650523",
                         .workload = "default/train-0",
                         .meaning = "The GPU no longer answers on PCI Express: it has fallen "
                                    "off the bus",
                         .line = "NVRM: Xid (PCI:0000:4e:00): 79, odd",
                         .first_seen = kNoon + std::chrono::seconds(1),
                         .last_seen = kNoon + std::chrono::seconds(1)}));
  EXPECT_EQ(summary_of(found[0]), "xid 79 on GPU 3 (0000:4e:00)");
}

TEST_F(NodeFindings, AreTheWorstAndTheNewestNumbersThatNoTableHas) {
  for (int code = 1; code <= 9; ++code)
    add(std::to_string(code).c_str(), code == 5 ? Severity::kReset : Severity::kMonitor, code);
  for (int code = 4711; code <= 4715; ++code)
    add(std::to_string(code).c_str(), Severity::kMonitor, code, xid::kUnknownCodeWhy);
  add("4716", Severity::kMonitor, 9999, xid::kUnknownCodeWhy, Evidence::kUserSpace);

  EXPECT_THAT(codes(), ElementsAre("5", "4716", "9", "8", "4715", "4714", "4713", "4712"));
  EXPECT_FALSE(said()[1].is_unknown) << "programs wrote it";
  EXPECT_TRUE(said()[4].is_unknown);
}

TEST_F(NodeFindings, AreTakenOffWithTheLast) {
  EXPECT_THAT(change(wish_of(healthy())).remove_annotations, Contains("gpuward.dev/findings"));
}

TEST_F(NodeFindings, AreFewAndShortWhateverIsWrittenThere) {
  kube::Node node;
  std::string& text = node.meta.annotations["gpuward.dev/findings"];
  NodeFinding finding;
  finding.check = "xid";
  finding.line = std::string(9000, 'x');
  text = node_findings_text(std::vector<NodeFinding>(9, finding));
  EXPECT_THAT(node_findings_of(node), testing::SizeIs(8));
  EXPECT_THAT(node_findings_of(node)[0].line, testing::SizeIs(500));
  text = R"([{"check": "xid", "firstSeen": "2026-01-01T12:00:00Z",)"
         R"( "lastSeen": "2026-01-01T12:00:00Z", "line": "\u001b[31mred"}])";
  EXPECT_EQ(node_findings_of(node).at(0).line, " [31mred") << "nothing for a terminal";
  for (const char* broken : {"", "{", "{}", "[1, {\"check\": 1}, {\"check\": \"x\"}]"}) {
    text = broken;
    EXPECT_THAT(node_findings_of(node), IsEmpty()) << broken;
  }
}

TEST(NodeChange, TheAnnotationIsBoundedWhateverTheChecksAreCalled) {
  NodeWish wish;
  wish.instance_type = std::string(5000, 'i');
  for (int i = 0; i < 400; ++i)
    wish.checks.push_back({std::string(5000, '"'), CheckStatus::kFail, Severity::kReset});
  EXPECT_LE(results_annotation(wish, std::string(5000, 'n')).size(), 8192U);
}

TEST(NodeChange, ClearsItsOwnTaintAndNoOther) {
  const auto made = change(wish_of(healthy()));
  std::vector<std::string> removed;
  for (const kube::Taint& taint : made.remove_taints) removed.push_back(taint.key);
  EXPECT_THAT(removed,
              ElementsAre("gpu-healthcheck.aws-samples.io/unhealthy", "gpuward.dev/unhealthy"));
}

TEST(NodeChange, IfNothingWasLookedAtNothingIsWritten) {
  const kube::NodeChange none = change(wish_of(log_read()));
  EXPECT_THAT(none.set_labels, IsEmpty());
  EXPECT_THAT(none.set_annotations, IsEmpty());
  EXPECT_THAT(none.set_taints, IsEmpty());
  EXPECT_THAT(none.remove_taints, IsEmpty());
}

TEST(NodeChange, NeverTouchesTheCordon) {
  EXPECT_EQ(change(wish_of(broken())).unschedulable, std::nullopt);
  EXPECT_EQ(change(wish_of(healthy())).unschedulable, std::nullopt);
}

TEST(NodeChange, TheSwitchesSwitch) {
  const NodeSettings none{.writes_labels = false,
                          .writes_taint = false,
                          .writes_annotation = false,
                          .writes_condition = false};
  const auto nothing = change_of(wish_of(broken()), keys_of(none), a_node(), kNoon);
  EXPECT_THAT(nothing.set_labels, IsEmpty());
  EXPECT_THAT(nothing.set_annotations, IsEmpty());
  EXPECT_THAT(nothing.set_taints, IsEmpty());
  EXPECT_FALSE(keys_of(none).has_condition);
}

TEST(NodeChange, ThePresetNoneWritesNothing) {
  const NodeKeys keys = preset(NodePreset::kNone);
  EXPECT_FALSE(keys.has_condition || keys.has_labels || keys.has_annotations ||
               keys.has_gpu_labels || keys.taint);
}

// CONTRACTS E: the taint of konduktor's controller.
TEST(NodeChange, ThePresetKonduktorTaintsFaulty) {
  const auto made = change(wish_of(broken()), NodePreset::kKonduktor);
  ASSERT_EQ(made.set_taints.size(), 1U);
  EXPECT_EQ(made.set_taints[0].key, "trainy.konduktor.ai/faulty");
  EXPECT_EQ(made.set_taints[0].value, "true");
  EXPECT_EQ(made.set_taints[0].effect, "NoSchedule");
  EXPECT_THAT(made.set_labels, IsEmpty());
}

Snapshot amd_node() {
  Snapshot snapshot = healthy(0);
  snapshot.gpus = {gpu_at(0, Vendor::kAmd), gpu_at(1, Vendor::kAmd)};
  report_gpus(snapshot);
  return snapshot;
}

// CONTRACTS C: metricsexporter.amd.com.gpu.<id>.state=unhealthy.
TEST(NodeChange, LabelsEachSickAmdGpuAndTakesTheLabelOffTheOthers) {
  Snapshot snapshot = amd_node();
  add_finding(snapshot, "umc", Severity::kIsolate, "0000:11:00");
  kube::Node seen = a_node();
  seen.meta.labels = {{"metricsexporter.amd.com.gpu.0.state", "unhealthy"},
                      {"metricsexporter.amd.com.nic.0.state", "unhealthy"},
                      {"foreign", "label"}};
  const auto made = change(wish_of(snapshot), NodePreset::kAmd, seen);
  EXPECT_THAT(made.set_labels,
              ElementsAre(Pair("metricsexporter.amd.com.gpu.1.state", "unhealthy")));
  EXPECT_THAT(made.remove_labels, ElementsAre("metricsexporter.amd.com.gpu.0.state"));
}

// The plug-in, which uses the health service, gives that GPU to workloads again.
TEST(NodeChange, AHealthyAmdGpuLosesItsLabelThoughAnotherCheckCouldNotTell) {
  Snapshot snapshot = amd_node();
  add_result(snapshot, "2-efa-enumeration", CheckStatus::kError);
  kube::Node seen = a_node();
  seen.meta.labels = {{"metricsexporter.amd.com.gpu.0.state", "unhealthy"}};
  EXPECT_THAT(change(wish_of(snapshot), NodePreset::kAmd, seen).remove_labels,
              ElementsAre("metricsexporter.amd.com.gpu.0.state"));
}

TEST(NodeChange, AnAmdGpuOfWhichNothingCanBeToldKeepsItsLabel) {
  Snapshot snapshot = amd_node();
  snapshot.telemetry = {};
  add_result(snapshot, "0-nvidia-smi", CheckStatus::kError);
  kube::Node seen = a_node();
  seen.meta.labels = {{"metricsexporter.amd.com.gpu.0.state", "unhealthy"}};
  EXPECT_THAT(change(wish_of(snapshot), NodePreset::kAmd, seen).remove_labels, IsEmpty());
}

// The GPUs were taken out, or an older version has written it in its first second.
TEST(NodeChange, OfANodeOfWhichEveryCheckWasSkippedTakesPassAndWarnAway) {
  Snapshot skipped = log_read();
  add_result(skipped, "gpu", CheckStatus::kSkip);
  const NodeWish wish = wish_of(skipped);
  for (const char* status : {"pass", "warn", "agent-stopped"}) {
    kube::Node seen = a_node();
    seen.meta.labels = {{"gpuward.dev/status", status}, {"gpuward.dev/severity", "MONITOR"}};
    const bool is_of_exporter = std::string_view(status) == "agent-stopped";
    EXPECT_EQ(change(wish, NodePreset::kGpuward, seen).remove_labels.empty(), !is_of_exporter)
        << "another may have written " << status;
    seen.meta.annotations = {{"gpuward.dev/preset", "gpuward"}};
    EXPECT_THAT(
        change(wish, NodePreset::kGpuward, seen).remove_labels,
        ElementsAre("gpuward.dev/status", "gpuward.dev/severity", "gpuward.dev/last-check"));
    EXPECT_THAT(change(wish, NodePreset::kGpuward, seen).remove_annotations,
                testing::Contains("gpuward.dev/findings"));
    EXPECT_THAT(change(wish_of(log_read()), NodePreset::kGpuward, seen).remove_labels, IsEmpty());
    seen.taints = {unhealthy_taint(kGpuwardNames)};
    EXPECT_THAT(change(wish, NodePreset::kGpuward, seen).remove_labels, IsEmpty());
  }
  kube::Node failed = a_node();
  failed.meta.labels = {{"gpuward.dev/status", "fail"}};
  failed.meta.annotations = {{"gpuward.dev/preset", "gpuward"}};
  EXPECT_THAT(change(wish, NodePreset::kGpuward, failed).remove_labels, IsEmpty());
}

kube::Node with_condition(const std::string& status, const NodeWish& wish, WallTime heartbeat) {
  kube::Node node = a_node();
  node.conditions = {{"GPUProblem", status, wish.reason, wish.message, heartbeat, heartbeat}};
  return node;
}

// CONTRACTS B: GPUProblem, GPUsAreUp, GPUsAreDown.
TEST(NodeCondition, IsWrittenIfItIsMissing) {
  const auto condition = condition_of(wish_of(broken()), a_node(), kNoon, kHeartbeat);
  ASSERT_TRUE(condition);
  EXPECT_EQ(condition->type, "GPUProblem");
  EXPECT_EQ(condition->status, "True");
  EXPECT_EQ(condition->reason, "GPUsAreDown");
}

TEST(NodeCondition, IsFalseIfAllIsUpAndUnknownIfThereIsNoGpuOrNobodyCanTell) {
  const auto status_of = [](const Snapshot& snapshot) {
    return condition_of(wish_of(snapshot), a_node(), kNoon, kHeartbeat).value();
  };
  EXPECT_EQ(status_of(healthy()).status, "False");
  EXPECT_EQ(status_of(healthy()).reason, "GPUsAreUp");
  EXPECT_EQ(status_of(healthy(0)).status, "Unknown");
  Snapshot untold = healthy();
  add_result(untold, "0-nvidia-smi", CheckStatus::kError);
  EXPECT_EQ(status_of(untold).status, "Unknown");
}

TEST(NodeCondition, IsLeftAloneWhileTheExporterStarts) {
  Snapshot starting = log_read();
  add_result(starting, "gpu", CheckStatus::kError);
  EXPECT_FALSE(condition_of(wish_of(starting), a_node(), kNoon, kHeartbeat));
}

TEST(NodeCondition, IsLeftAloneUntilItsHeartbeatIsDue) {
  const NodeWish wish = wish_of(healthy());
  const kube::Node seen = with_condition("False", wish, kNoon);
  EXPECT_FALSE(condition_of(wish, seen, kNoon + std::chrono::seconds(299), kHeartbeat));
  EXPECT_TRUE(condition_of(wish, seen, kNoon + std::chrono::seconds(300), kHeartbeat));
}

TEST(NodeCondition, UnknownNeverTakesThePlaceOfTrue) {
  const NodeWish before = wish_of(broken());
  const kube::Node seen = with_condition("True", before, kNoon);
  const NodeWish unknown = wish_of(log_read());
  EXPECT_FALSE(condition_of(unknown, seen, kNoon, kHeartbeat));
  const auto later = condition_of(unknown, seen, kNoon + std::chrono::hours(1), kHeartbeat);
  ASSERT_TRUE(later);
  EXPECT_EQ(later->status, "True");
  EXPECT_EQ(later->message, before.message);
}

// LESSONS 4: a condition that stayed after the GPU had recovered.
TEST(NodeCondition, ConditionDoesNotStickAfterRecovery) {
  const kube::Node seen = with_condition("True", wish_of(broken()), kNoon);
  const auto condition = condition_of(wish_of(healthy()), seen, kNoon, kHeartbeat);
  ASSERT_TRUE(condition);
  EXPECT_EQ(condition->status, "False");
  EXPECT_EQ(condition->reason, "GPUsAreUp");
}

constexpr WallTime kLater = kNoon + std::chrono::hours(2);

NodeWish diagnosed_wish(const NodeWish& wish, const kube::Node& node) {
  return with_diagnosis(wish, node, kLater);
}

std::string quarantine_of(const std::string& time, const std::string& status,
                          const std::string& severity) {
  return R"({"timestamp":")" + time + R"(","status":")" + status + R"(","severity":")" + severity +
         R"(","next":"x"})";
}

kube::Node diagnosed(const std::string& status, const std::string& severity) {
  kube::Node node = a_node();
  node.meta.annotations["gpu-healthcheck.aws-samples.io/sweep-result"] =
      R"({"timestamp":"2026-01-01T12:00:00Z","status":")" + status + R"(","severity":")" +
      severity + R"("})";
  return node;
}

// The replaced agent's quick checks removed the taint of a failed diagnostic within five minutes.
TEST(Diagnosis, AFailedSweepOutlivesTheAgentsOwnQuickChecks) {
  const NodeWish wish = diagnosed_wish(wish_of(healthy()), diagnosed("fail", "ISOLATE"));
  EXPECT_EQ(wish.status, NodeStatus::kFail);
  EXPECT_EQ(wish.severity, Severity::kIsolate);
  EXPECT_EQ(wish.taint, TaintWish::kSet);
  EXPECT_EQ(wish.condition, "True");
  EXPECT_EQ(wish.message, "ISOLATE: the sweep at 2026-01-01T12:00:00Z failed");
}

TEST(Diagnosis, ALaterDiagnosticThatPassedEndsIt) {
  Snapshot snapshot = healthy();
  add_result(snapshot, "1-dcgm-diag-l2", CheckStatus::kPass, Severity::kNone,
             kNoon + std::chrono::minutes(1));
  EXPECT_EQ(diagnosed_wish(wish_of(snapshot), diagnosed("fail", "ISOLATE")).taint,
            TaintWish::kClear);
  add_result(snapshot, "1-dcgm-diag-l2", CheckStatus::kPass, Severity::kNone,
             kNoon - std::chrono::minutes(1));
  EXPECT_EQ(diagnosed_wish(wish_of(snapshot), diagnosed("fail", "ISOLATE")).taint, TaintWish::kSet);
}

TEST(Diagnosis, TheNewerOfSweepAndQuarantineCounts) {
  kube::Node node = diagnosed("fail", "ISOLATE");
  std::string& quarantine =
      node.meta.annotations["gpu-healthcheck.aws-samples.io/quarantine-result"];
  quarantine =
      R"({"timestamp":"2026-01-01T13:00:00Z","status":"pass","severity":"PASS","next":"remove"})";
  EXPECT_EQ(diagnosed_wish(wish_of(healthy()), node).status, NodeStatus::kPass);
  quarantine =
      R"({"timestamp":"2026-01-01T11:00:00Z","status":"pass","severity":"PASS","next":"remove"})";
  EXPECT_EQ(diagnosed_wish(wish_of(healthy()), node).status, NodeStatus::kFail);
}

// The sweeper's token may write a sweep's result on any node.
TEST(Diagnosis, ASweepThatPassedEndsNoFailureOfAQuarantine) {
  kube::Node node = diagnosed("pass", "PASS");
  std::string& quarantine =
      node.meta.annotations["gpu-healthcheck.aws-samples.io/quarantine-result"];
  quarantine = quarantine_of("2026-01-01T11:00:00Z", "fail", "ISOLATE");
  const NodeWish wish = diagnosed_wish(wish_of(healthy()), node);
  EXPECT_EQ(wish.status, NodeStatus::kFail);
  EXPECT_EQ(wish.message, "ISOLATE: the quarantine at 2026-01-01T11:00:00Z failed");
  quarantine = quarantine_of("2026-01-01T13:00:00Z", "pass", "PASS");
  EXPECT_EQ(diagnosed_wish(wish_of(healthy()), node).status, NodeStatus::kPass);
}

TEST(Diagnosis, ALaterFailureOfASweepHidesNoWorseOneOfAQuarantine) {
  kube::Node node = diagnosed("fail", "MONITOR");
  node.meta.annotations["gpu-healthcheck.aws-samples.io/quarantine-result"] =
      quarantine_of("2026-01-01T11:00:00Z", "fail", "ISOLATE");
  EXPECT_EQ(diagnosed_wish(wish_of(healthy()), node).severity, Severity::kIsolate);
}

TEST(Diagnosis, OfTheFutureSaysNothing) {
  const kube::Node failed = diagnosed("fail", "ISOLATE");
  const auto at = [&](std::chrono::minutes before) {
    return with_diagnosis(wish_of(healthy()), failed, kNoon - before).status;
  };
  EXPECT_EQ(at(std::chrono::minutes(6)), NodeStatus::kPass);
  EXPECT_EQ(at(std::chrono::minutes(4)), NodeStatus::kFail) << "clocks differ";
  kube::Node passed = failed;
  passed.meta.annotations["gpu-healthcheck.aws-samples.io/quarantine-result"] =
      quarantine_of("2099-01-01T00:00:00Z", "pass", "PASS");
  EXPECT_EQ(diagnosed_wish(wish_of(healthy()), passed).status, NodeStatus::kFail);
}

// Otherwise the token of a sweeper could keep a node out of all sweeps until 2099.
TEST(Diagnosis, ASweepOfTheFutureHasNotHappened) {
  const auto name = NodeName::kLastSweep;
  kube::Node node;
  node.meta.annotations = {{std::string(kGpuwardNames(name)), "2099-01-01T00:00:00Z"},
                           {std::string(kAwsSamplesNames(name)), "2025-12-31T00:00:00Z"}};
  EXPECT_EQ(last_sweep(node, kNoon), parse_rfc3339("2025-12-31T00:00:00Z"));
  node.meta.annotations.erase(std::string(kAwsSamplesNames(name)));
  EXPECT_EQ(last_sweep(node, kNoon), WallTime{});
}

// The diagnostic could not test, or DCGM wanted triage.
TEST(Diagnosis, AWarningEndsNoFailure) {
  kube::Node node = diagnosed("fail", "ISOLATE");
  EXPECT_TRUE(has_failed_diagnosis(node));
  node.meta.annotations["gpu-healthcheck.aws-samples.io/quarantine-result"] =
      R"({"timestamp":"2026-01-01T13:00:00Z","status":"warn","severity":"MONITOR","next":"x"})";
  EXPECT_TRUE(has_failed_diagnosis(node));
  EXPECT_EQ(diagnosed_wish(wish_of(healthy()), node).status, NodeStatus::kFail);
}

// The warning of a quarantine would overwrite the pass that ended a failed sweep.
TEST(Diagnosis, OfAFailureThatAPassHasEndedIsStillOneThatAWarningMustNotTouch) {
  kube::Node node = diagnosed("fail", "ISOLATE");
  node.meta.annotations["gpu-healthcheck.aws-samples.io/quarantine-result"] =
      R"({"timestamp":"2026-01-01T13:00:00Z","status":"pass","severity":"PASS","next":"x"})";
  EXPECT_EQ(diagnosed_wish(wish_of(healthy()), node).status, NodeStatus::kPass);
  EXPECT_TRUE(has_failed_diagnosis(node));
}

// It stays on each node that the suite has quarantined, also after an operator has returned it.
TEST(Diagnosis, OfTheReplacedSuiteSaysNothing) {
  const std::string fields =
      R"("timestamp":"2026-01-01T12:00:00Z","node":"gpu-01","suite":"quarantine",)"
      R"("status":"fail","severity":"ISOLATE","recommendation":"replace")";
  kube::Node node = a_node();
  std::string& quarantine =
      node.meta.annotations["gpu-healthcheck.aws-samples.io/quarantine-result"];
  quarantine = "{" + fields + "}";
  EXPECT_TRUE(lasting_failures(node, kLater).empty());
  EXPECT_EQ(diagnosed_wish(wish_of(healthy()), node).status, NodeStatus::kPass);
  quarantine = "{" + fields + R"(,"next":"replace the node","checks":[]})";
  EXPECT_EQ(diagnosed_wish(wish_of(healthy()), node).status, NodeStatus::kFail);
}

TEST(Diagnosis, NeverMakesANodeBetterAndNothingOfAWarning) {
  EXPECT_EQ(diagnosed_wish(wish_of(broken()), diagnosed("pass", "PASS")).status, NodeStatus::kFail);
  EXPECT_EQ(diagnosed_wish(wish_of(healthy()), diagnosed("warn", "MONITOR")).status,
            NodeStatus::kPass);
  EXPECT_EQ(diagnosed_wish(wish_of(healthy()), diagnosed("fail", "MONITOR")).status,
            NodeStatus::kPass);
}

TEST(Diagnosis, AnAnnotationThatIsNoneSaysNothing) {
  for (const char* text :
       {"", "{", "[]", "null", R"({"status":"fail","severity":"ISOLATE"})",
        R"({"timestamp":"soon","status":"fail","severity":"ISOLATE"})",
        R"({"timestamp":"2026-01-01T12:00:00Z","status":"bad","severity":"ISOLATE"})",
        R"({"timestamp":"2026-01-01T12:00:00Z","status":"fail","severity":"DOOM"})"}) {
    EXPECT_FALSE(parse_diagnosis(text, "sweep")) << text;
  }
}

kube::Node claimed(WallTime expires, const NodeNames& names = kAwsSamplesNames) {
  kube::Node node = a_node();
  node.meta.annotations.emplace(names(NodeName::kMaintenanceClaim),
                                render_claim({"sweep 1", expires}));
  node.meta.annotations.emplace(names(NodeName::kQuarantineClaim),
                                render_claim({"quarantine 1", expires}));
  return node;
}

TEST(Claim, AnExpiredOneIsTakenAwayByTheNodesOwnAgentWhateverItsNames) {
  for (const NodeNames& names : kAllNodeNames) {
    const auto made =
        change_of(NodeWish(), preset(NodePreset::kAwsSamples), claimed(kNoon, names), kNoon);
    ASSERT_EQ(made.remove_taints.size(), 1U);
    EXPECT_EQ(made.remove_taints[0].key, names(NodeName::kMaintenance));
    EXPECT_THAT(made.remove_labels, ElementsAre(names(NodeName::kMode)));
    EXPECT_THAT(made.remove_annotations,
                ElementsAre(names(NodeName::kMaintenanceClaim), names(NodeName::kQuarantineClaim)));
  }
}

TEST(Claim, ALivingOneAndATaintWithoutOneStay) {
  const auto living = kNoon + std::chrono::seconds(1);
  EXPECT_THAT(change(NodeWish(), NodePreset::kAwsSamples, claimed(living)).remove_taints,
              IsEmpty());
  kube::Node by_hand = a_node();
  by_hand.taints = {maintenance_taint(kAwsSamplesNames)};
  by_hand.meta.labels.emplace(kAwsSamplesNames(NodeName::kMode), "quarantine");
  const auto made = change(NodeWish(), NodePreset::kAwsSamples, by_hand);
  EXPECT_THAT(made.remove_taints, IsEmpty());
  EXPECT_THAT(made.remove_labels, IsEmpty());
}

TEST(Claim, IsGivenBackByItsOwnerAndNobodyElse) {
  const auto living = kNoon + std::chrono::hours(1);
  kube::NodeChange made;
  release_claims(claimed(living), kNoon, "sweep 1", made);
  EXPECT_EQ(made.remove_taints.size(), 1U);
  EXPECT_THAT(made.remove_labels, IsEmpty());
}

}  // namespace
}  // namespace gpuward::exporter
