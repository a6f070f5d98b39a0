#include "tests/support/process.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <chrono>

#include "tests/support/is_gone.h"
#include "tests/support/temp_dir.h"
#include "tests/support/wait.h"

namespace gpuward::support {
namespace {

TEST(Process, KeepsBothOutputsAndTheExitCode) {
  const auto outcome = Process::run({.argv = {"sh", "-c", "echo out; echo err >&2; exit 3"}});

  ASSERT_TRUE(outcome) << outcome.error().message;
  EXPECT_EQ(outcome->exit_code, 3);
  EXPECT_EQ(outcome->output, "out\n");
  EXPECT_EQ(outcome->error_output, "err\n");
}

TEST(Process, GivesEnvironmentDirectoryAndInput) {
  const TempDir folder;

  const auto outcome = Process::run({.argv = {"sh", "-c", "echo $WORD; pwd; cat"},
                                     .env = {{"WORD", "spoken"}},
                                     .working_directory = folder.path(),
                                     .input = "typed"});

  ASSERT_TRUE(outcome) << outcome.error().message;
  EXPECT_EQ(outcome->output, "spoken\n" + folder.path().string() + "\ntyped");
}

TEST(Process, KeepsOnlySoMuchOfItsOutput) {
  const auto outcome =
      Process::run({.argv = {"sh", "-c", "yes | head -c 100000"}, .max_output_bytes = 1000});

  ASSERT_TRUE(outcome) << outcome.error().message;
  EXPECT_EQ(outcome->output.size(), 1000U);
}

// A grandchild holds the pipes open, so there is no end of file to wait for.
TEST(Process, HasAllThatAChildWroteOnceItDoesNotRun) {
  const auto process =
      Process::spawn({.argv = {"sh", "-c", "sleep 60 & head -c 3000000 /dev/zero"}});
  ASSERT_TRUE(process);
  ASSERT_TRUE(poll_until([&] { return !(*process)->running(); }));

  EXPECT_EQ((*process)->output().size(), 3'000'000U);
}

TEST(Process, SurvivesAChildThatDoesNotReadItsInput) {
  const auto outcome = Process::run({.argv = {"true"}, .input = std::string(1U << 20U, 'x')});

  ASSERT_TRUE(outcome) << outcome.error().message;
  EXPECT_EQ(outcome->exit_code, 0);
}

TEST(Process, SaysWhichProgramIsMissing) {
  const auto process = Process::spawn({.argv = {"no-such-program"}});

  ASSERT_FALSE(process);
  EXPECT_EQ(process.error().kind, ErrorKind::kNotFound);
  EXPECT_THAT(process.error().message, ::testing::HasSubstr("no-such-program"));
}

TEST(Process, EndsAStubbornChild) {
  const auto process = Process::spawn({.argv = {"sh", "-c", "trap '' TERM; echo up; sleep 60"}});
  ASSERT_TRUE(process);
  ASSERT_TRUE(wait_until([&] { return (*process)->output() == "up\n"; }, "it is up"));

  EXPECT_EQ((*process)->stop(std::chrono::milliseconds(100)), 128 + SIGKILL);
  EXPECT_FALSE((*process)->running());
}

TEST(Process, TakesItsGrandchildrenWithIt) {
  pid_t grandchild = 0;
  {
    const auto process = Process::spawn({.argv = {"sh", "-c", "sleep 60 & echo $!; wait"}});
    ASSERT_TRUE(process);
    ASSERT_TRUE(wait_until([&] { return (*process)->output().ends_with('\n'); }, "pid"));
    grandchild = std::stoi((*process)->output());
    ASSERT_FALSE(is_gone(grandchild));
  }
  EXPECT_TRUE(wait_until([&] { return is_gone(grandchild); }, "the grandchild is gone"));
}

}  // namespace
}  // namespace gpuward::support
