#include "exporter/gpu/scenario.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "tests/support/temp_dir.h"

namespace gpuward::exporter {
namespace {

TEST(Scenario, ReadsTheGpusInTheOrderOfTheirIndexes) {
  const support::TempDir folder;
  const auto path = folder.write("gpus.yaml",
                                 "gpus:\n"
                                 "  - {index: 1, uuid: GPU-b, pci: \"0000:5e:00.0\", vendor: amd}\n"
                                 "  - {index: 0, uuid: GPU-a, pci: \"4E:00.0\", serial: \"165\", "
                                 "name: NVIDIA H200}\n");

  const auto report = read_scenario(path);

  ASSERT_TRUE(report.has_value()) << report.error().message;
  ASSERT_EQ(report->vendors.size(), 2U) << "both vendors in one report";
  const Gpu& nvidia = report->vendors[0].gpus.at(0).gpu;
  EXPECT_EQ(nvidia.pci.bus_id(), "0000:4e:00");
  EXPECT_EQ(nvidia.name, "NVIDIA H200");
  EXPECT_EQ(nvidia.serial, "165");
  EXPECT_EQ(report->vendors[1].vendor, Vendor::kAmd);
  EXPECT_EQ(report->vendors[1].gpus.at(0).gpu.uuid, "GPU-b");
}

TEST(Scenario, ReadsWhatTheDriverWouldSayAndLeavesTheRestAbsent) {
  const support::TempDir folder;
  const auto path =
      folder.write("gpus.yaml",
                   "driver_version: \"575.57.08\"\n"
                   "gpus:\n"
                   "  - {pci: \"4e:00.0\", ecc_uncorrected_volatile: 3, row_remap_pending: true, "
                   "row_remap_failure: false, temperature: 91.5, links_inactive: 2, lost: true, "
                   "recovery_action: 1}\n"
                   "  - {pci: \"5e:00.0\"}\n");

  const auto report = read_scenario(path);

  ASSERT_TRUE(report.has_value()) << report.error().message;
  EXPECT_EQ(report->vendors[0].driver_version, "575.57.08");
  EXPECT_EQ(report->vendors[0].state, LibraryState::kReady);
  const GpuReading& sick = report->vendors[0].gpus[0];
  EXPECT_EQ(sick.ecc.uncorrected_volatile.total, 3U);
  EXPECT_EQ(sick.rows.pending, true);
  EXPECT_EQ(sick.rows.failure, false);
  EXPECT_EQ(sick.thermals.gpu, 91.5);
  EXPECT_EQ(sick.recovery_action, 1U);
  EXPECT_TRUE(sick.is_lost);
  ASSERT_EQ(sick.links.size(), 18U);
  EXPECT_EQ(std::ranges::count(sick.links, Maybe<bool>(false), &Link::active), 2);
  const GpuReading& well = report->vendors[0].gpus[1];
  EXPECT_FALSE(well.ecc.uncorrected_volatile.total.has_value());
  EXPECT_FALSE(well.thermals.gpu.has_value());
  EXPECT_TRUE(well.links.empty());
}

TEST(Scenario, HasNoVendorIfThereIsNoGpu) {
  const support::TempDir folder;

  const auto report = read_scenario(folder.write("gpus.yaml", "gpus: []\n"));

  ASSERT_TRUE(report.has_value());
  EXPECT_TRUE(report->vendors.empty());
}

struct Fault {
  const char* yaml;
  const char* says;
};

class ScenarioFault : public testing::TestWithParam<Fault> {};

TEST_P(ScenarioFault, IsSaidWithItsLine) {
  const support::TempDir folder;
  const auto path = folder.write("gpus.yaml", GetParam().yaml);

  const auto report = read_scenario(path);

  ASSERT_FALSE(report.has_value());
  EXPECT_NE(report.error().message.find(GetParam().says), std::string::npos)
      << report.error().message;
}

INSTANTIATE_TEST_SUITE_P(
    Faults, ScenarioFault,
    testing::Values(
        Fault{"gpus:\n  - {index: 0}\n", "gpus.yaml:2"},
        Fault{"gpus:\n  - {pci: nonsense}\n", "gpus.yaml:2"},
        Fault{"gpus:\n  - {pci: \"0000:4e:00.0\"}\n  - {pci: \"4e:00.0\"}\n", "gpus.yaml:3"},
        Fault{"gpus:\n  - {pci: \"4e:00.0\", uuid: a}\n  - {pci: \"5e:00.0\", uuid: a}\n",
              "gpus.yaml:3"},
        Fault{"gpus:\n  - {pci: \"4e:00.0\", vendor: intel}\n", "nvidia"},
        Fault{"gpus:\n  - {pci: \"4e:00.0\", links: 1, links_inactive: 2}\n", "links_inactive"},
        Fault{"gpus:\n  - {pci: \"4e:00.0\", ecc_uncorrected_volatile: -1}\n", "gpus.yaml:2"},
        Fault{"gpus:\n  - {pci: \"4e:00.0\", lost: perhaps}\n", "lost"},
        Fault{"gpus:\n  - {pci: \"4e:00.0\", indx: 1}\n", "indx"}));

TEST(Scenario, IsAnErrorIfTheFileIsMissing) {
  EXPECT_FALSE(read_scenario("/nowhere/gpus.yaml").has_value());
}

TEST(Scenario, LosesTheGpusThatAFileNames) {
  const support::TempDir folder;
  const auto lost = folder.path() / "lost";
  const auto path =
      folder.write("gpus.yaml", "lost_file: " + lost.string() +
                                    "\ngpus: [{pci: \"0000:4e:00.0\"}, {pci: \"0000:5e:00.0\"}]\n");
  EXPECT_FALSE(read_scenario(path)->vendors[0].gpus[1].is_lost) << "no such file yet";
  folder.write("lost", "0000:5e:00\n");
  const auto report = read_scenario(path);
  ASSERT_TRUE(report.has_value());
  EXPECT_FALSE(report->vendors[0].gpus[0].is_lost);
  EXPECT_TRUE(report->vendors[0].gpus[1].is_lost);
}

}  // namespace
}  // namespace gpuward::exporter
