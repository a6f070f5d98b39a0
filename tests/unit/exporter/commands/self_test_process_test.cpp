// `gpuward-exporter self-test` as an operator runs it: the real program and its worker on the fake
// libnvidia-ml.so.1, beside a fake nvidia-smi that reads the same library by itself.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/runtime/json.h"
#include "tests/fakes/nvml/fake_nvml.h"
#include "tests/fakes/tools/tool_box.h"
#include "tests/places.inc"
#include "tests/support/require.h"
#include "tests/unit/exporter/running_exporter.h"

namespace gpuward::exporter {
namespace {

using testing::AllOf;
using testing::ContainsRegex;
using testing::EndsWith;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::StartsWith;

class SelfTest : public testing::Test {
 protected:
  void SetUp() override { GPUWARD_REQUIRE(support::why_no_program("python3")); }

  support::Process::Outcome run(const std::vector<std::string>& words = {}) {
    std::vector<std::string> argv{exporter_binary().string(), "self-test", "--nvml=" + library_,
                                  "--gpu.amd-smi-library=/nowhere/libamd_smi.so",
                                  "--path.sysfs=" + (folder_ / "sys").string()};
    argv.insert(argv.end(), words.begin(), words.end());
    environment_["PATH"] = path_;
    environment_["GPUWARD_FAKE_SMI_LIBRARY"] = library_;
    const auto outcome = support::Process::run({.argv = std::move(argv), .env = environment_});
    EXPECT_TRUE(outcome) << outcome.error().message;
    return outcome.value_or(support::Process::Outcome{-1, "", ""});
  }

