#include "exporter/gpu/amd/amd_smi.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <string>
#include <vector>

#include "core/runtime/clock.h"
#include "tests/fakes/amd_smi/amd_tree.h"
#include "tests/unit/exporter/gpu/amd/amd_nodes.h"

namespace gpuward::exporter::amd {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

// The library reads its scenario from the environment; `lines` follow those of the named one.
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
  const VendorReading report = read_amd(tree.sys(), fake_amd_smi());
  EXPECT_EQ(report.library_version, "26.0.2");
  ASSERT_EQ(report.gpus.size(), 2U);
  EXPECT_EQ(report.gpus[1].ecc.uncorrected_volatile.total, 2U);
  EXPECT_EQ(report.gpus[1].gpu.uuid, "5eff74a1-0000-1000-80c3-000000000001");
  EXPECT_EQ(report.gpus[0].ecc.uncorrected_volatile.total, 0U);
}

TEST_F(AmdSmiTest, IsNotEvenLoadedIfSysfsSaysAllAndNobodyWantsErrorRecords) {
  use("mi300x_healthy", "smi.fault.amdsmi_get_lib_version = crash\n");
  const fake_amd::AmdTree tree(path_);
  const auto library = make_amd_library(
      {.nvml = "", .amd_smi = fake_amd_smi(), .sys = tree.sys(), .reads_amd_cper = false});
  EXPECT_EQ(library->read([](std::string_view) {}).gpus.size(), 8U);
}

// Some versions of libamd_smi crash in this call.
TEST_F(AmdSmiTest, IsNotAskedForErrorRecordsIfNobodyWantsThem) {
  use("mi300x_no_ras_in_sysfs", "smi.fault.amdsmi_get_gpu_cper_entries = crash\n");
  const fake_amd::AmdTree tree(path_);
  const auto library = make_amd_library(
      {.nvml = "", .amd_smi = fake_amd_smi(), .sys = tree.sys(), .reads_amd_cper = false});
  const VendorReading report = library->read([](std::string_view) {});
  ASSERT_EQ(report.gpus.size(), 2U);
  EXPECT_EQ(report.gpus[1].ecc.uncorrected_volatile.total, 2U);
}

TEST_F(AmdSmiTest, GivesTheLatestErrorRecordOfAGpuThatSysfsSaysAllAbout) {
  use("mi300x_healthy",
      "smi.1.cper = corrected 2026-11-19T10:00:00 0:1; fatal "
      "2026-11-20T10:00:05 0:2\n");
  const fake_amd::AmdTree tree(path_);
  std::vector<std::string> said;
  const auto library = make_amd_library({.nvml = "", .amd_smi = fake_amd_smi(), .sys = tree.sys()});
  const VendorReading report = library->read([&](std::string_view at) { said.emplace_back(at); });
  ASSERT_EQ(report.gpus.size(), 8U);
  EXPECT_EQ(report.gpus[0].latest_cper, std::nullopt);
  ASSERT_TRUE(report.gpus[1].latest_cper);
  EXPECT_EQ(report.gpus[1].latest_cper->severity, CperSeverity::kFatal);
  EXPECT_EQ(report.gpus[1].latest_cper->id, "0:2");
  EXPECT_EQ(said.back(), "0000:e5:00 error records (--gpu.amd-cper)");
}

TEST_F(AmdSmiTest, LeavesTheReadingAsItIsIfItDoesNotWork) {
  use("mi300x_no_ras_in_sysfs", "smi.fault.amdsmi_init = 34\n");
  const fake_amd::AmdTree tree(path_);
  const VendorReading report = read_amd(tree.sys(), fake_amd_smi());
  EXPECT_EQ(report.state, LibraryState::kReady);
  ASSERT_EQ(report.gpus.size(), 2U);
  EXPECT_TRUE(report.gpus[0].ras.empty());
  EXPECT_EQ(report.gpus[0].ecc.uncorrected_volatile.total, std::nullopt);
}

