#include "exporter/commands/smi_comparison.h"

#include <gmock/gmock.h>

#include <algorithm>

namespace gpuward::exporter {
namespace {

using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::Field;
using ::testing::IsEmpty;
using ::testing::Pair;

constexpr std::string_view kHot = R"(gpuward_gpu_temperature_celsius{sensor="gpu"})";

GpuReading gpu(int index = 0) {
  GpuReading reading;
  reading.gpu.index = index;
  reading.gpu.pci.bus = static_cast<std::uint8_t>(0x40 + index);
  reading.gpu.uuid = "GPU-00000000-aaaa-bbbb-cccc-00000000123" + std::to_string(index);
  reading.gpu.serial = "165432101000" + std::to_string(index);
  reading.gpu.name = "NVIDIA H200";
  reading.thermals.gpu = 40;
  return reading;
}

VendorReading report_of(std::vector<GpuReading> gpus) {
  VendorReading report;
  report.state = LibraryState::kReady;
  report.gpus = std::move(gpus);
  return report;
}

// An nvidia-smi with these fields, and one GPU.
SmiReading smi(std::map<std::string, std::string, std::less<>> fields) {
  return {.fault = "", .gpus = {{"0000:40:00", std::move(fields)}}};
}

std::vector<ComparedValue> compare(const GpuReading& reading, const SmiReading& smi) {
  const VendorReading report = report_of({reading});
  return compare_with_smi(report, smi, report);
}

ComparedValue row(const std::vector<ComparedValue>& rows, std::string_view value) {
  const auto found = std::ranges::find(rows, value, &ComparedValue::value);
  if (found != rows.end()) return *found;
  ADD_FAILURE() << "no row " << value;
  return {};
}

bool has_row(const std::vector<ComparedValue>& rows, std::string_view value) {
  return std::ranges::find(rows, value, &ComparedValue::value) != rows.end();
}

TEST(SmiComparison, ANumberIsTheSameInItsOwnUnit) {
  GpuReading reading = gpu();
  reading.sm_clock_mhz = 1980;
  reading.memory_total_bytes = 85'520'809'984;

  const auto rows =
      compare(reading, smi({{"clocks.current.sm", "1980"}, {"memory.total", "81559"}}));

  const auto clock = row(rows, R"(gpuward_gpu_clock_hertz{clock="sm"})");
  EXPECT_EQ(clock.agreement, Agreement::kSame);
  EXPECT_EQ(clock.nvml, "1980000000");
  EXPECT_EQ(clock.smi, "1980");
  EXPECT_EQ(row(rows, "gpuward_gpu_memory_size_bytes").agreement, Agreement::kSame);
}

TEST(SmiComparison, AWordIsTheSameAsItsNumber) {
  GpuReading reading = gpu();
  reading.rows.pending = true;
  reading.slowdown.reasons = 0x40;
  reading.recovery_action = 1;

  const auto rows = compare(reading, smi({{"remapped_rows.pending", "Yes"},
                                          {"clocks_event_reasons.hw_thermal_slowdown", "Active"},
                                          {"clocks_event_reasons.hw_slowdown", "Active"},
                                          {"gpu_recovery_action", "Reset"}}));

  EXPECT_EQ(row(rows, "gpuward_gpu_remapped_rows_pending").agreement, Agreement::kSame);
  EXPECT_EQ(row(rows, R"(gpuward_gpu_slowdown{reason="hw_thermal"})").agreement, Agreement::kSame);
  EXPECT_EQ(row(rows, R"(gpuward_gpu_slowdown{reason="hw_slowdown"})").agreement,
            Agreement::kDiffers);
  EXPECT_EQ(row(rows, "gpuward_gpu_recovery_action").agreement, Agreement::kSame);
}

TEST(SmiComparison, AValueThatDoesNotMoveHasToBeEqual) {
  GpuReading reading = gpu();
  reading.rows.uncorrectable = 2;

  const auto rows = compare(reading, smi({{"remapped_rows.uncorrectable", "3"}}));

  const auto differing = row(rows, R"(gpuward_gpu_remapped_rows{error="uncorrected"})");
  EXPECT_EQ(differing.agreement, Agreement::kDiffers);
  EXPECT_EQ(differing.nvml, "2");
  EXPECT_EQ(differing.smi, "3");
}

TEST(SmiComparison, AValueThatMovesMayBeNearAndTheVerdictSaysHowNear) {
  EXPECT_EQ(row(compare(gpu(), smi({{"temperature.gpu", "40"}})), kHot).why, "");
  const auto near = row(compare(gpu(), smi({{"temperature.gpu", "44"}})), kHot);
  EXPECT_EQ(near.agreement, Agreement::kSame);
  EXPECT_EQ(near.why, "within 5");
  EXPECT_EQ(row(compare(gpu(), smi({{"temperature.gpu", "46"}})), kHot).agreement,
            Agreement::kDiffers);
}

TEST(SmiComparison, AValueBetweenTheReadingsOfNvmlIsTheSame) {
  GpuReading before = gpu(), after = gpu();
  before.ecc.corrected_volatile.total = 10;
  after.ecc.corrected_volatile.total = 20;
  const std::string value = R"(gpuward_gpu_ecc_errors_total{error="corrected",counter="volatile"})";
  const auto verdict = [&](const std::string& told) {
    const auto rows =
        compare_with_smi(report_of({before}), smi({{"ecc.errors.corrected.volatile.total", told}}),
                         report_of({after}));
    return row(rows, value).agreement;
  };

  EXPECT_EQ(verdict("15"), Agreement::kSame);
  EXPECT_EQ(verdict("9"), Agreement::kDiffers);
  EXPECT_EQ(verdict("21"), Agreement::kDiffers);
}

TEST(SmiComparison, AValueThatGpuwardMissesDiffers) {
  const auto missed =
      row(compare(gpu(), smi({{"pcie.link.width.current", "16"}})), "gpuward_gpu_pcie_link_width");

  EXPECT_EQ(missed.agreement, Agreement::kDiffers);
  EXPECT_EQ(missed.nvml, "-");
  EXPECT_EQ(missed.why, "gpuward has no value");
}

TEST(SmiComparison, SaysWhyAValueIsNotCompared) {
  GpuReading reading = gpu();
  reading.recovery_action = 7;
  reading.utilization_ratio = 0.5;
  reading.pcie.replays = 3;
  reading.thermals.memory = 48;

  const auto rows = compare(
      reading, smi({{"temperature.gpu", "[N/A]"}, {"gpu_recovery_action", "Something New"}}));

  const auto why = [&](std::string_view value) {
    const auto found = row(rows, value);
    EXPECT_EQ(found.agreement, Agreement::kNotCompared) << value;
    return found.why;
  };
  EXPECT_EQ(why(kHot), "nvidia-smi has no value");
  EXPECT_EQ(why("gpuward_gpu_recovery_action"), "gpuward cannot parse this value from nvidia-smi");
  EXPECT_EQ(why("gpuward_gpu_utilization_ratio"), "each reading is a new sample");
  EXPECT_EQ(why("gpuward_gpu_pcie_replays_total"), "nvidia-smi has no such field");
  EXPECT_EQ(why(R"(gpuward_gpu_temperature_celsius{sensor="memory"})"),
            "this nvidia-smi has no field temperature.memory");
  EXPECT_FALSE(has_row(rows, "gpuward_gpu_persistence_mode")) << "neither has it";
}

TEST(SmiComparison, SerialNumbersAndUuidsAreComparedWholeAndHidden) {
  const auto rows = compare(gpu(), smi({{"serial", "9954321010000"}, {"uuid", gpu().gpu.uuid}}));

  const auto serial = row(rows, "serial");
  EXPECT_EQ(serial.agreement, Agreement::kDiffers);
  EXPECT_EQ(serial.nvml, "...0000");
  EXPECT_EQ(serial.smi, "...0000");
  EXPECT_EQ(row(rows, "uuid").agreement, Agreement::kSame);
  EXPECT_EQ(row(rows, "uuid").nvml, "...1230");
  EXPECT_FALSE(has_row(rows, "vbios_version")) << "neither has it";
}

TEST(SmiComparison, AGpuThatOneOfThemLacksDiffers) {
  SmiReading other;
  other.gpus["0000:99:00"]["name"] = "NVIDIA H200";

  const auto rows = compare(gpu(), other);

  ASSERT_EQ(rows.front().value, "pci_bus_id");
  EXPECT_EQ(rows.front().agreement, Agreement::kDiffers);
  EXPECT_EQ(rows.back().gpu, "-");
  EXPECT_EQ(rows.back().smi, "0000:99:00");
  EXPECT_EQ(rows.back().agreement, Agreement::kDiffers);
}

TEST(SmiComparison, OfAGpuThatTheDriverHasLostItSaysOnlyThat) {
  GpuReading lost = gpu();
  lost.is_lost = true;
  lost.fault = "nvmlDeviceGetUUID: GPU is lost";

  const auto rows = compare(lost, SmiReading());

  ASSERT_EQ(rows.size(), 1U);
  EXPECT_EQ(rows.front().agreement, Agreement::kNotCompared);
  EXPECT_EQ(rows.front().why, "nvmlDeviceGetUUID: GPU is lost");
}

TEST(SmiComparison, WithoutNvidiaSmiNothingIsComparedAndAllIsShown) {
  const auto rows = compare(gpu(), {.fault = "nvidia-smi did not answer", .gpus = {}});

  EXPECT_EQ(row(rows, kHot).nvml, "40");
  EXPECT_THAT(rows, Each(Field(&ComparedValue::agreement, Agreement::kNotCompared)));
}

TEST(SmiComparison, AsksOnlyForFieldsThatThisNvidiaSmiKnows) {
  EXPECT_THAT(smi_fields("\"temperature.gpu\"\n Core GPU temperature.\n\n\"fan.speed\"\n..."
                         "\"temperature.gpu.tlimit\"\n"),
              ElementsAre("pci.bus_id", "temperature.gpu", "temperature.gpu.tlimit"));
}

TEST(SmiComparison, ReadsTheLinesOfGpusAndLeavesOutTheOthers) {
  const SmiReading reading =
      parse_smi({"pci.bus_id", "name", "power.draw"},
                "00000000:4E:00.0, NVIDIA H100 80GB HBM3, 71.25\n"
                "Unable to determine the device handle for GPU0000:5F:00.0: Unknown Error\n"
                "00000000:6A:00.0, NVIDIA H100 80GB HBM3\n");

  ASSERT_EQ(reading.gpus.size(), 1U);
  EXPECT_THAT(reading.gpus.at("0000:4e:00"),
              ElementsAre(Pair("name", "NVIDIA H100 80GB HBM3"),
                          Pair("pci.bus_id", "00000000:4E:00.0"), Pair("power.draw", "71.25")));
  EXPECT_THAT(parse_smi({"pci.bus_id"}, "").gpus, IsEmpty());
}

}  // namespace
}  // namespace gpuward::exporter