  support::TempDir folder_;
  fake_nvml::FakeNvml nvml_{"healthy_8x_h100"};
  std::string library_ = fake_nvml::FakeNvml::library();
  std::string path_ = std::string(GPUWARD_SOURCE_DIR) + "/tests/fakes/nvidia_smi";
  std::map<std::string, std::string> environment_;
};

TEST_F(SelfTest, FindsNoDifferenceIfThereIsNone) {
  for (const std::string scenario :
       {"healthy_8x_h100", "all_different", "no_ecc", "double_bit_error", "thermal_slowdown", "mig",
        "nvlink_5", "seven_of_eight"}) {
    nvml_.play(scenario);
    const auto outcome = run();
    EXPECT_EQ(outcome.exit_code, 0) << scenario << "\n" << outcome.output << outcome.error_output;
    EXPECT_THAT(outcome.output, EndsWith(" were not compared.\n")) << scenario;
    // The table of compared fields would have a wrong name.
    EXPECT_THAT(outcome.output, Not(HasSubstr("this nvidia-smi has no field"))) << scenario;
  }
}

TEST_F(SelfTest, SaysWhatABugReportNeedsAndNoWholeSerialNumber) {
  const auto outcome = run();

  EXPECT_THAT(outcome.output,
              AllOf(StartsWith("gpuward  "), ContainsRegex("\nkernel +[0-9]"),
                    HasSubstr("\ndriver      550.54.15\n"), HasSubstr("12.550.54.15, " + library_),
                    ContainsRegex("\nGPU +VALUE +NVML +NVIDIA-SMI +VERDICT\n")));
  EXPECT_THAT(outcome.output, ContainsRegex("3 +serial +...0003 +...0003 +same"));
  EXPECT_THAT(outcome.output, Not(HasSubstr("1654321010003")));
  EXPECT_THAT(outcome.output, Not(HasSubstr("aaaa-bbbb")));
}

TEST_F(SelfTest, ADifferenceEndsItWith1) {
  environment_["GPUWARD_FAKE_SMI_SAYS"] = "remapped_rows.uncorrectable=7;temperature.gpu=90";

  const auto outcome = run();

  EXPECT_EQ(outcome.exit_code, 1);
  EXPECT_THAT(outcome.output,
              ContainsRegex("0 +gpuward_gpu_remapped_rows.error=\"uncorrected\". +0 +7 +differs"));
  EXPECT_THAT(outcome.output, HasSubstr(", 2 differ, "));
}

TEST_F(SelfTest, PrintsJsonForPrograms) {
  environment_["GPUWARD_FAKE_SMI_SAYS"] = "pcie.link.width.max=8";

  const auto outcome = run({"--output", "json"});

  const auto json = parse_json(outcome.output);
  ASSERT_TRUE(json) << outcome.output;
  EXPECT_EQ(string_at(*json, "driver_version"), "550.54.15");
  EXPECT_EQ(member_at(*json, "differ"), 1);
  const auto& values = member_at(*json, "values");
  const auto wrong = std::ranges::find_if(
      values, [](const Json& value) { return string_at(value, "verdict") == "differs"; });
  ASSERT_NE(wrong, values.end());
  EXPECT_EQ(string_at(*wrong, "value"), "gpuward_gpu_pcie_link_width_max");
  EXPECT_EQ(string_at(*wrong, "nvml") + " " + string_at(*wrong, "nvidia_smi"), "16 8");
}

TEST_F(SelfTest, AnOlderNvidiaSmiIsAskedForLess) {
  environment_["GPUWARD_FAKE_SMI_LACKS"] = "gpu_recovery_action;temperature.gpu.tlimit";

  const auto outcome = run();

  EXPECT_EQ(outcome.exit_code, 0) << outcome.output;
  EXPECT_THAT(outcome.output,
              HasSubstr("not compared: this nvidia-smi has no field gpu_recovery_action"));
}

TEST_F(SelfTest, ALostGpuIsNotComparedAndTheOthersAre) {
  nvml_.play("lost_gpu");

  const auto outcome = run();

  EXPECT_EQ(outcome.exit_code, 0) << outcome.output;
  EXPECT_THAT(outcome.output, ContainsRegex("3 +pci_bus_id +- +- +not compared: .*GPU is lost"));
  EXPECT_THAT(outcome.output, ContainsRegex("7 +pci_bus_id +0000:cd:00 +0000:cd:00 +same"));
}

TEST_F(SelfTest, WithoutNvidiaSmiItShowsWhatGpuwardReads) {
  path_ = folder_.path().string();

  const auto outcome = run();

  EXPECT_EQ(outcome.exit_code, 0) << outcome.output;
  EXPECT_THAT(outcome.output, HasSubstr("nvidia-smi  program `nvidia-smi` not found in "));
  EXPECT_THAT(outcome.output, ContainsRegex("gpuward_gpu_power_watts +71.25 +- +not compared"));
  EXPECT_THAT(outcome.output, HasSubstr("\n0 values are the same, 0 differ, "));
}

TEST_F(SelfTest, AnNvidiaSmiThatFailsIsQuoted) {
  fakes::ToolBox tools;
  tools.add("nvidia-smi", "", {.complaint = "no permission", .exit_code = 4});
  path_ = tools.path().string();

  const auto outcome = run();

  EXPECT_EQ(outcome.exit_code, 0);
  EXPECT_THAT(outcome.output, HasSubstr("nvidia-smi  nvidia-smi ended with 4: no permission\n"));
}

TEST_F(SelfTest, WithoutNvmlItEndsWith2AndSaysWhatIsMissing) {
  library_ = "/nowhere/libnvidia-ml.so.1";
  const auto absent = run();
  EXPECT_EQ(absent.exit_code, 2);
  EXPECT_THAT(absent.output, IsEmpty());
  EXPECT_THAT(absent.error_output,
              HasSubstr("cannot read NVML for the comparison: /nowhere/libnvidia-ml.so.1: not "
                        "found on this machine"));

  library_ = fake_nvml::FakeNvml::library();
  nvml_.play("version_mismatch");
  const auto mismatch = run();
  EXPECT_EQ(mismatch.exit_code, 2);
  EXPECT_THAT(mismatch.error_output, HasSubstr("Driver/library version mismatch"));
}

}  // namespace
}  // namespace gpuward::exporter