// Returns the second GPU's latest record with these lines.
class AmdSmiRecords : public AmdSmiTest {
 protected:
  Maybe<CperRecord> latest(const std::string& lines, const std::string& name = fake_amd_smi()) {
    use("mi300x_no_ras_in_sysfs", lines);
    const auto library = AmdSmi::open(name);
    EXPECT_TRUE(library) << library.error().message;
    return library ? (*library)->latest_cper(kSecond) : std::nullopt;
  }
};

TEST_F(AmdSmiRecords, HaveAmdsNumbersOfWhatFailed) {
  const std::string fatal = "smi.1.cper = fatal 2026-11-20T10:11:12 0:1\nsmi.cper.afids = 24 30\n";
  EXPECT_THAT(latest(fatal)->afids, ElementsAre(24, 30));
  EXPECT_THAT(latest("smi.1.cper = fatal 2026-11-20T10:11:12 0:1\n")->afids, IsEmpty());
  EXPECT_THAT(latest(fatal + "smi.fault.amdsmi_get_afids_from_cper = 2\n")->afids, IsEmpty());
  std::string many = "smi.1.cper = fatal 2026-11-20T10:11:12 0:1\nsmi.cper.afids =";
  for (int i = 0; i < 40; ++i) many += " " + std::to_string(i);
  EXPECT_THAT(latest(many + "\n")->afids, SizeIs(16)) << "no more than there is room for";
}

// The driver keeps thousands, and each call fills the same memory again.
TEST_F(AmdSmiRecords, AreLookedIntoOnceAllAreRead) {
  const auto record = latest(
      "smi.cper.at_once = 1\nsmi.cper.afids = 24\nsmi.1.cper = fatal 2026-11-20T10:11:12 0:1; "
      "corrected 2026-11-19T10:11:12 0:2\n");
  ASSERT_TRUE(record);
  EXPECT_EQ(record->id, "0:1");
  EXPECT_THAT(record->afids, ElementsAre(24));
}

TEST_F(AmdSmiRecords, SayWhenAndHowTheErrorCameToNotice) {
  const auto record = latest("smi.1.cper = fatal 2026-11-20T10:11:12 0:1F345678\n");
  ASSERT_TRUE(record);
  EXPECT_EQ(record->severity, CperSeverity::kFatal);
  EXPECT_EQ(record->recorded_at, parse_rfc3339("2026-11-20T10:11:12Z"));
  EXPECT_EQ(record->id, "0:1F3456") << "eight bytes, and no 0 behind them";
  EXPECT_EQ(record->notify_type, "MCE");
}

TEST_F(AmdSmiRecords, AreJudgedByTheLatestWhateverTheirOrder) {
  const std::string fatal = "fatal 2026-11-20T10:00:00 0:1";
  EXPECT_EQ(latest("smi.1.cper = " + fatal + "; corrected 2026-11-20T10:00:01 0:2\n")->severity,
            CperSeverity::kCorrected);
  EXPECT_EQ(latest("smi.1.cper = corrected 2026-11-20T10:00:01 0:2; " + fatal + "\n")->severity,
            CperSeverity::kCorrected);
  EXPECT_EQ(latest("smi.1.cper = uncorrected 2026-11-20T09:59:59 0:0; " + fatal + "\n")->severity,
            CperSeverity::kFatal);
}

TEST_F(AmdSmiRecords, OfOneSecondTheFatalOneIsTheLatest) {
  for (const char* const both :
       {"fatal 2026-11-20T10:00:00 0:1; corrected 2026-11-20T10:00:00 0:2",
        "corrected 2026-11-20T10:00:00 0:2; fatal 2026-11-20T10:00:00 0:1"}) {
    EXPECT_EQ(latest(std::string("smi.1.cper = ") + both + "\n")->id, "0:1") << both;
  }
}

