// The reading of one library, written down and played by the fake, must be read back unchanged. So
// no field of a reading is lost on the way, and a captured machine is a fixture.
#include <gtest/gtest.h>

#include <sstream>
#include <string>

#include "tests/fakes/nvml/fake_nvml.h"
#include "tests/fakes/nvml/scenario_text.h"
#include "tests/unit/exporter/gpu/nvidia/fake_library.h"

namespace gpuward::exporter {
namespace {

using fake_nvml::FakeNvml;
using fake_nvml::to_scenario;

// Returns the first line that differs: the whole text has a thousand lines.
std::string difference(const std::string& first, const std::string& second) {
  std::istringstream left(first), right(second);
  std::string was, is;
  while (true) {
    const bool more = static_cast<bool>(std::getline(left, was));
    const bool more_again = static_cast<bool>(std::getline(right, is));
    if (!more && !more_again) return {};
    if (was != is || more != more_again) return was + " / " + is;
  }
}

class ScenarioRoundTrip : public ::testing::TestWithParam<const char*> {};

TEST_P(ScenarioRoundTrip, GivesTheSameReading) {
  FakeNvml fake(GetParam());
  const std::string first = to_scenario(read_once());
  fake.play_lines(first);

  const std::string second = to_scenario(read_once());

  EXPECT_GT(first.size(), 1000U);
  EXPECT_EQ(difference(first, second), "");
}

// "sentinels" is left out: parts of one answer are missing in it, which a driver's answer has
// whole.
INSTANTIATE_TEST_SUITE_P(Scenarios, ScenarioRoundTrip,
                         ::testing::Values("healthy_8x_h100", "double_bit_error", "mig", "no_ecc",
                                           "nvlink_5", "nvlink_down", "row_remap_failed",
                                           "thermal_slowdown"),
                         [](const auto& scenario) { return std::string(scenario.param); });

TEST(ScenarioText, HoldsWhatTheReadingHolds) {
  FakeNvml fake("healthy_8x_h100");
  fake.set("gpu.3.processes", "101:1000 102:0xFFFFFFFFFFFFFFFF");
  fake.set("gpu.3.temperature.margin", "-2");

  const std::string text = to_scenario(read_once());

  for (const char* line :
       {"count = 8\n", "driver_version = 550.54.15\n", "gpu.3.pci = 0000:4e:00.0\n",
        "gpu.3.power.usage = 71250\n", "gpu.3.temperature.margin = -2\n",
        "gpu.3.processes =  101:1000 102:0xFFFFFFFFFFFFFFFF \n",
        "gpu.3.nvlink.17.remote = 0000:07:00\n", "gpu.3.fabric.version = 3\n", "p2p.3.4.read = 0\n",
        "topology.3.4 = 50\n"}) {
    EXPECT_NE(text.find(line), std::string::npos) << line;
  }
}

}  // namespace
}  // namespace gpuward::exporter
