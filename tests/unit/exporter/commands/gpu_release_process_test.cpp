// `gpuward-exporter gpu-release` beside a running exporter: which process holds the driver
// meanwhile, what the exporter reports, and that it takes the GPUs back after any end of the
// requester.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <fstream>

#include "core/runtime/files.h"
#include "core/runtime/text.h"
#include "tests/places.inc"
#include "tests/support/is_gone.h"
#include "tests/support/wait.h"
#include "tests/unit/exporter/running_exporter.h"

namespace gpuward::exporter {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

constexpr const char* kCounted = "gpuward_gpus_counted_by_driver{vendor=\"nvidia\"}";

class GpuReleaseCommand : public testing::Test {
 protected:
  std::vector<std::string> argv(const std::string& script, const std::string& lasts = "5m") const {
    return {exporter_binary().string(),
            "gpu-release",
            "--state.path=" + exporter_.file("state").string(),
            "--for=" + lasts,
            "--why=a reset",
            "--",
            "/bin/sh",
            "-c",
            script};
  }
  support::Process::Outcome release(const std::string& script) const {
    auto outcome = support::Process::run({.argv = argv(script)});
    EXPECT_TRUE(outcome) << outcome.error().message;
    return outcome.value_or(support::Process::Outcome{});
  }
  RunningExporter exporter_;
};

TEST_F(GpuReleaseCommand, RunsItsProgramWhileTheExporterHoldsNoGpu) {
  exporter_.start();
  ASSERT_TRUE(exporter_.has("gpuward_gpu_worker_state{state=\"answering\"}", "1"));
  ASSERT_EQ(exporter_.value("gpuward_gpu_released"), "0");
  ASSERT_EQ(exporter_.value("gpuward_gpu_release_requested"), "0");
  ASSERT_EQ(exporter_.value(kCounted), "8");
  const std::string go_on = exporter_.file("go-on").string();
  auto asker = support::Process::spawn(
      {.argv = argv("echo begun; while [ ! -e " + go_on + " ]; do sleep 0.05; done; exit 7")});
  ASSERT_TRUE(asker) << asker.error().message;

  ASSERT_TRUE(exporter_.has("gpuward_gpu_released", "1"));
  EXPECT_TRUE(exporter_.has("gpuward_gpu_worker_state{state=\"released\"}", "1"));
  EXPECT_EQ(exporter_.value("gpuward_gpu_release_requested"), "1");
  EXPECT_TRUE(exporter_.has("gpuward_node_unsettled", "1"));
  EXPECT_EQ(exporter_.value("gpuward_node_severity"), "0");
  EXPECT_EQ(exporter_.value(kCounted), "") << "nothing is read";
  EXPECT_EQ(exporter_.get("/readyz").status, 200);
  EXPECT_THAT(exporter_.get("/").body, HasSubstr("a reset"));
  exporter_.append_log(xid_line(79));
  EXPECT_TRUE(exporter_.has(xid_series(79), "1")) << "the kernel log is read on";

  std::ofstream(go_on).close();
  EXPECT_EQ((*asker)->wait_exit(), 7) << "as the program";
  EXPECT_TRUE(exporter_.has("gpuward_gpu_released", "0"));
  EXPECT_TRUE(exporter_.has("gpuward_gpu_worker_state{state=\"answering\"}", "1"));
  EXPECT_EQ(exporter_.value("gpuward_gpu_release_requested"), "0");
}

TEST_F(GpuReleaseCommand, GivesTheGpusBackIfItsAskerIsKilled) {
  exporter_.start();
  const fs::path number = exporter_.file("number");
  auto asker = support::Process::spawn(
      {.argv = argv("echo $$ > " + number.string() + "; exec sleep 300", "10s")});
  ASSERT_TRUE(asker) << asker.error().message;
  ASSERT_TRUE(support::wait_until(
      [&] { return parse_integer<pid_t>(trim(read_file(number).value_or(""))).has_value(); },
      "the program"));
  ASSERT_TRUE(exporter_.has("gpuward_gpu_released", "1"));

  (*asker)->signal(SIGKILL);

  ASSERT_EQ((*asker)->wait_exit(), 128 + SIGKILL);
  const auto program = parse_integer<pid_t>(trim(read_file(number).value_or("")));
  EXPECT_TRUE(support::wait_until([&] { return support::is_gone(*program); },
                                  "the end of the program, which must not outlive the release"));
  EXPECT_TRUE(exporter_.has("gpuward_gpu_released", "0")) << "after its ten seconds";
  EXPECT_TRUE(fs::is_empty(exporter_.file("state/release.d")));
}

TEST_F(GpuReleaseCommand, StopsAProgramThatDoesNotEndInTime) {
  auto words = argv("exec sleep 300", "10s");
  const auto outcome = support::Process::run({.argv = words});
  ASSERT_TRUE(outcome);
  EXPECT_EQ(outcome->exit_code, 128 + SIGTERM);
  EXPECT_THAT(outcome->error_output, HasSubstr("did not end in time"));
}

// The shell ends at once, but its child does not.
TEST_F(GpuReleaseCommand, EndsWhatItsProgramLeavesBehind) {
  const fs::path number = exporter_.file("left");
  const auto outcome =
      release("sh -c 'trap \"\" TERM; echo $$ > " + number.string() +
              "; while :; do sleep 1; done' & while [ ! -s " + number.string() + " ]; do :; done");
  EXPECT_EQ(outcome.exit_code, 0);
  const auto left = parse_integer<pid_t>(trim(read_file(number).value_or("")));
  ASSERT_TRUE(left);
  EXPECT_TRUE(support::wait_until([&] { return support::is_gone(*left); }, "its end"));
}

TEST_F(GpuReleaseCommand, SaysThatAProgramIsNotThere) {
  auto words = argv("");
  words.resize(words.size() - 3);
  words.emplace_back("/nowhere/nvidia-smi");
  const auto outcome = support::Process::run({.argv = words});
  ASSERT_TRUE(outcome);
  EXPECT_EQ(outcome->exit_code, 127);
  EXPECT_THAT(outcome->error_output, HasSubstr("cannot start /nowhere/nvidia-smi"));
}

TEST_F(GpuReleaseCommand, RunsItsProgramIfThereIsNoExporter) {
  const auto outcome = release("echo done");
  EXPECT_EQ(outcome.exit_code, 0);
  EXPECT_EQ(outcome.output, "done\n");
  EXPECT_THAT(outcome.error_output, HasSubstr("or none is running"));
}

TEST_F(GpuReleaseCommand, WaitsForItsEndWithoutAProgram) {
  exporter_.start();
  auto words = argv("");
  words.resize(words.size() - 4);  // without -- and the words after it
  auto asker = support::Process::spawn({.argv = words});
  ASSERT_TRUE(asker) << asker.error().message;
  ASSERT_TRUE(exporter_.has("gpuward_gpu_released", "1"));
  EXPECT_TRUE(support::wait_until([&] { return (*asker)->output().contains("Released until "); },
                                  "the answer"));
  (*asker)->signal(SIGTERM);
  EXPECT_EQ((*asker)->wait_exit(), 0);
  EXPECT_TRUE(exporter_.has("gpuward_gpu_released", "0"));
}

}  // namespace
}  // namespace gpuward::exporter
