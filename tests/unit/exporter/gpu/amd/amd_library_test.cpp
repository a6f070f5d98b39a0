#include "exporter/gpu/amd/amd_library.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <chrono>
#include <filesystem>
#include <string>
#include <vector>

#include "tests/fakes/amd_smi/amd_tree.h"
#include "tests/support/require.h"
#include "tests/unit/exporter/gpu/amd/amd_nodes.h"

namespace gpuward::exporter {
namespace {

using fake_amd::AmdTree;

TEST(AmdLibrary, ReadsEightHealthyMi300X) {
  const AmdTree tree(amd_scenario("mi300x_healthy"));
  const VendorReading report = read_amd(tree.sys());
  EXPECT_EQ(report.vendor, Vendor::kAmd);
  EXPECT_EQ(report.state, LibraryState::kReady);
  EXPECT_EQ(report.library, "amdgpu sysfs");
  EXPECT_EQ(report.driver_version, "6.14.14");
  ASSERT_EQ(report.gpus.size(), 8U);
  const GpuReading& gpu = report.gpus[2];
  EXPECT_EQ(gpu.gpu.index, 2);
  EXPECT_EQ(gpu.gpu.pci.full(), "0000:46:00.0");
  EXPECT_EQ(gpu.gpu.uuid, "GPU-a1b2c3d4e5f60702");
  EXPECT_EQ(gpu.gpu.serial, "692000000000");
  EXPECT_EQ(gpu.gpu.name, "AMD Instinct MI300X OAM");
  EXPECT_EQ(gpu.vbios_version, "113-M3000100-102");
  EXPECT_EQ(gpu.compute_partition, "SPX");
  EXPECT_EQ(gpu.memory_partition, "NPS1");
  EXPECT_EQ(gpu.is_in_kfd, true);
  EXPECT_EQ(gpu.memory_total_bytes, 206141652992U);
  EXPECT_EQ(gpu.memory_free_bytes, 205067911168U);
  EXPECT_DOUBLE_EQ(*gpu.utilization_ratio, 0.37);
  EXPECT_EQ(gpu.pcie.generation_max, 5U);
  EXPECT_EQ(gpu.pcie.replays, 3U);
}

TEST(AmdLibrary, ReadsSensorsAndFirmwareOfAHealthyMi300X) {
  const AmdTree tree(amd_scenario("mi300x_healthy"));
  const VendorReading report = read_amd(tree.sys());
  ASSERT_EQ(report.gpus.size(), 8U);
  const GpuReading& gpu = report.gpus[0];
  EXPECT_EQ(gpu.thermals.gpu, std::nullopt);  // MI300X has no edge sensor
  EXPECT_EQ(gpu.thermals.hotspot, 52);
  EXPECT_EQ(gpu.thermals.memory, 44);
  EXPECT_EQ(gpu.thermals.shutdown_threshold, 105);
  EXPECT_EQ(gpu.power.usage_watts, 142);
  EXPECT_EQ(gpu.power.limit_watts, 750);
  EXPECT_EQ(gpu.power.energy_joules, 10000);
  EXPECT_EQ(gpu.sm_clock_mhz, 132);
  EXPECT_EQ(gpu.links.size(), 7U);
}

TEST(AmdLibrary, ReadsErrorsOfEachBlockOfAHealthyMi300X) {
  const AmdTree tree(amd_scenario("mi300x_healthy"));
  const VendorReading report = read_amd(tree.sys());
  ASSERT_EQ(report.gpus.size(), 8U);
  const GpuReading& gpu = report.gpus[0];
  EXPECT_EQ(gpu.ras.size(), 7U);
  EXPECT_EQ(gpu.ecc.uncorrected_volatile.total, 0U);
  EXPECT_EQ(gpu.ecc.corrected_volatile.total, 3U);
  EXPECT_EQ(gpu.bad_pages, 0U);
}

TEST(AmdLibrary, SeesUncorrectableErrorsAndGivenUpPages) {
  const AmdTree tree(amd_scenario("mi300x_uncorrectable"));
  const VendorReading report = read_amd(tree.sys());
  ASSERT_EQ(report.gpus.size(), 8U);
  EXPECT_EQ(report.gpus[2].ecc.uncorrected_volatile.total, 1U);
  EXPECT_EQ(report.gpus[2].ecc.uncorrected_volatile.dram, 1U);
  EXPECT_EQ(report.gpus[2].bad_pages, 3U);
  EXPECT_EQ(report.gpus[3].ecc.uncorrected_volatile.total, 0U);
}

TEST(AmdLibrary, LeavesOutWhatAHangingGpuDoesNotSay) {
  const AmdTree tree(amd_scenario("mi300x_ring_hang"));
  const VendorReading report = read_amd(tree.sys());
  ASSERT_EQ(report.gpus.size(), 8U);
  const GpuReading& gpu = report.gpus[1];
  EXPECT_EQ(gpu.ecc.uncorrected_volatile.total, std::nullopt);
  EXPECT_EQ(gpu.thermals.hotspot, std::nullopt);
  EXPECT_EQ(gpu.power.usage_watts, std::nullopt);
  EXPECT_EQ(gpu.is_in_kfd, false);
  EXPECT_EQ(gpu.gpu.uuid, "GPU-a1b2c3d4e5f60701");
}

// Trap: a value that is 0 or missing at the first look counted as "not supported" forever (MI350X
// had no power then).
TEST(AmdLibrary, LatchesNothingFromOneZeroSample) {
  const AmdTree tree(amd_scenario("mi300x_healthy"));
  tree.write(0, "hwmon/hwmon4/power1_input", "0");
  tree.remove(0, "ras/umc_err_count");
  const auto library = make_amd_library({.nvml = "", .amd_smi = "", .sys = tree.sys()});
  const auto no_progress = [](std::string_view) {};
  EXPECT_EQ(library->read(no_progress).gpus[0].power.usage_watts, 0);
  tree.write(0, "hwmon/hwmon4/power1_input", "142000000");
  tree.write(0, "ras/umc_err_count", "ue: 5\\nce: 0");
  const VendorReading report = library->read(no_progress);
  EXPECT_EQ(report.gpus[0].power.usage_watts, 142);
  EXPECT_EQ(report.gpus[0].ecc.uncorrected_volatile.total, 5U);
}

// Reads the whole tree, and returns the last read of the file; 1000 if nothing read it.
std::int64_t last_read(const AmdTree& tree, const std::string& file) {
  const auto path = std::filesystem::path(tree.sys()) / "bus/pci/devices/0000:05:00.0" / file;
  const timespec long_ago[2] = {{1000, 0}, {2000, 0}};
  EXPECT_EQ(::utimensat(AT_FDCWD, path.c_str(), long_ago, 0), 0);
  EXPECT_EQ(read_amd(tree.sys()).gpus.size(), 8U);
  struct stat about{};
  EXPECT_EQ(::stat(path.c_str(), &about), 0);
  return about.st_atim.tv_sec;
}

// Trap: reading pcie_bw blocks for a second on each GPU. Reading xgmi_error clears it, and if it is
// not supported, makes the kernel log an error.
TEST(AmdLibrary, NeverReadsFilesWhoseReadBlocksOrChangesSomething) {
  const AmdTree tree(amd_scenario("mi300x_healthy"));
  GPUWARD_REQUIRE(last_read(tree, "vbios_version") == 1000 ? "mounted with noatime" : "");
  for (const char* const file : {"pcie_bw", "xgmi_error"}) {
    tree.write(0, file, "0");
    EXPECT_EQ(last_read(tree, file), 1000) << file;
  }
}

TEST(AmdLibrary, SaysBeforeEachPartWhereAHangWouldBe) {
  const AmdTree tree(amd_scenario("mi300x_healthy"));
  const auto library = make_amd_library({.nvml = "", .amd_smi = "", .sys = tree.sys()});
  std::vector<std::string> said;
  EXPECT_EQ(library->read([&](std::string_view what) { said.emplace_back(what); }).gpus.size(), 8U);
  EXPECT_EQ(said.front(), "0000:05:00 identity");
  EXPECT_EQ(said.back(), "0000:e5:00 ras");
}

TEST(AmdLibrary, IsAbsentOnANodeWithoutAmd) {
  const support::TempDir empty;
  EXPECT_EQ(read_amd(empty.path().string()).state, LibraryState::kAbsent);
}

TEST(AmdLibrary, IsAbsentIfTheDriverIsNotLoaded) {
  const AmdTree tree(amd_scenario("mi300x_healthy"));
  tree.unload_driver();
  const VendorReading report = read_amd(tree.sys());
  EXPECT_EQ(report.state, LibraryState::kAbsent);
  EXPECT_TRUE(report.gpus.empty());
}

TEST(AmdLibrary, IsUnusableIfTheDriverHasNoneOfTheGpusOnTheBus) {
  const AmdTree tree(amd_scenario("mi300x_healthy"));
  const std::filesystem::path driver = tree.sys() + "/bus/pci/drivers/amdgpu";
  std::filesystem::remove_all(driver);
  std::filesystem::create_directory(driver);
  const VendorReading report = read_amd(tree.sys());
  EXPECT_EQ(report.state, LibraryState::kUnusable);
  EXPECT_NE(report.fault.find("none of the 8 AMD GPUs"), std::string::npos) << report.fault;
}

TEST(AmdLibrary, FindsTheGpusThroughDrmAndSkipsConnectors) {
  const AmdTree tree(amd_scenario("mi300x_healthy"));
  std::filesystem::remove_all(tree.sys() + "/bus");
  EXPECT_EQ(read_amd(tree.sys()).gpus.size(), 8U);
}

TEST(AmdLibrary, CountsNoVirtualFunctionOfAGpuThatIsHereToo) {
  const AmdTree tree(amd_scenario("mi300x_healthy"));
  std::filesystem::create_directory_symlink("../0000:05:00.0",
                                            tree.sys() + "/bus/pci/devices/0000:26:00.0/physfn");
  EXPECT_EQ(read_amd(tree.sys()).gpus.size(), 7U);
}

TEST(AmdLibrary, NamesABoardWithoutANameByItsDeviceNumber) {
  const AmdTree tree(amd_scenario("mi300x_healthy"));
  tree.remove(0, "product_name");
  tree.remove(1, "product_name");
  tree.write(1, "device", "0x7fff");
  const VendorReading report = read_amd(tree.sys());
  EXPECT_EQ(report.gpus[0].gpu.name, "AMD Instinct MI300X");
  EXPECT_EQ(report.gpus[1].gpu.name, "AMD GPU 0x7fff");
}

TEST(AmdLibrary, DoesNotSayThatKfdLacksAGpuIfItCannotTell) {
  const AmdTree tree(amd_scenario("mi300x_healthy"));
  tree.remove_kfd();
  EXPECT_EQ(read_amd(tree.sys()).gpus[0].is_in_kfd, std::nullopt);
}

TEST(AmdLibrary, HasNoEventsAndWaitsNoLongerThanAsked) {
  const auto library = make_amd_library({.nvml = "", .amd_smi = "", .sys = "/nowhere"});
  EXPECT_TRUE(library->wait_for_xids(std::chrono::milliseconds(1)).empty());
}

}  // namespace
}  // namespace gpuward::exporter
