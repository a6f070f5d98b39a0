// An exporter that restarts with another preset, and the names that it finds on its Node.
#include <gmock/gmock.h>

#include "core/runtime/json.h"
#include "exporter/publish/node/claim.h"
#include "exporter/publish/node/node_writer.h"
#include "tests/fakes/fake_clock.h"
#include "tests/fakes/fake_kube.h"
#include "tests/fakes/in_process_client.h"
#include "tests/fakes/kube_objects.h"
#include "tests/unit/exporter/publish/node/snapshots.h"

namespace gpuward::exporter {
namespace {

using ::testing::HasSubstr;

constexpr const char* kAwsPrefix = "gpu-healthcheck.aws-samples.io/";
constexpr const char* kFaulty = "trainy.konduktor.ai/faulty";

// No check could tell anything, and nothing is known to be broken.
Snapshot untold() {
  Snapshot snapshot = healthy();
  add_result(snapshot, "0-nvidia-smi", CheckStatus::kError);
  return snapshot;
}

class ChangeOfPreset : public ::testing::Test {
 protected:
  ChangeOfPreset() {
    kube_.create("/api/v1/nodes", fakes::ready_node("gpu-01"));
    annotate("gpuward.dev/remediation", "{}");
    annotate(std::string(kAwsPrefix) + "theirs", "x");
    set_label("gpuward.dev/managed", "true");
    set_label(std::string(kAwsPrefix) + "theirs", "x");
    add_taint("gpuward.dev/remediation", "reboot");
    add_taint(std::string(kAwsPrefix) + "theirs", "x");
  }
  void TearDown() override {
    EXPECT_EQ(annotation("gpuward.dev/remediation"), "{}");
    EXPECT_EQ(annotation(std::string(kAwsPrefix) + "theirs"), "x");
    EXPECT_EQ(label("gpuward.dev/managed"), "true");
    EXPECT_EQ(label(std::string(kAwsPrefix) + "theirs"), "x");
    EXPECT_TRUE(has_taint("gpuward.dev/remediation"));
    EXPECT_TRUE(has_taint(std::string(kAwsPrefix) + "theirs"));
  }

  // Starts an exporter without any memory.
  void write(const Snapshot& snapshot, NodeSettings settings) {
    kube::ApiOptions options;
    options.server = "http://fake";
    kube::Api api(options, client_, credentials_, clock_);
    NodeWriter writer(api, clock_, "gpu-01", "boot-gpu-01");
    const auto written =
        writer.write(wish_of(snapshot), keys_of(settings), std::chrono::minutes(5), {});
    EXPECT_TRUE(written) << written.error().message;
  }
  void write(const Snapshot& snapshot, NodePreset preset) {
    write(snapshot, NodeSettings{.preset = preset});
  }

  void annotate(const std::string& key, const std::string& value) {
    kube_.patch(kNode, {{"metadata", {{"annotations", {{key, value}}}}}});
  }
  void set_label(const std::string& key, const std::string& value) {
    kube_.patch(kNode, {{"metadata", {{"labels", {{key, value}}}}}});
  }
  void add_taint(const std::string& key, const std::string& value) {
    Json taints = member_at(member_at(node(), "spec"), "taints");
    if (!taints.is_array()) taints = Json::array();
    taints.push_back({{"key", key}, {"value", value}, {"effect", "NoSchedule"}});
    kube_.patch(kNode, {{"spec", {{"taints", taints}}}});
  }
  Json node() { return kube_.get(kNode); }
  std::string label(const std::string& key) { return fakes::label_of(node(), key); }
  std::string annotation(const std::string& key) { return fakes::annotation_of(node(), key); }
  bool has_taint(const std::string& key) { return fakes::has_taint(node(), key); }
  std::string preset() { return annotation(std::string(kPresetAnnotation)); }

  void expect_names(const NodeNames& names) {
    EXPECT_EQ(label(names(NodeName::kStatus)), "fail");
    EXPECT_EQ(label(names(NodeName::kSeverity)), "REBOOT");
    EXPECT_NE(label(names(NodeName::kLastCheck)), "");
    EXPECT_THAT(annotation(names(NodeName::kResults)), HasSubstr("REBOOT"));
    EXPECT_TRUE(has_taint(names(NodeName::kUnhealthy)));
  }
  void expect_no_names(const NodeNames& names) {
    for (const NodeNameEntry& entry : kNodeNames) {
      EXPECT_EQ(label(names(entry.name)), "") << entry.text;
      EXPECT_EQ(annotation(names(entry.name)), "") << entry.text;
      EXPECT_FALSE(has_taint(names(entry.name))) << entry.text;
    }
  }

