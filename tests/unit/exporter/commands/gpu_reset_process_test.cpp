// `gpuward-exporter gpu-reset` as the Job of the step gpu-reset calls it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/runtime/json.h"
#include "core/runtime/text.h"
#include "tests/places.inc"
#include "tests/unit/exporter/running_exporter.h"

namespace gpuward::exporter {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

class GpuResetCommand : public testing::Test {
 protected:
  void SetUp() override {
    fs::create_directory(folder_ / "state");
    fs::permissions(
        folder_.write("nvidia-smi", "#!/bin/sh\n[ \"$1\" = --gpu-reset ] || exit 0\n: > " +
                                        (folder_ / "was-reset").string() + "\necho 'All done.'\n"),
        fs::perms::owner_all);
  }
  support::Process::Outcome run(const std::vector<std::string>& flags) {
    std::vector<std::string> argv = {exporter_binary().string(), "gpu-reset",
                                     "--state.path=" + (folder_ / "state").string()};
    argv.insert(argv.end(), flags.begin(), flags.end());
    const std::string path = folder_.path().string() + ":/usr/bin:/bin";
    auto outcome = support::Process::run({.argv = std::move(argv), .env = {{"PATH", path}}});
    EXPECT_TRUE(outcome) << outcome.error().message;
    return outcome.value_or(support::Process::Outcome{});
  }
  bool was_reset() { return fs::exists(folder_ / "was-reset"); }
  support::TempDir folder_;
};

TEST_F(GpuResetCommand, ResetsNothingInAnotherBoot) {
  const auto outcome = run({"--vendor=nvidia", "--boot-id=00000000-1111-2222-3333-444444444444"});
  EXPECT_EQ(outcome.exit_code, 1);
  EXPECT_THAT(outcome.output, HasSubstr("the machine has booted since"));
  EXPECT_FALSE(was_reset());
}

TEST_F(GpuResetCommand, ResetsTheGpusInTheBootThatItIsFor) {
  const std::string boot(trim(read_file("/proc/sys/kernel/random/boot_id").value_or("")));
  const auto outcome = run({"--vendor=nvidia", "--boot-id=" + boot, "--timeout=600s",
                            "--pause-units=a.service,b.service"});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.output << outcome.error_output;
  EXPECT_THAT(outcome.output, HasSubstr("All done."));
  EXPECT_TRUE(was_reset());
  EXPECT_FALSE(fs::is_empty(folder_ / "state/clear.d")) << "drills and findings end with a reset";
}

// This machine has none, or only one for a screen.
TEST_F(GpuResetCommand, WantsAVendorThatItKnows) {
  EXPECT_EQ(run({"--vendor=intel"}).exit_code, 2);
  fs::create_directories(folder_ / "sys/bus/pci/devices");
  const auto outcome = run({"--path.sysfs=" + (folder_ / "sys").string()});
  EXPECT_EQ(outcome.exit_code, 2);
  EXPECT_THAT(outcome.error_output, HasSubstr("the PCI bus has no GPU: give --vendor"));
  EXPECT_FALSE(was_reset());
}

// The remediator fills these in.
TEST(GpuResetJob, IsTheCommandOfTheBootAndTheVendor) {
  const fs::path job = fs::path(GPUWARD_SOURCE_DIR) / "manifests/remediator-job-gpu-reset.json";
  const auto json = parse_json(read_file(job).value_or(""));
  ASSERT_TRUE(json);
  EXPECT_EQ(
      (*json)["spec"]["template"]["spec"]["containers"][0]["command"],
      Json::array({"gpuward-exporter", "gpu-reset", "--boot-id=$(BOOT_ID)",
                   "--vendor=$(GPU_VENDOR)", "--timeout=$(TIMEOUT)", "--pause-units=$(PAUSE_UNITS)",
                   "--termination-log=/run/termination-log"}));
}

}  // namespace
}  // namespace gpuward::exporter
