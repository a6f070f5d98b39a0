// The line of a shell in the Job of the step gpu-reset, with the real gpuward-exporter and a fake
// nvidia-smi.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "core/runtime/files.h"
#include "core/runtime/json.h"
#include "tests/places.inc"
#include "tests/unit/exporter/running_exporter.h"

namespace gpuward::exporter {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::HasSubstr;

class GpuResetJob : public testing::Test {
 protected:
  support::Process::Outcome run(const std::string& nvidia_smi) {
    fs::permissions(folder_.write("nvidia-smi", "#!/bin/sh\n" + nvidia_smi + "\n"),
                    fs::perms::owner_all);
    const fs::path job = fs::path(GPUWARD_SOURCE_DIR) / "manifests/remediator-job-gpu-reset.json";
    const auto json = parse_json(read_file(job).value_or(""));
    EXPECT_TRUE(json);
    if (!json) return {};
    std::vector<std::string> argv = (*json)["spec"]["template"]["spec"]["containers"][0]["command"];
    const std::string path =
        folder_.path().string() + ":" + exporter_binary().parent_path().string() + ":/usr/bin:/bin";
    auto outcome = support::Process::run({.argv = std::move(argv), .env = {{"PATH", path}}});
    EXPECT_TRUE(outcome) << outcome.error().message;
    return outcome.value_or(support::Process::Outcome{});
  }
  support::TempDir folder_;
};

TEST_F(GpuResetJob, NamesWhoHasAGpuOpenWhereTheResetIsRefused) {
  fs::create_directory(folder_ / "dev");
  const int device = ::open((folder_ / "dev/nvidia0").c_str(), O_CREAT | O_RDWR, 0600);
  ASSERT_GE(device, 0);

  const auto outcome = run("echo 'GPU 00000000:F9:00.0: In use by another client'; exit 255");

  ::close(device);
  EXPECT_EQ(outcome.exit_code, 255) << "as nvidia-smi has ended";
  EXPECT_THAT(outcome.output, AllOf(HasSubstr("In use by another client"),
                                    HasSubstr("(pid " + std::to_string(::getpid()) + ": nvidia0")));
}

// Not the real one: it would clear what is held against this machine.
TEST_F(GpuResetJob, ClearsFindingsWhereTheGpusAreResetAndAsksForNobody) {
  for (const char* clears : {"exit 0", "exit 3"}) {
    fs::permissions(
        folder_.write("gpuward-exporter", "#!/bin/sh\necho called \"$@\"\n" + std::string(clears)),
        fs::perms::owner_all);

    const auto outcome = run("echo 'All done.'");

    EXPECT_EQ(outcome.exit_code, 0);
    EXPECT_EQ(outcome.output, "called findings clear --after-gpu-reset\nAll done.\n");
  }
}

}  // namespace
}  // namespace gpuward::exporter
