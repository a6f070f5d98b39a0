#include "exporter/gpu/amd/sensors.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>

#include "tests/support/temp_dir.h"

namespace gpuward::exporter::amd {
namespace {

TEST(AmdSensors, TellsEdgeJunctionAndMemoryByTheirLabels) {
  const support::TempDir folder;
  std::filesystem::create_directories(folder / "hwmon/hwmon2");
  folder.write("hwmon/hwmon2/temp1_label", "mem\n");
  folder.write("hwmon/hwmon2/temp1_input", "44000\n");
  folder.write("hwmon/hwmon2/temp3_label", "edge\n");
  folder.write("hwmon/hwmon2/temp3_input", "-3500\n");
  GpuReading reading;
  read_hwmon(folder.path(), reading);
  EXPECT_EQ(reading.thermals.memory, 44);
  EXPECT_EQ(reading.thermals.gpu, -3.5);
  EXPECT_EQ(reading.thermals.hotspot, std::nullopt);
}

TEST(AmdSensors, PrefersAveragePowerAndTakesNoLimitOfZero) {
  const support::TempDir folder;
  std::filesystem::create_directories(folder / "hwmon/hwmon2");
  folder.write("hwmon/hwmon2/power1_input", "90000000\n");
  folder.write("hwmon/hwmon2/power1_average", "88000000\n");
  folder.write("hwmon/hwmon2/power1_cap", "0\n");
  GpuReading reading;
  read_hwmon(folder.path(), reading);
  EXPECT_EQ(reading.power.usage_watts, 88);
  EXPECT_EQ(reading.power.limit_watts, std::nullopt);
}

TEST(AmdSensors, TakesAnUnknownLinkForUnknown) {
  const support::TempDir folder;
  folder.write("current_link_speed", "Unknown\n");
  folder.write("current_link_width", "0\n");
  folder.write("max_link_width", "255\n");
  folder.write("max_link_speed", "16.0 GT/s PCIe\n");
  const Pcie pcie = read_pcie(folder.path());
  EXPECT_EQ(pcie.generation, std::nullopt);
  EXPECT_EQ(pcie.width, std::nullopt);
  EXPECT_EQ(pcie.width_max, std::nullopt);
  EXPECT_EQ(pcie.generation_max, 4U);
  EXPECT_EQ(pcie.replays, std::nullopt);
}

}  // namespace
}  // namespace gpuward::exporter::amd
