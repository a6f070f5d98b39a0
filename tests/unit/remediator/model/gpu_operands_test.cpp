#include "remediator/model/gpu_operands.h"

#include <gmock/gmock.h>

#include "core/kube/gpu_operator_labels.h"

namespace gpuward::remediator {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

kube::Node labelled(const kube::Labels& labels) {
  kube::Node node;
  node.meta.labels = labels;
  return node;
}

TEST(GpuOperands, AreKnownByTheirLabels) {
  const kube::Node node =
      labelled({{"nvidia.com/gpu.deploy.device-plugin", "true"},
                {"nvidia.com/gpu.deploy.dcgm", "false"},
                {"nvidia.com/gpu.deploy.mig-manager", ""},
                {"nvidia.com/gpu.deploy.dcgm-exporter-dra", "true"},
                {"nvidia.com/gpu.deploy.dcgm-exporter", std::string(kube::kPausedForReset)}});
  EXPECT_THAT(running_operands(node, {"example.com/not-here"}),
              ElementsAre("device-plugin", "dcgm-exporter-dra"));
  EXPECT_THAT(paused_operands(node), ElementsAre("dcgm-exporter"));
  EXPECT_THAT(operands_to_pause(node, {"example.com/not-here"}),
              ElementsAre("dcgm-exporter", "device-plugin", "dcgm-exporter-dra"));
}

// Pods wait for the kubelet's DRA plug-in. The exporter may be a `client`. Policies choose pools by
// labels of gpu-feature-discovery. The others hold no GPU.
TEST(GpuOperands, OfOtherKindsAreLeftAlone) {
  for (const char* kind :
       {"dra-driver", "client", "driver", "container-toolkit", "operator-validator",
        "gpu-feature-discovery", "sandbox-device-plugin"}) {
    EXPECT_THAT(operands_to_pause(labelled({{operand_label(kind), "true"}}), {}), IsEmpty())
        << kind;
  }
}

TEST(GpuOperands, OfTheOwnerHaveALabelOfTheirOwn) {
  EXPECT_EQ(operand_label("example.com/telemetry"), "example.com/telemetry");
  EXPECT_EQ(objection_to_label("example.com/gpu-telemetry"), "");
  for (const char* wrong : {"telemetry", "example.com/", "/telemetry", "a/b/c", "example.com/a b",
                            "example.com/a,b", ""})
    EXPECT_THAT(objection_to_label(wrong), HasSubstr("must be a label")) << wrong;
  for (const char* wrong : {"nvidia.com/gpu.deploy.driver", "kubernetes.io/hostname",
                            "node.kubernetes.io/x", "topology.k8s.io/x", "gpuward.dev/managed"})
    EXPECT_NE(objection_to_label(wrong), "") << wrong;
}

TEST(GpuOperands, AreReadFromTheirText) {
  EXPECT_THAT(operands_in("dcgm-exporter, device-plugin"),
              ElementsAre("dcgm-exporter", "device-plugin"));
  EXPECT_THAT(operands_in("dcgm-exporter-dra"), ElementsAre("dcgm-exporter-dra"));
  EXPECT_THAT(operands_in(""), IsEmpty());
  EXPECT_THAT(operands_in("driver, x, kubernetes.io/hostname"), IsEmpty());
  EXPECT_THAT(operands_in("dcgm, example.com/telemetry"),
              ElementsAre("dcgm", "example.com/telemetry"));
  EXPECT_EQ(text_of({"dcgm", "device-plugin"}), "dcgm, device-plugin");
}

TEST(GpuOperands, ArePausedBesideNoOtherProgram) {
  const std::string key = "nvidia.com/gpu.deploy.device-plugin";
  for (const char* value : {"true", "false", "", "custom", "paused-for-gpuward-reset"})
    EXPECT_FALSE(objection_to_pause(labelled({{key, value}}))) << value;
  for (const char* value :
       {"paused-for-driver-upgrade", "paused-for-mig-change", "custom_paused-for-driver-upgrade",
        "paused-for-gpuward-reset_paused-for-driver-upgrade"}) {
    EXPECT_THAT(objection_to_pause(labelled({{key, value}})).value_or(""), HasSubstr(value));
  }
  // A paused operand counts even if gpuward does not pause this kind.
  EXPECT_TRUE(
      objection_to_pause(labelled({{operand_label("driver"), "paused-for-driver-upgrade"}})));
}

TEST(GpuOperands, HavePodsByTheirNodeSelector) {
  const auto pod = [](const char* name, const char* operand, const char* phase) {
    kube::Pod made;
    made.meta.ns = "gpu-operator";
    made.meta.name = name;
    made.phase = phase;
    made.node_selector = {{operand_label(operand), "true"}};
    return made;
  };
  const std::vector<kube::Pod> pods = {pod("plugin", "device-plugin", "Running"),
                                       pod("dcgm", "dcgm", "Running"),
                                       pod("pending", "device-plugin", "Pending"),
                                       pod("ended", "device-plugin", "Failed"), kube::Pod{}};
  EXPECT_THAT(pods_of_operands(pods, {"device-plugin"}),
              ElementsAre("gpu-operator/pending", "gpu-operator/plugin"));
  EXPECT_THAT(pods_of_operands(pods, {}), IsEmpty());
}

StepRecord record(Step step, StepResult result, int minute) {
  StepRecord made;
  made.step = step;
  made.result = result;
  made.intent_at = WallTime(std::chrono::minutes(minute));
  return made;
}

TEST(GpuOperands, AreNeededPausedWhileAResetIsUnderWay) {
  Remediation one;
  one.status.phase = Phase::kResetting;
  EXPECT_FALSE(needs_operands_paused(one));
  one.status.steps = {record(Step::kDrain, StepResult::kDone, 1),
                      record(Step::kGpuReset, StepResult::kIntended, 2)};
  EXPECT_TRUE(needs_operands_paused(one));
  one.status.steps[1].result = StepResult::kRunning;
  EXPECT_TRUE(needs_operands_paused(one));

  Remediation other = one;
  other.status.steps[1].result = StepResult::kDone;
  EXPECT_FALSE(needs_operands_paused(other));
  other = one;
  other.wish.cancel = true;
  EXPECT_FALSE(needs_operands_paused(other));
  other = one;
  other.wish.pause = true;
  EXPECT_FALSE(needs_operands_paused(other));
  for (const Phase phase : {Phase::kCancelled, Phase::kWaiting, Phase::kPaused, Phase::kHeld,
                            Phase::kQuarantined, Phase::kRebooting}) {
    other = one;
    other.status.phase = phase;
    EXPECT_FALSE(needs_operands_paused(other)) << to_string(phase) << ": it is not watched";
  }
}

}  // namespace
}  // namespace gpuward::remediator