  static constexpr const char* kNode = "/api/v1/nodes/gpu-01";
  class NoCredentials final : public kube::Credentials {
   public:
    Result<std::string> authorization() override { return std::string(); }
    void reject(const std::string&) override {}
  };
  fakes::FakeClock clock_{fakes::FakeClock::Mode::kAutoAdvance};
  fakes::FakeKube kube_{clock_};
  fakes::InProcessClient client_{kube_};
  NoCredentials credentials_;
};

TEST_F(ChangeOfPreset, TakesTheSuitesNamesOffAndPutsItsOwnOn) {
  write(broken(), NodePreset::kAwsSamples);
  expect_names(kAwsSamplesNames);
  expect_no_names(kGpuwardNames);

  write(broken(), NodePreset::kGpuward);
  expect_names(kGpuwardNames);
  expect_no_names(kAwsSamplesNames);
}

TEST_F(ChangeOfPreset, TakesItsOwnNamesOffAndPutsTheSuitesOn) {
  write(broken(), NodePreset::kGpuward);
  expect_names(kGpuwardNames);
  expect_no_names(kAwsSamplesNames);

  write(broken(), NodePreset::kAwsSamples);
  expect_names(kAwsSamplesNames);
  expect_no_names(kGpuwardNames);
  EXPECT_THAT(annotation("gpuward.dev/findings"), HasSubstr("79")) << "whatever the preset";
}

TEST_F(ChangeOfPreset, ToKonduktorTakesTheNamesOffAndLeavesKonduktorsAtTheWayBack) {
  for (const NodePreset before : {NodePreset::kAwsSamples, NodePreset::kGpuward}) {
    write(broken(), before);
    write(broken(), NodePreset::kKonduktor);
    expect_no_names(kAwsSamplesNames);
    expect_no_names(kGpuwardNames);
    EXPECT_EQ(annotation("gpuward.dev/findings"), "");
    EXPECT_EQ(preset(), "");
    EXPECT_TRUE(has_taint(kFaulty));
  }
  write(healthy(), NodePreset::kGpuward);
  EXPECT_TRUE(has_taint(kFaulty)) << "konduktor may have set it too";
}

// AMD's exporter may run beside the next preset.
TEST_F(ChangeOfPreset, ToAmdTakesTheNamesOffAndLeavesAmdsAtTheWayBack) {
  Snapshot snapshot = healthy(0);
  snapshot.gpus = {gpu_at(0, Vendor::kAmd)};
  report_gpus(snapshot);
  write(snapshot, NodePreset::kAwsSamples);
  add_finding(snapshot, "umc", Severity::kIsolate, "0000:10:00");
  write(snapshot, NodePreset::kAmd);
  expect_no_names(kAwsSamplesNames);
  EXPECT_EQ(label("metricsexporter.amd.com.gpu.0.state"), "unhealthy");
  write(healthy(), NodePreset::kGpuward);
  EXPECT_EQ(label("metricsexporter.amd.com.gpu.0.state"), "unhealthy");
}

// The suite itself may still run there.
TEST_F(ChangeOfPreset, LeavesTheSuitesNamesIfItHasNotWrittenThem) {
  set_label(kAwsSamplesNames(NodeName::kStatus), "fail");
  annotate(kAwsSamplesNames(NodeName::kResults), "{}");
  add_taint(kAwsSamplesNames(NodeName::kUnhealthy), "true");
  write(healthy(), NodePreset::kGpuward);
  write(healthy(), NodePreset::kKonduktor);
  EXPECT_EQ(label(kAwsSamplesNames(NodeName::kStatus)), "fail");
  EXPECT_EQ(annotation(kAwsSamplesNames(NodeName::kResults)), "{}");
  EXPECT_TRUE(has_taint(kAwsSamplesNames(NodeName::kUnhealthy)));
}

TEST_F(ChangeOfPreset, ToNoneWritesNothing) {
  write(broken(), NodePreset::kAwsSamples);
  const Json before = node();
  write(healthy(), NodePreset::kNone);
  EXPECT_EQ(node()["metadata"]["resourceVersion"], before["metadata"]["resourceVersion"]);
}

TEST_F(ChangeOfPreset, KeepsANodeTaintedOfWhichNoCheckCanTell) {
  write(broken(), NodePreset::kAwsSamples);
  write(untold(), NodePreset::kGpuward);
  EXPECT_TRUE(has_taint(kGpuwardNames(NodeName::kUnhealthy)));
  EXPECT_FALSE(has_taint(kAwsSamplesNames(NodeName::kUnhealthy)));
}

TEST_F(ChangeOfPreset, KeepsTheTaintOfBeforeUntilTheNodePassesIfItMaySetNone) {
  const NodeSettings no_taint{.preset = NodePreset::kGpuward, .writes_taint = false};
  write(broken(), NodePreset::kAwsSamples);
  for (const Snapshot& snapshot : {broken(), untold()}) {
    write(snapshot, no_taint);
    EXPECT_TRUE(has_taint(kAwsSamplesNames(NodeName::kUnhealthy)));
    EXPECT_EQ(label(kAwsSamplesNames(NodeName::kStatus)), "");
  }
  write(healthy(), no_taint);
  expect_no_names(kAwsSamplesNames);
  EXPECT_EQ(preset(), "gpuward");
}

// If no exporter has written names, a sweep uses gpuward's, also with konduktor's preset.
TEST_F(ChangeOfPreset, ClearsTheTaintOfASweepWhateverThePreset) {
  for (const NodePreset preset : {NodePreset::kAwsSamples, NodePreset::kKonduktor}) {
    add_taint(kGpuwardNames(NodeName::kUnhealthy), "true");
    write(untold(), preset);
    EXPECT_TRUE(has_taint(kGpuwardNames(NodeName::kUnhealthy)));
    write(healthy(), preset);
    EXPECT_FALSE(has_taint(kGpuwardNames(NodeName::kUnhealthy)));
  }
}

TEST_F(ChangeOfPreset, TakesAFailedDiagnosisAlong) {
  const std::string failed = R"({"timestamp":")" + to_rfc3339(clock_.wall()) +
                             R"(","status":"fail","severity":"ISOLATE","next":"x"})";
  write(healthy(), NodePreset::kAwsSamples);
  annotate(kAwsSamplesNames(NodeName::kQuarantineResult), failed);
  annotate(kAwsSamplesNames(NodeName::kLastSweep), "2026-01-01T11:00:00Z");
  write(healthy(), NodePreset::kGpuward);
  expect_no_names(kAwsSamplesNames);
  EXPECT_EQ(annotation(kGpuwardNames(NodeName::kQuarantineResult)), failed);
  EXPECT_EQ(annotation(kGpuwardNames(NodeName::kLastSweep)), "2026-01-01T11:00:00Z");
  EXPECT_EQ(label(kGpuwardNames(NodeName::kStatus)), "fail");
  EXPECT_TRUE(has_taint(kGpuwardNames(NodeName::kUnhealthy)));
}

