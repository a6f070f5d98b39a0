#include "remediator/cluster/remediation_json.h"

#include <gmock/gmock.h>

#include "core/kube/names.h"
#include "core/runtime/files.h"
#include "core/runtime/json.h"
#include "remediator/model/remediation_name.h"
#include "tests/places.inc"

namespace gpuward::remediator {
namespace {

using ::testing::HasSubstr;
using ::testing::SizeIs;

const WallTime kNow = WallTime(std::chrono::hours(500'000));

Remediation full() {
  Remediation remediation;
  remediation.name = "gpu-01-abc-1";
  remediation.resource_version = "7";
  remediation.node = "gpu-01";
  remediation.node_uid = "uid-1";
  remediation.boot_id = "boot-1";
  remediation.instance_id = "aws:///a/i-1";
  remediation.system_uuid = "4c4c4544-0042-3510-8054-b7c04f4a5731";
  remediation.severity = Severity::kReboot;
  remediation.alerts.push_back({"Bad", "ab", Severity::kReboot, kNow, kNow, std::nullopt});
  remediation.alerts.push_back(
      {"Worse", "cd", Severity::kReset, kNow + std::chrono::nanoseconds(987'654'321), kNow,
       kNow + std::chrono::nanoseconds(1'000'000'001), true, "XID_CRITICAL_79", true});
  remediation.dropped = {.severity = Severity::kReset, .at = kNow};
  remediation.status.cleared = {.severity = Severity::kReset,
                                .at = kNow + std::chrono::nanoseconds(1)};
  remediation.status.phase = Phase::kQuarantined;
  remediation.status.mode = Mode::kCordon;
  remediation.status.rule = "severities.reboot";
  remediation.status.message = "why";
  remediation.status.reasons = {"one", "two"};
  remediation.status.notices.push_back({.id = "n-1",
                                        .moment = Moment::kApproval,
                                        .sinks = {"a", "b"},
                                        .at = kNow,
                                        .severity = Severity::kReboot,
                                        .step = "reboot",
                                        .phase = "Waiting",
                                        .mode = "full",
                                        .message = "waits",
                                        .drill = true});
  remediation.status.steps.push_back({.step = Step::kCordon,
                                      .result = StepResult::kDone,
                                      .severity = Severity::kReboot,
                                      .intent_at = kNow,
                                      .finished_at = kNow + std::chrono::seconds(1),
                                      .attempts = 2,
                                      .message = "text",
                                      .facts = {{"bootIDBefore", "boot-1"}},
                                      .pool = "a100"});
  remediation.status.escalated_to = Severity::kIsolate;
  remediation.status.approval =
      ApprovalRecord{Step::kReboot, "0123456789", kNow, "alice", kNow + std::chrono::seconds(2)};
  remediation.status.notified_phase = Phase::kHeld;
  remediation.status.notified_severity = Severity::kReboot;
  remediation.status.is_notified_of_drill = true;
  remediation.status.is_unacted = true;
  remediation.status.history = {"drain done", "reboot failed"};
  remediation.status.pre_existing_cordon = true;
  remediation.status.confirmed_severity = Severity::kReset;
  remediation.status.error_class = "XID_CRITICAL_79";
  remediation.status.gpus = {"1650", "GPU-b"};
  remediation.status.findings.push_back({.check = "xid",
                                         .code = "4711",
                                         .severity = "reboot",
                                         .gpu = "3",
                                         .pci_bus_id = "0000:4e:00",
                                         .serial = "1650",
                                         .workload = "default/train-0",
                                         .meaning = "lost",
                                         .line = "NVRM: Xid",
                                         .first_seen = kNow,
                                         .last_seen = kNow + std::chrono::seconds(1),
                                         .is_unknown = true});
  remediation.status.closed_at = kNow;
  remediation.status.conditions = {{ConditionType::kHeld, {true, kNow}},
                                   {ConditionType::kClosed, {false, kNow}}};
  remediation.status.reached = {{Milestone::kAccepted, kNow}, {Milestone::kRecovered, kNow}};
  return remediation;
}

// A Remediation without any of the optional values.
Remediation bare() {
  Remediation remediation;
  remediation.name = "gpu-02-abc-1";
  remediation.node = "gpu-02";
  remediation.node_uid = "uid-2";
  remediation.alerts.push_back({"Bad", "ab", Severity::kMonitor, kNow, kNow, std::nullopt});
  remediation.status.steps.push_back({});
  remediation.status.approval = ApprovalRecord{Step::kDrain, "0", kNow, "", std::nullopt};
  remediation.status.notified_phase = Phase::kWaiting;
  remediation.status.pre_existing_cordon = false;
  return remediation;
}

// Other versions read it, and the API server checks it against their schema.
TEST(RemediationJson, IsWrittenToTheByteAsBefore) {
  std::string bodies;
  for (const Remediation& remediation : {full(), bare()}) {
    bodies += create_body(remediation) + "\n" + evidence_patch(remediation) + "\n" +
              status_write(remediation).body + "\n";
  }

  EXPECT_EQ(
      bodies,
      read_file(GPUWARD_SOURCE_DIR "/tests/testdata/invented/remediation/bodies.txt").value_or(""));
}

Remediation after_the_way_through_the_api_server(const Remediation& remediation) {
  Json object = *parse_json(create_body(remediation));
  object["status"] = (*parse_json(status_write(remediation).body))["status"];
  object["metadata"]["resourceVersion"] = "7";
  return *parse_remediation(dump_json(object));
}

TEST(RemediationJson, LosesNothingOnTheWayThroughTheApiServer) {
  const Remediation before = full();

  const Remediation after = after_the_way_through_the_api_server(before);

  EXPECT_EQ(after.name, before.name);
  EXPECT_EQ(after.node, before.node);
  EXPECT_EQ(after.node_uid, before.node_uid);
  EXPECT_EQ(after.boot_id, before.boot_id);
  EXPECT_EQ(after.instance_id, before.instance_id);
  EXPECT_EQ(after.severity, before.severity);
  EXPECT_EQ(after.alerts, before.alerts);
  EXPECT_EQ(after.status, before.status);
}

template <typename Enum, typename Parse>
void expect_words_up_to(Enum last, const Parse& parse) {
  for (int i = 0; i <= static_cast<int>(last); ++i) {
    const auto value = static_cast<Enum>(i);
    EXPECT_EQ(parse(to_string(value)), value);
  }
}

TEST(RemediationJson, ReadsBackEachWord) {
  expect_words_up_to(Step::kNotify, parse_step);
  expect_words_up_to(Moment::kNotify, parse_moment);
  expect_words_up_to(Phase::kCancelled, parse_phase);
}

TEST(RemediationJson, ReadsBackEachMilestoneAndCondition) {
  Remediation remediation = full();
  for (const Milestone milestone : kAllMilestones) remediation.status.reached[milestone] = kNow;
  for (const ConditionType type : kAllConditions) remediation.status.conditions[type].since = kNow;

  EXPECT_EQ(status_write(remediation).kept, remediation.status);
}

TEST(RemediationJson, GuardsEveryPatchByTheVersionThatWasRead) {
  for (const std::string& body : {evidence_patch(full()), status_write(full()).body}) {
    EXPECT_EQ((*parse_json(body))["metadata"]["resourceVersion"], "7");
  }
}

TEST(RemediationJson, IsReadWithoutAStatus) {
  const auto read = parse_remediation(create_body(full()));

  ASSERT_TRUE(read);
  EXPECT_EQ(read->status.phase, Phase::kPending);
  EXPECT_TRUE(read->open());
}

TEST(RemediationJson, SurvivesWhatAHumanHasBroken) {
  Json object = *parse_json(create_body(full()));
  object["spec"]["alerts"] = "none";
  object["spec"]["severity"] = 3;
  object["status"] = {{"phase", "Strange"}, {"steps", Json::array({1, {{"name", "dance"}}})}};

  const auto read = parse_remediation(dump_json(object));

  ASSERT_TRUE(read);
  EXPECT_EQ(read->severity, Severity::kNone);
  EXPECT_THAT(read->alerts, SizeIs(0));
  EXPECT_THAT(read->status.steps, SizeIs(0));
}

TEST(RemediationJson, IsNotReadIfItNamesNoNode) {
  Json object = *parse_json(create_body(full()));
  object["spec"].erase("nodeUID");

  EXPECT_FALSE(parse_remediation(dump_json(object)));
}

TEST(RemediationName, FollowsFromNodeUidAndCountAlone) {
  EXPECT_EQ(remediation_name("gpu-01", "u", 1), remediation_name("gpu-01", "u", 1));
  EXPECT_NE(remediation_name("gpu-01", "u", 1), remediation_name("gpu-01", "v", 1));
  EXPECT_EQ(count_in(remediation_name("gpu-01", "u", 12)), 12);
  EXPECT_EQ(count_in("by-hand"), 0);
}

TEST(RemediationName, IsValidForTheLongestNode) {
  std::string node(62, 'a');
  while (node.size() < 250) node += "." + std::string(62, 'b');
  node.resize(253, 'c');

  const std::string name = remediation_name(node, "u", 1'000'000);

  EXPECT_TRUE(kube::validate_node_name(name)) << name;
}

TEST(RemediationName, MakesALabelValueOfAnything) {
  EXPECT_EQ(to_label_value("gpu-01.example"), "gpu-01.example");
  for (const std::string& text :
       {std::string(64, 'a'), std::string("a b"), std::string(), std::string("-a")}) {
    const std::string value = to_label_value(text);
    EXPECT_LE(value.size(), 63U);
    EXPECT_EQ(value.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789-"), std::string::npos);
  }
}

}  // namespace
}  // namespace gpuward::remediator
