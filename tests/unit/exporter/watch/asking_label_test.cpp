// The labels of a Node with which a program requests its GPUs.
#include "exporter/watch/asking_label.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace gpuward::exporter {
namespace {

using ::testing::Optional;

constexpr const char* kOperand = "nvidia.com/gpu.deploy.dcgm-exporter";
constexpr const char* kState = "nvidia.com/gpu-driver-upgrade-state";

TEST(LabelAskingForGpus, IsOneThatIsPausedByAnotherThanTheRemediator) {
  for (const char* value :
       {"paused-for-driver-upgrade", "paused-for-mig-change", "custom_paused-for-driver-upgrade",
        "paused-for-gpuward-reset_paused-for-driver-upgrade",
        "paused-for-driver-upgrade_paused-for-gpuward-reset",
        "paused-for-gpuward-reset_paused-for-mig-change_paused-for-gpuward-reset"}) {
    EXPECT_THAT(label_asking_for_gpus({{kOperand, value}}),
                Optional(std::string(kOperand) + "=" + value));
  }
  for (const char* value :
       {"", "true", "false", "custom", "paused", "paused-for-gpuward-reset",
        "custom_paused-for-gpuward-reset", "paused-for-gpuward-reset_paused-for-gpuward-reset"}) {
    EXPECT_EQ(label_asking_for_gpus({{kOperand, value}}), std::nullopt) << value;
  }
}

TEST(LabelAskingForGpus, IsOfAnyOperandAndOfNothingElse) {
  EXPECT_THAT(label_asking_for_gpus({{"nvidia.com/gpu.deploy.dcgm-exporter", "false"},
                                     {"nvidia.com/gpu.deploy.mig-manager", "paused-for-x"},
                                     {"nvidia.com/gpu.present", "true"}}),
              Optional(std::string("nvidia.com/gpu.deploy.mig-manager=paused-for-x")));
  EXPECT_EQ(label_asking_for_gpus({{"example.com/gpu.deploy.dcgm", "paused-for-driver-upgrade"},
                                   {"nvidia.com/other", "paused-for-driver-upgrade"}}),
            std::nullopt);
}

TEST(LabelAskingForGpus, IsTheStateInWhichTheDriverIsReplacedAndNoOther) {
  EXPECT_THAT(label_asking_for_gpus({{kState, "pod-restart-required"}}),
              Optional(std::string(kState) + "=pod-restart-required"));
  for (const char* state : {"", "upgrade-required", "cordon-required", "wait-for-jobs-required",
                            "pod-deletion-required", "drain-required", "node-maintenance-required",
                            "post-maintenance-required", "validation-required", "uncordon-required",
                            "upgrade-done", "upgrade-failed"}) {
    EXPECT_EQ(label_asking_for_gpus({{kState, state}}), std::nullopt) << state;
  }
}

}  // namespace
}  // namespace gpuward::exporter
