#include "exporter/pods/device_id.h"

#include <gtest/gtest.h>

namespace gpuward::exporter {
namespace {

TEST(DeviceId, IsTheUuidOfAnNvidiaGpuOrMigInstance) {
  EXPECT_EQ(device_id_of_resource("nvidia.com/gpu", "GPU-6f1c"), "GPU-6f1c");
  EXPECT_EQ(device_id_of_resource("nvidia.com/mig-1g.10gb", "MIG-1b2c"), "MIG-1b2c");
}

TEST(DeviceId, IsTheGpuOfAReplicaOfATimeSlicedOne) {
  EXPECT_EQ(device_id_of_resource("nvidia.com/gpu.shared", "GPU-6f1c::3"), "GPU-6f1c");
}

TEST(DeviceId, IsTheDeviceNodeOfGkesPlugin) {
  EXPECT_EQ(device_id_of_resource("nvidia.com/gpu", "nvidia3"), "nvidia3");
  EXPECT_EQ(device_id_of_resource("nvidia.com/gpu", "nvidia3/gi2"), "nvidia3");
  EXPECT_EQ(device_id_of_resource("nvidia.com/gpu", "nvidia3/vgpu1"), "nvidia3");
  EXPECT_EQ(device_id_of_resource("nvidia.com/gpu", "nvidia3/gi2/vgpu1"), "nvidia3");
}

TEST(DeviceId, IsTheAddressOfAnAmdGpuInOneSpelling) {
  EXPECT_EQ(device_id_of_resource("amd.com/gpu", "0000:0C:00.0"), "0000:0c:00");
  EXPECT_EQ(device_id_of_resource("amd.com/cpx_nps4", "AMDGPU_XCP_12"), "amdgpu_xcp_12");
}

TEST(DeviceId, IsNoneForWhatIsNoGpu) {
  EXPECT_EQ(device_id_of_resource("vpc.amazonaws.com/efa", "rdmap86s0"), std::nullopt);
  EXPECT_EQ(device_id_of_resource("nvidia.com/gpu", ""), std::nullopt);
  EXPECT_EQ(device_id_of_claim("dra.net", "eth0"), std::nullopt);
}

// dra-driver-nvidia-gpu names a device by its minor number: gpu-3, gpu-3-mig-19-0-1.
TEST(DeviceId, IsTheMinorNumberOfAClaimOfNvidiasDriver) {
  EXPECT_EQ(device_id_of_claim("gpu.nvidia.com", "gpu-3"), "nvidia3");
  EXPECT_EQ(device_id_of_claim("gpu.nvidia.com", "gpu-3-mig-19-0-1"), "nvidia3");
  EXPECT_EQ(device_id_of_claim("gpu.nvidia.com", "gpu-3-mig-1g10gb-19-0"), "nvidia3");
  EXPECT_EQ(device_id_of_claim("gpu.nvidia.com", "gpu-vfio-0"), "gpu.nvidia.com/gpu-vfio-0");
}

TEST(DeviceId, KeepsAClaimOfAmdsDriverWhoseNameHoldsNoAddress) {
  EXPECT_EQ(device_id_of_claim("gpu.amd.com", "gpu-1-129"), "gpu.amd.com/gpu-1-129");
}

}  // namespace
}  // namespace gpuward::exporter
