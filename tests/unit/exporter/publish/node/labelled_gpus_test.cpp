#include "exporter/publish/node/labelled_gpus.h"

#include <gtest/gtest.h>

namespace gpuward::exporter {
namespace {

// The labels of GPU feature discovery for an XE9680 (NVIDIA/k8s-device-plugin, issue 1501).
kube::Labels labels_of_gpu_feature_discovery() {
  return {{"nvidia.com/gpu.count", "8"},
          {"nvidia.com/gpu.machine", "PowerEdge-XE9680"},
          {"nvidia.com/gpu.product", "NVIDIA-H100-80GB-HBM3"},
          {"nvidia.com/gpu.replicas", "1"},
          {"nvidia.com/mig.capable", "true"},
          {"nvidia.com/mig.strategy", "single"}};
}

const GpuCounts kEightOfNvidia{{Vendor::kNvidia, 8}};

TEST(LabelledGpus, AreTheGpusOfGpuFeatureDiscovery) {
  EXPECT_EQ(gpus_by_labels(labels_of_gpu_feature_discovery()), kEightOfNvidia);
}

TEST(LabelledGpus, AreNotMultipliedByTimeSlicing) {
  kube::Labels labels = labels_of_gpu_feature_discovery();
  labels["nvidia.com/gpu.replicas"] = "4";
  labels["nvidia.com/gpu.product"] = "NVIDIA-H100-80GB-HBM3-SHARED";
  EXPECT_EQ(gpus_by_labels(labels), kEightOfNvidia);
}

TEST(LabelledGpus, AreTheGpusAndNotTheMigDevicesOfTheMixedStrategy) {
  kube::Labels labels = labels_of_gpu_feature_discovery();
  labels["nvidia.com/mig.strategy"] = "mixed";
  labels["nvidia.com/mig-1g.10gb.count"] = "56";
  EXPECT_EQ(gpus_by_labels(labels), kEightOfNvidia);
}

// The label then counts MIG devices, or nothing if the GPUs are not all partitioned alike.
TEST(LabelledGpus, SayOnlyThatThereIsOneIfTheStrategySingleCountsMigDevices) {
  const GpuCounts one{{Vendor::kNvidia, 1}};
  kube::Labels labels = labels_of_gpu_feature_discovery();
  labels["nvidia.com/gpu.count"] = "56";
  labels["nvidia.com/gpu.product"] = "NVIDIA-H100-80GB-HBM3-MIG-1g.10gb";
  EXPECT_EQ(gpus_by_labels(labels), one);
  labels["nvidia.com/gpu.count"] = "0";
  labels["nvidia.com/gpu.product"] = "NVIDIA-H100-80GB-HBM3-MIG-INVALID";
  EXPECT_EQ(gpus_by_labels(labels), one);
}

TEST(LabelledGpus, AreTheSumOfAmdsDeviceIds) {
  const kube::Labels labels{{"amd.com/gpu.device-id", "74a1"},
                            {"beta.amd.com/gpu.device-id", "74a1"},
                            {"beta.amd.com/gpu.device-id.74a1", "8"},
                            {"beta.amd.com/gpu.vram.192G", "64"}};
  EXPECT_EQ(gpus_by_labels(labels), (GpuCounts{{Vendor::kAmd, 8}}));
}

TEST(LabelledGpus, AreNoneIfNothingOrNonsenseIsSaid) {
  EXPECT_TRUE(gpus_by_labels({}).empty());
  for (const char* const value : {"", "-1", "eight", "8.0", "99999999999"}) {
    EXPECT_TRUE(gpus_by_labels({{"nvidia.com/gpu.count", value}}).empty()) << value;
  }
}

}  // namespace
}  // namespace gpuward::exporter
