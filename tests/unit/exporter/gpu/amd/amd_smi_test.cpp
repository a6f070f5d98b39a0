#include "exporter/gpu/amd/amd_smi.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <string>

#include "tests/fakes/amd_smi/amd_tree.h"
#include "tests/unit/exporter/gpu/amd/amd_nodes.h"

namespace gpuward::exporter::amd {
namespace {

// The library reads its scenario from the environment; `lines` go behind the named one.
class AmdSmiTest : public ::testing::Test {
 protected:
  void use(const std::string& scenario, const std::string& lines = "") {
    const auto path =
        folder_.write("scenario.conf", "include = " + amd_scenario(scenario) + "\n" + lines);
    ::setenv("GPUWARD_FAKE_AMD_SMI", path.c_str(), 1);
    path_ = path.string();
  }
  void TearDown() override { ::unsetenv("GPUWARD_FAKE_AMD_SMI"); }

  support::TempDir folder_;
  std::string path_;
};

constexpr PciAddress kSecond{0, 0x26, 0, 0};

TEST_F(AmdSmiTest, CountsErrorsByBlock) {
  use("mi300x_no_ras_in_sysfs");
  const auto library = AmdSmi::open(fake_amd_smi());
  ASSERT_TRUE(library) << library.error().message;
  EXPECT_EQ((*library)->version(), "26.0.2");
  const auto blocks = (*library)->error_counts(kSecond);
  ASSERT_EQ(blocks.size(), 2U);
  EXPECT_EQ(blocks[0].block, "umc");
  EXPECT_EQ(blocks[0].corrected, 4U);
  EXPECT_EQ(blocks[0].uncorrected, 2U);
  EXPECT_EQ(blocks[0].deferred, 1U);
  EXPECT_EQ(blocks[1].block, "gfx");
  EXPECT_EQ((*library)->uuid(kSecond), "5eff74a1-0000-1000-80c3-000000000001");
}

TEST_F(AmdSmiTest, KnowsTheGenerationsWithAYearBeforeTheMajorVersion) {
  use("mi300x_no_ras_in_sysfs", "smi.version = 25 5 1\n");
  const auto library = AmdSmi::open(fake_amd_smi());
  ASSERT_TRUE(library) << library.error().message;
  EXPECT_EQ((*library)->version(), "25.5.1");
}

TEST_F(AmdSmiTest, AsksAGenerationThatItDoesNotKnowNothingButItsVersion) {
  for (const char* const version : {"24 7 1", "27 0 0"}) {
    use("mi300x_no_ras_in_sysfs",
        std::string("smi.version = ") + version + "\nsmi.fault.amdsmi_init = crash\n");
    const auto library = AmdSmi::open(fake_amd_smi());
    ASSERT_FALSE(library);
    EXPECT_EQ(library.error().kind, ErrorKind::kInvalid);
    EXPECT_NE(library.error().message.find("25 to 26"), std::string::npos);
  }
}

TEST_F(AmdSmiTest, TellsAMissingLibraryFromOneThatDoesNotWork) {
  EXPECT_EQ(AmdSmi::open("libamd_smi_of_nobody.so.26").error().kind, ErrorKind::kNotFound);
  const auto broken = folder_.write("libbroken.so", "no library");
  EXPECT_EQ(AmdSmi::open(broken.string()).error().kind, ErrorKind::kUnavailable);
  use("mi300x_healthy", "smi.fault.amdsmi_init = 34\n");
  const auto library = AmdSmi::open(fake_amd_smi());
  ASSERT_FALSE(library);
  EXPECT_EQ(library.error().kind, ErrorKind::kUnavailable);
  EXPECT_NE(library.error().message.find("Driver not loaded"), std::string::npos);
}

TEST_F(AmdSmiTest, FillsWhatSysfsLacks) {
  use("mi300x_no_ras_in_sysfs");
  const fake_amd::AmdTree tree(path_);
  const VendorReport report = read_amd(tree.sys(), fake_amd_smi());
  EXPECT_EQ(report.library_version, "26.0.2");
  ASSERT_EQ(report.gpus.size(), 2U);
  EXPECT_EQ(report.gpus[1].ecc.uncorrected_volatile.total, 2U);
  EXPECT_EQ(report.gpus[1].gpu.uuid, "5eff74a1-0000-1000-80c3-000000000001");
  EXPECT_EQ(report.gpus[0].ecc.uncorrected_volatile.total, 0U);
}

TEST_F(AmdSmiTest, IsNotEvenLoadedWhereSysfsSaysAll) {
  use("mi300x_healthy", "smi.fault.amdsmi_get_lib_version = crash\n");
  const fake_amd::AmdTree tree(path_);
  EXPECT_EQ(read_amd(tree.sys(), fake_amd_smi()).gpus.size(), 8U);
}

TEST_F(AmdSmiTest, LeavesTheReadingAsItIsWhereItDoesNotWork) {
  use("mi300x_no_ras_in_sysfs", "smi.fault.amdsmi_init = 34\n");
  const fake_amd::AmdTree tree(path_);
  const VendorReport report = read_amd(tree.sys(), fake_amd_smi());
  EXPECT_EQ(report.state, LibraryState::kReady);
  ASSERT_EQ(report.gpus.size(), 2U);
  EXPECT_TRUE(report.gpus[0].ras.empty());
  EXPECT_EQ(report.gpus[0].ecc.uncorrected_volatile.total, std::nullopt);
}

}  // namespace
}  // namespace gpuward::exporter::amd