// AMD's exporter does the same, so that no fatal record is dropped silently.
TEST_F(AmdSmiRecords, WithoutATimeCountIfNoneHasOne) {
  const auto only = latest("smi.1.cper = corrected - 0:1; fatal - 0:2\n");
  ASSERT_TRUE(only);
  EXPECT_EQ(only->id, "0:2");
  EXPECT_EQ(only->recorded_at, std::nullopt);
  EXPECT_EQ(latest("smi.1.cper = corrected 2020-01-01T00:00:00 0:1; fatal - 0:2\n")->id, "0:1");
  EXPECT_EQ(latest("smi.1.cper = fatal 2026-02-30T00:00:00 0:1\n")->recorded_at, std::nullopt);
}

TEST_F(AmdSmiRecords, AreAskedForUntilThereAreNoMoreInEitherGeneration) {
  for (const char* const version : {"25 5 1", "26 0 2"}) {
    const auto record =
        latest(std::string("smi.version = ") + version +
               "\nsmi.cper.at_once = 2\nsmi.1.cper = corrected 2026-11-20T10:00:00 0:1; corrected "
               "2026-11-20T10:00:01 0:2; corrected 2026-11-20T10:00:02 0:3; fatal "
               "2026-11-20T10:00:03 0:4; corrected 2026-11-20T10:00:02 0:5\n");
    ASSERT_TRUE(record) << version;
    EXPECT_EQ(record->id, "0:4") << version;
  }
}

TEST_F(AmdSmiRecords, AreNoneInAnEmptyRing) { EXPECT_EQ(latest(""), std::nullopt); }

TEST_F(AmdSmiRecords, AreNoneIfTheLibraryCannotGiveThem) {
  const std::string one = "smi.1.cper = fatal 2026-11-20T10:00:00 0:1\n";
  for (const char* const status : {"2", "10", "15", "40"}) {
    EXPECT_EQ(latest(one + "smi.fault.amdsmi_get_gpu_cper_entries = " + status + "\n"),
              std::nullopt)
        << status;
  }
  EXPECT_EQ(latest(one, fake_amd_smi_without_cper()), std::nullopt);
}

// Libraries have crashed on lengths that no record can have, and on unknown severities.
TEST_F(AmdSmiRecords, ThatAreBrokenAreLeftOut) {
  for (const char* const length : {"0", "127", "4294967295"}) {
    const std::string broken = std::string("fatal 2026-11-20T11:00:00 0:2 ") + length;
    EXPECT_EQ(latest("smi.1.cper = " + broken + "\n"), std::nullopt) << length;
    const auto other = latest("smi.1.cper = corrected 2026-11-20T10:00:00 0:1; " + broken + "\n");
    ASSERT_TRUE(other) << length;
    EXPECT_EQ(other->id, "0:1") << length;
  }
  EXPECT_EQ(latest("smi.1.cper = strange 2026-11-20T11:00:00 0:2\n"), std::nullopt);
}

TEST_F(AmdSmiRecords, AreNotBelievedInNumberOrLength) {
  const std::string one = "smi.1.cper = fatal 2026-11-20T10:00:00 0:1\n";
  for (const char* const claim : {"smi.cper.count", "smi.cper.bytes"}) {
    const auto record = latest(one + claim + " = 18446744073709551615\n");
    ASSERT_TRUE(record) << claim;
    EXPECT_EQ(record->id, "0:1") << claim;
  }
  EXPECT_EQ(latest(one + "smi.cper.bytes = 327\n"), std::nullopt) << "one byte short";
}

TEST_F(AmdSmiRecords, OfALibraryThatNeverGetsFurtherEnd) {
  const auto record = latest(
      "smi.cper.at_once = 1\nsmi.cper.stuck = 1\nsmi.1.cper = fatal 2026-11-20T10:00:00 "
      "0:1; corrected 2026-11-20T11:00:00 0:2\n");
  ASSERT_TRUE(record);
  EXPECT_EQ(record->id, "0:1");
}

}  // namespace
}  // namespace gpuward::exporter::amd