TEST_F(ChangeOfPreset, KeepsTheNewerOfTwoDiagnoses) {
  const std::string newer =
      R"({"timestamp":"2026-01-01T13:00:00Z","status":"pass","severity":"PASS"})";
  write(healthy(), NodePreset::kAwsSamples);
  annotate(kAwsSamplesNames(NodeName::kSweepResult),
           R"({"timestamp":"2026-01-01T12:00:00Z","status":"fail","severity":"ISOLATE"})");
  annotate(kGpuwardNames(NodeName::kSweepResult), newer);
  write(healthy(), NodePreset::kGpuward);
  EXPECT_EQ(annotation(kGpuwardNames(NodeName::kSweepResult)), newer);
  EXPECT_EQ(annotation(kAwsSamplesNames(NodeName::kSweepResult)), "");
}

TEST_F(ChangeOfPreset, LeavesNoFindingsWhereTheyStoodBefore) {
  annotate(std::string(kAwsPrefix) + "findings", "[]");
  write(broken(), NodePreset::kAwsSamples);
  EXPECT_EQ(annotation(std::string(kAwsPrefix) + "findings"), "");
  EXPECT_THAT(annotation("gpuward.dev/findings"), HasSubstr("79"));
}

// The quarantine runs for hours, and gives the node back itself.
TEST_F(ChangeOfPreset, LeavesTheNodeToAQuarantineThatHasIt) {
  write(healthy(), NodePreset::kAwsSamples);
  const auto in_an_hour = clock_.wall() + std::chrono::hours(1);
  set_label(kAwsSamplesNames(NodeName::kMode), "quarantine");
  annotate(kAwsSamplesNames(NodeName::kQuarantineClaim), render_claim({"other", in_an_hour}));
  write(healthy(), NodePreset::kGpuward);
  EXPECT_EQ(label(kAwsSamplesNames(NodeName::kMode)), "quarantine");
  EXPECT_NE(annotation(kAwsSamplesNames(NodeName::kQuarantineClaim)), "");

  clock_.advance(std::chrono::hours(2));
  write(healthy(), NodePreset::kGpuward);
  expect_no_names(kAwsSamplesNames);
}

TEST_F(ChangeOfPreset, WritesNothingMoreOnceItIsDone) {
  write(broken(), NodePreset::kAwsSamples);
  write(broken(), NodePreset::kGpuward);
  kube_.clear_requests();
  write(broken(), NodePreset::kGpuward);
  EXPECT_TRUE(kube_.requests("PATCH", kNode).empty());
}

}  // namespace
}  // namespace gpuward::exporter
