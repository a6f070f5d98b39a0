#include "remediator/model/gpu_vendor.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace gpuward::remediator {
namespace {

using ::testing::HasSubstr;

kube::Node node_with(std::vector<std::string> resources, kube::Labels labels = {}) {
  kube::Node node;
  node.resources = std::move(resources);
  node.meta.labels = std::move(labels);
  return node;
}

TEST(GpuVendor, IsReadFromTheResourcesOfTheDevicePlugin) {
  EXPECT_EQ(gpu_vendor(node_with({"cpu", "nvidia.com/gpu"})), Vendor::kNvidia);
  EXPECT_EQ(gpu_vendor(node_with({"nvidia.com/mig-1g.10gb"})), Vendor::kNvidia);
  EXPECT_EQ(gpu_vendor(node_with({"amd.com/gpu", "cpu"})), Vendor::kAmd);
  EXPECT_EQ(gpu_vendor(node_with({"amd.com/cpx_nps4"})), Vendor::kAmd);
}

// The plugin may be down, or DRA may assign the GPUs.
TEST(GpuVendor, IsReadFromTheLabelsIfNoResourceSaysIt) {
  EXPECT_EQ(gpu_vendor(node_with({"cpu"}, {{"nvidia.com/gpu.present", "true"}})), Vendor::kNvidia);
  EXPECT_EQ(gpu_vendor(node_with({}, {{"feature.node.kubernetes.io/amd-gpu", "true"}})),
            Vendor::kAmd);
  EXPECT_EQ(gpu_vendor(node_with({}, {{"beta.amd.com/gpu.device-id", "74a1"}})), Vendor::kAmd);
  EXPECT_EQ(
      gpu_vendor(node_with({}, {{"feature.node.kubernetes.io/pci-1200_1002.present", "true"}})),
      Vendor::kAmd);
  EXPECT_EQ(gpu_vendor(node_with({}, {{"feature.node.kubernetes.io/pci-10de.present", "true"}})),
            Vendor::kNvidia);
}

// Pods cannot get the graphics unit of a processor as a GPU.
TEST(GpuVendor, TakesTheResourcesWordBeforeTheBusses) {
  EXPECT_EQ(gpu_vendor(node_with({"nvidia.com/gpu"},
                                 {{"feature.node.kubernetes.io/pci-0300_1002.present", "true"}})),
            Vendor::kNvidia);
}

TEST(GpuVendor, TakesNoNetworkCardForAGpu) {
  EXPECT_EQ(gpu_vendor(node_with({"amd.com/gpu", "nvidia.com/hostdev"})), Vendor::kAmd);
  EXPECT_EQ(gpu_vendor(node_with({"amd.com/nic", "nvidia.com/gpu"})), Vendor::kNvidia);
}

TEST(GpuVendor, IsUnknownIfNothingSaysIt) {
  const auto none = gpu_vendor(node_with({"cpu"}, {{"nvidia.com/gpu.present", "false"}}));
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().kind, ErrorKind::kNotFound);
  EXPECT_THAT(none.error().message, HasSubstr("no resource or label"));
}

TEST(GpuVendor, IsUnknownIfThereAreTwoOrAnother) {
  for (const auto& resources :
       std::vector<std::vector<std::string>>{{"nvidia.com/gpu", "amd.com/gpu"},
                                             {"gpu.intel.com/i915"},
                                             {"gpu.intel.com/i915", "amd.com/gpu"}}) {
    const auto vendor = gpu_vendor(node_with(resources));
    ASSERT_FALSE(vendor);
    EXPECT_EQ(vendor.error().kind, ErrorKind::kInvalid);
  }
}

TEST(VendorOfTools, IsWhoseToolsAreNamed) {
  EXPECT_EQ(vendor_of_tools("/bin/sh -c nvidia-smi --gpu-reset"), Vendor::kNvidia);
  EXPECT_EQ(vendor_of_tools("amd-smi reset -G -g all"), Vendor::kAmd);
  EXPECT_EQ(vendor_of_tools("rocm-smi --gpureset -d 0"), Vendor::kAmd);
  EXPECT_EQ(vendor_of_tools("/opt/reset"), std::nullopt);
  EXPECT_EQ(vendor_of_tools("nvidia-smi -r || amd-smi reset -G"), std::nullopt);
}

}  // namespace
}  // namespace gpuward::remediator
