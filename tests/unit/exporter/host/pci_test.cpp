#include "exporter/host/pci.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "tests/support/host_tree.h"
#include "tests/support/require.h"

namespace gpuward::exporter {
namespace {

using support::HostTree;
using ::testing::HasSubstr;

PciAddress at(const std::string& text) { return parse_pci_address(text).value(); }

std::int64_t count(const HostTree& node, bool (*wanted)(const PciDevice&)) {
  const auto devices = list_pci_devices(node.paths());
  return devices ? std::ranges::count_if(*devices, wanted) : -1;
}

TEST(PciDevices, AreCountedByKindWithoutAnyDriver) {
  HostTree node;
  node.with_nvidia_gpus(8).with_nvswitches(4).with_efa(32).with_amd_gpus(2);
  EXPECT_EQ(count(node, is_nvidia_gpu), 8);
  EXPECT_EQ(count(node, is_nvswitch), 4);
  EXPECT_EQ(count(node, is_amd_gpu), 2);
  EXPECT_EQ(count(node, [](const PciDevice& device) { return is_efa(device); }), 32);
}

TEST(PciDevices, ComeInOrderWithTheirDrivers) {
  HostTree node;
  node.with_pci("0001:01:00.0", {0x10de, 0x2330, 0x030200, ""});
  node.with_nvidia_gpus(1);
  const auto devices = list_pci_devices(node.paths());
  ASSERT_TRUE(devices) << devices.error().message;
  ASSERT_EQ(devices->size(), 3U);
  const PciDevice& gpu = (*devices)[1];
  EXPECT_EQ(gpu.address, at("0000:53:00.0"));
  EXPECT_EQ(gpu.driver, "nvidia");
  EXPECT_EQ(gpu.device, 0x2330U);
  EXPECT_EQ((*devices)[2].address.domain, 1U);
  EXPECT_EQ((*devices)[2].driver, "");
}

TEST(PciDevices, OfAVirtualFunctionAreNoGpuMore) {
  HostTree node;
  node.with_nvidia_gpus(1).with_amd_gpus(1);
  node.with_pci("0000:53:00.4", support::h100()).with_pci("0000:c1:02.0", support::mi300x());
  node.link(HostTree::pci_file("0000:53:00.4", "physfn"), "../0000:53:00.0");
  node.link(HostTree::pci_file("0000:c1:02.0", "physfn"), "../0000:c1:00.0");
  EXPECT_EQ(count(node, is_nvidia_gpu), 1);
  EXPECT_EQ(count(node, is_amd_gpu), 1);
}

TEST(PciDevices, OfTheSameVendorAreNotAllGpus) {
  const auto device = [](std::uint32_t vendor, std::uint32_t device_class) {
    PciDevice made;
    made.vendor = vendor;
    made.device_class = device_class;
    return made;
  };
  EXPECT_FALSE(is_nvidia_gpu(device(0x10de, 0x040300)));  // its audio function
  EXPECT_FALSE(is_nvidia_gpu(device(0x10de, 0x068000)));
  EXPECT_TRUE(is_nvidia_gpu(device(0x10de, 0x030000)));
  EXPECT_TRUE(is_amd_gpu(device(0x1002, 0x038000)));
  EXPECT_FALSE(is_amd_gpu(device(0x1002, 0x060400)));  // a bridge of the board
  EXPECT_TRUE(is_efa(0x1d0f, 0xefa3));
  EXPECT_FALSE(is_efa(0x1d0f, 0xec20));  // ENA
  EXPECT_FALSE(is_efa(0x10de, 0xefa3));
}

TEST(PciDevices, OfAmdAreAcceleratorsUnlessTheyCanDriveAScreen) {
  HostTree node;
  node.with_nvidia_gpus(1);
  node.with_pci("0000:01:00.0", {0x1002, 0x164e, 0x030000, "amdgpu"});
  EXPECT_FALSE(has_amd_accelerator(node.paths()));
  node.with_amd_gpus(1);
  EXPECT_TRUE(has_amd_accelerator(node.paths()));
  node.remove("sys/bus");
  EXPECT_FALSE(has_amd_accelerator(node.paths()));
}

// NVSwitches of NVLink 5 are not on the bus; a ConnectX device that manages them is.
TEST(NvswitchManager, IsAConnectxWhoseProductDataSaysSo) {
  HostTree node;
  node.with_nvidia_gpus(1).with_nvswitch_managers(1);
  const PciDevice manager{at("0000:d1:00.0"), 0x15b3, 0x1021, 0x020700, "mlx5_core", false};
  EXPECT_EQ(manages_nvswitches(node.paths(), manager), true);
  node.with_connectx(1);
  EXPECT_EQ(manages_nvswitches(node.paths(), manager), false) << "a network card";
  node.remove(HostTree::pci_file("0000:d1:00.0", "vpd"));
  EXPECT_EQ(manages_nvswitches(node.paths(), manager), false) << "a card without such data";
  node.write(HostTree::pci_file("0000:53:00.0", "vpd"), "SW_MNG");
  const PciDevice gpu{at("0000:53:00.0"), 0x10de, 0x2901, 0x030200, "nvidia", false};
  EXPECT_EQ(manages_nvswitches(node.paths(), gpu), false);
}

TEST(NvswitchManager, IsNotAskedIfItIsOfAVirtualMachine) {
  HostTree node;
  node.with_nvswitch_managers(1);
  for (const char* driver : {"vfio-pci", "mlx5_vfio_pci"}) {
    const PciDevice passed{at("0000:d1:00.0"), 0x15b3, 0x1021, 0x020700, driver, false};
    EXPECT_EQ(manages_nvswitches(node.paths(), passed), false) << driver;
  }
}

TEST(NvswitchManager, CannotBeToldIfItsProductDataCannotBeRead) {
  HostTree node;
  node.with_nvswitch_managers(1);
  node.remove(HostTree::pci_file("0000:d1:00.0", "vpd"));
  node.write(HostTree::pci_file("0000:d1:00.0", "vpd/in_the_way"), "");
  const PciDevice manager{at("0000:d1:00.0"), 0x15b3, 0x1021, 0x020700, "mlx5_core", false};
  EXPECT_EQ(manages_nvswitches(node.paths(), manager), std::nullopt);
}

// The count is then wrong for a reason that has nothing to do with the GPUs.
TEST(PciDevices, AreNoneAtAllIfThereIsNoBusAndThatIsSaid) {
  HostTree node;
  node.remove("sys/bus");
  const auto devices = list_pci_devices(node.paths());
  ASSERT_FALSE(devices);
  EXPECT_EQ(devices.error().kind, ErrorKind::kNotFound);
  EXPECT_THAT(devices.error().message, HasSubstr("bus/pci/devices"));
  node.write("sys/bus/pci/devices", "a file");
  EXPECT_EQ(list_pci_devices(node.paths()).error().kind, ErrorKind::kUnavailable);
}

TEST(PciDevices, ThatReadLikeNothingKnownArePassedOver) {
  HostTree node;
  node.with_nvidia_gpus(2);
  node.write(HostTree::pci_file("0000:53:00.0", "vendor"), "0xzz\n");
  node.write("sys/bus/pci/devices/not-an-address/vendor", "0x10de\n");
  EXPECT_EQ(count(node, is_nvidia_gpu), 1);
}

TEST(PciProbe, GivesTheLinkOfADeviceThatAnswers) {
  HostTree node;
  node.with_nvidia_gpus(1);
  node.write(HostTree::pci_file("0000:53:00.0", "current_link_speed"), "2.5 GT/s PCIe\n");
  node.write(HostTree::pci_file("0000:53:00.0", "current_link_width"), "8\n");
  const auto probe = probe_pci_device(node.paths(), at("00000000:53:00"));  // as NVML has it
  ASSERT_TRUE(probe) << probe.error().message;
  EXPECT_FALSE(probe->is_off_bus);
  EXPECT_EQ(probe->link, (PciLink{1, 5, 8, 16}));
}

TEST(PciProbe, TellsADeviceThatHasFallenOffTheBus) {
  HostTree node;
  node.with_nvidia_gpus(8).falls_off_the_bus("0000:64:00.0");
  const auto probe = probe_pci_device(node.paths(), at("0000:64:00.0"));
  ASSERT_TRUE(probe) << probe.error().message;
  EXPECT_TRUE(probe->is_off_bus);
  EXPECT_EQ(probe->link, PciLink{});
  EXPECT_EQ(count(node, is_nvidia_gpu), 8);  // the kernel still has it: only the driver lost it
}

TEST(PciProbe, TellsADeviceThatTheKernelHasDropped) {
  HostTree node;
  node.with_nvidia_gpus(8).loses_pci("0000:64:00.0");
  EXPECT_EQ(probe_pci_device(node.paths(), at("0000:64:00.0")).error().kind, ErrorKind::kNotFound);
  EXPECT_EQ(count(node, is_nvidia_gpu), 7);
}

TEST(PciProbe, NeverMakesALinkOfWhatIsNone) {
  HostTree node;
  node.with_nvidia_gpus(1);
  for (const char* const name : {"current_link_speed", "max_link_speed"})
    node.write(HostTree::pci_file("0000:53:00.0", name), "Unknown\n");
  node.write(HostTree::pci_file("0000:53:00.0", "current_link_width"), "0\n");
  node.write(HostTree::pci_file("0000:53:00.0", "max_link_width"), "63\n");
  EXPECT_EQ(probe_pci_device(node.paths(), at("0000:53:00.0"))->link, PciLink{});
}

TEST(PciProbe, CannotTellIfTheConfigurationIsCutShort) {
  HostTree node;
  node.with_nvidia_gpus(1).write(HostTree::pci_file("0000:53:00.0", "config"), "\xFF\xFF");
  EXPECT_EQ(probe_pci_device(node.paths(), at("0000:53:00.0")).error().kind,
            ErrorKind::kUnavailable);
}

TEST(PciProbe, ReadsThisMachineToo) {
  const HostPaths here;
  const auto devices = list_pci_devices(here);
  GPUWARD_REQUIRE(devices ? "" : devices.error().message);
  for (const PciDevice& device : *devices) {
    const auto probe = probe_pci_device(here, device.address);
    EXPECT_FALSE(probe && probe->is_off_bus) << device.address.full();
  }
}

}  // namespace
}  // namespace gpuward::exporter
