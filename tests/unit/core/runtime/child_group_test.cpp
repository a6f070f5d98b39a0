// The end of a child with all processes that it started: an outer time-out of the replaced suite
// left the diagnostic running.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <fstream>
#include <iterator>
#include <optional>
#include <sstream>
#include <thread>

#include "core/runtime/child.h"
#include "tests/fakes/fake_clock.h"
#include "tests/support/is_gone.h"
#include "tests/support/temp_dir.h"
#include "tests/support/wait.h"

namespace gpuward {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using support::is_gone;
using ::testing::HasSubstr;
using ::testing::Not;

// Runs a shell script on its own thread while the test advances the clock.
class ChildGroupTest : public ::testing::Test {
 protected:
  void start(const std::string& script, milliseconds grace = milliseconds{0}) {
    command_.program = "/bin/sh";
    command_.arguments = {"-c", script};
    command_.environment["OUT"] = folder_.path().string();
    command_.timeout = kTimeout;
    command_.grace = grace;
    command_.stop = stop_.get_token();
    runner_ = std::jthread([this] { ended_ = run_child(command_, clock_); });
  }
  // The numbers that the script wrote to a file of that name.
  std::vector<pid_t> pids(const std::string& name) {
    EXPECT_TRUE(support::wait_until([&] { return !read(name).empty(); }, name));
    std::istringstream words(read(name));
    return {std::istream_iterator<pid_t>(words), {}};
  }
  std::string read(const std::string& name) {
    std::ifstream file(folder_ / name);
    return {std::istreambuf_iterator<char>(file), {}};
  }
  Result<ChildResult>& ended() {
    runner_.join();
    return *ended_;
  }

  static constexpr seconds kTimeout{9000};
  support::TempDir folder_;
  fakes::FakeClock clock_;
  std::stop_source stop_;
  ChildCommand command_;
  std::optional<Result<ChildResult>> ended_;
  std::jthread runner_;
};

constexpr char kDiagnosticWithChildren[] =
    "(sleep 1000 & sleep 1000 & echo $$ $! > $OUT/p.tmp; mv $OUT/p.tmp $OUT/pids; wait) & wait";

TEST_F(ChildGroupTest, ATimeoutLeavesNoProcessOfTheDiagnostic) {
  start(kDiagnosticWithChildren);
  const auto group = pids("pids");
  clock_.advance(kTimeout);
  ASSERT_FALSE(ended());
  EXPECT_EQ(ended_->error().kind, ErrorKind::kTimeout);
  for (const pid_t pid : group) EXPECT_TRUE(is_gone(pid)) << pid;  // at once: run_child waited
}

TEST_F(ChildGroupTest, AStopLeavesNoProcessOfTheDiagnostic) {
  start(kDiagnosticWithChildren);
  const auto group = pids("pids");
  stop_.request_stop();
  ASSERT_FALSE(ended());
  EXPECT_EQ(ended_->error().kind, ErrorKind::kCancelled);
  for (const pid_t pid : group) EXPECT_TRUE(is_gone(pid)) << pid;
}

TEST_F(ChildGroupTest, IsAskedToEndBeforeItIsKilled) {
  start(
      "trap 'echo asked > $OUT/asked; exit 0' TERM; echo $$ > $OUT/pids; "
      "while :; do sleep 0.05; done",
      seconds(10));
  const auto group = pids("pids");
  clock_.advance(kTimeout);
  ASSERT_FALSE(ended());  // before the grace has passed
  EXPECT_EQ(ended_->error().kind, ErrorKind::kTimeout);
  EXPECT_EQ(read("asked"), "asked\n");
  for (const pid_t pid : group) EXPECT_TRUE(is_gone(pid)) << pid;
}

TEST_F(ChildGroupTest, IsKilledIfItDoesNotEndWhenAsked) {
  start("trap '' TERM; echo $$ > $OUT/pids; while :; do sleep 0.05; done", seconds(10));
  const auto group = pids("pids");
  clock_.advance(kTimeout);
  clock_.advance(seconds(9));
  EXPECT_FALSE(is_gone(group.front()));
  // The grace begins when the thread sees the deadline, which may be after both steps.
  EXPECT_TRUE(support::wait_until(
      [&] {
        clock_.advance(seconds(1));
        return is_gone(group.front());
      },
      "it is killed"));
  ASSERT_FALSE(ended());
  EXPECT_EQ(ended_->error().kind, ErrorKind::kTimeout);
}

TEST_F(ChildGroupTest, GivesTheGraceToItsChildrenTooIfItEndsFirst) {
  start(
      "trap 'exit 0' TERM; (trap 'sleep 0.3; echo orderly > $OUT/orderly; exit 0' TERM; "
      "echo $$ > $OUT/pids; while :; do sleep 0.05; done) & wait",
      seconds(10));
  const auto group = pids("pids");
  clock_.advance(kTimeout);
  ASSERT_FALSE(ended());
  EXPECT_EQ(read("orderly"), "orderly\n");
}

TEST_F(ChildGroupTest, TakesWhatItLeavesBehindWithIt) {
  start("sleep 1000 & echo $! > $OUT/pids; echo done");
  ASSERT_TRUE(ended()) << ended_->error().message;
  EXPECT_EQ((*ended_)->output, "done\n");
  EXPECT_TRUE(is_gone(pids("pids").front()));
}

TEST_F(ChildGroupTest, DoesNotWaitForADaemonThatHoldsItsPipes) {
  start(
      "setsid sh -c 'echo $$ > $OUT/d.tmp; mv $OUT/d.tmp $OUT/pids; exec sleep 1000' & "
      "while [ ! -e $OUT/pids ]; do sleep 0.01; done; echo started");
  const bool has_ended = ended().has_value();
  const pid_t daemon = pids("pids").front();
  EXPECT_FALSE(is_gone(daemon));  // it has left the group on purpose
  ::kill(daemon, SIGKILL);
  ASSERT_TRUE(has_ended) << ended_->error().message;
  EXPECT_EQ((*ended_)->output, "started\n");
}

}  // namespace
}  // namespace gpuward
