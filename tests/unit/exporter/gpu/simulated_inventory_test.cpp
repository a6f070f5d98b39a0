#include "exporter/gpu/simulated_inventory.h"

#include <gtest/gtest.h>

#include "tests/support/temp_dir.h"

namespace gpuward::exporter {
namespace {

TEST(SimulatedInventory, ReadsTheGpusInTheOrderOfTheirIndexes) {
  const support::TempDir folder;
  const auto path = folder.write("gpus.yaml",
                                 "gpus:\n"
                                 "  - {index: 1, uuid: GPU-b, pci: \"0000:5e:00.0\", vendor: amd}\n"
                                 "  - {index: 0, uuid: GPU-a, pci: \"4E:00.0\", serial: \"165\", "
                                 "name: NVIDIA H200}\n");

  const auto gpus = SimulatedInventory(path).list();

  ASSERT_TRUE(gpus.has_value()) << gpus.error().message;
  ASSERT_EQ(gpus->size(), 2U);
  EXPECT_EQ(gpus->at(0).pci.bus_id(), "0000:4e:00");
  EXPECT_EQ(gpus->at(0).name, "NVIDIA H200");
  EXPECT_EQ(gpus->at(0).serial, "165");
  EXPECT_EQ(gpus->at(1).vendor, Vendor::kAmd);
}

struct Fault {
  const char* yaml;
  const char* says;
};

class SimulatedInventoryFault : public testing::TestWithParam<Fault> {};

TEST_P(SimulatedInventoryFault, IsSaidWithItsLine) {
  const support::TempDir folder;
  const auto path = folder.write("gpus.yaml", GetParam().yaml);

  const auto gpus = SimulatedInventory(path).list();

  ASSERT_FALSE(gpus.has_value());
  EXPECT_NE(gpus.error().message.find(GetParam().says), std::string::npos) << gpus.error().message;
}

INSTANTIATE_TEST_SUITE_P(
    Faults, SimulatedInventoryFault,
    testing::Values(
        Fault{"gpus:\n  - {index: 0}\n", "gpus.yaml:2"},
        Fault{"gpus:\n  - {pci: nonsense}\n", "gpus.yaml:2"},
        Fault{"gpus:\n  - {pci: \"0000:4e:00.0\"}\n  - {pci: \"4e:00.0\"}\n", "gpus.yaml:3"},
        Fault{"gpus:\n  - {pci: \"4e:00.0\", uuid: a}\n  - {pci: \"5e:00.0\", uuid: a}\n",
              "gpus.yaml:3"},
        Fault{"gpus:\n  - {pci: \"4e:00.0\", vendor: intel}\n", "nvidia"},
        Fault{"gpus:\n  - {pci: \"4e:00.0\", indx: 1}\n", "indx"}));

TEST(SimulatedInventory, IsAnErrorWhereTheFileIsMissing) {
  EXPECT_FALSE(SimulatedInventory("/nowhere/gpus.yaml").list().has_value());
}

}  // namespace
}  // namespace gpuward::exporter
