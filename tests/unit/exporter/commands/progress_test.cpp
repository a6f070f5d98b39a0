// The progress of long work, as operators read it.
#include "exporter/commands/progress.h"

#include <gmock/gmock.h>

#include <sstream>

#include "exporter/commands/quarantine_checks.h"
#include "tests/fakes/fake_clock.h"
#include "tests/support/wait.h"

namespace gpuward::exporter {
namespace {

using std::chrono::hours;
using std::chrono::minutes;
using std::chrono::seconds;
using ::testing::EndsWith;
using ::testing::HasSubstr;

class ProgressTest : public ::testing::Test {
 protected:
  // Returns the output since the last call.
  std::string written() {
    std::string text = out_.str();
    out_.str("");
    return text;
  }
  fakes::FakeClock clock_;
  std::ostringstream out_;
};

TEST_F(ProgressTest, OfAJobsLogIsALineIfSomethingHasChanged) {
  ProgressLine progress(ProgressStyle::kPlain, out_, clock_);
  progress.begin("quarantine 4-dcgm-diag-l4: 1 of 2", hours(3));
  EXPECT_EQ(written(), "[0:00 of 3:00:00] quarantine 4-dcgm-diag-l4: 1 of 2\n");
  for (int i = 0; i < 3600; ++i) {
    clock_.advance(seconds(1));
    progress.tick();
  }
  EXPECT_EQ(written(), "") << "that time passes is no news";
  progress.begin("quarantine 6-efa-loopback: 2 of 2", minutes(10));
  EXPECT_EQ(written(), "[0:00 of 10:00] quarantine 6-efa-loopback: 2 of 2\n");
}

TEST_F(ProgressTest, OfAJobsLogIsALineEveryHalfMinuteAtMost) {
  ProgressLine progress(ProgressStyle::kPlain, out_, clock_);
  progress.begin("a", minutes(16));
  (void)written();
  clock_.advance(seconds(10));
  progress.update("b");
  clock_.advance(seconds(10));
  progress.update("c");
  EXPECT_EQ(written(), "");
  clock_.advance(seconds(9));
  progress.tick();
  EXPECT_EQ(written(), "");
  clock_.advance(seconds(1));
  progress.tick();
  EXPECT_EQ(written(), "[0:30 of 16:00] c\n");
  progress.tick();
  EXPECT_EQ(written(), "");
}

TEST_F(ProgressTest, SaysAtItsEndWhatHasNotBeenSaid) {
  {
    ProgressLine progress(ProgressStyle::kPlain, out_, clock_);
    progress.begin("a", minutes(1));
    clock_.advance(seconds(5));
    progress.update("b");
    EXPECT_EQ(written(), "[0:00 of 1:00] a\n");
  }
  EXPECT_EQ(written(), "[0:05 of 1:00] b\n");
}

TEST_F(ProgressTest, OfATerminalIsOneLineThatIsWrittenOver) {
  {
    ProgressLine progress(ProgressStyle::kRewritten, out_, clock_);
    progress.begin("a", hours(2));
    EXPECT_EQ(written(), "\r\x1b[K[0:00 of 2:00:00] a\r");
    clock_.advance(seconds(3723));
    progress.tick();
    EXPECT_EQ(written(), "\r\x1b[K[1:02:03 of 2:00:00] a\r");
    progress.update(std::string(200, 'x'));
    EXPECT_EQ(written(), "\r\x1b[K[1:02:03 of 2:00:00] " + std::string(58, 'x') + "\r")
        << "it must not wrap";
  }
  EXPECT_THAT(written(), EndsWith("x\n"));
}

TEST_F(ProgressTest, IsSilentIfNobodyWantsIt) {
  {
    ProgressLine progress(ProgressStyle::kOff, out_, clock_);
    progress.begin("a", hours(2));
    clock_.advance(minutes(1));
    progress.update("b");
    progress.tick();
  }
  {
    const ProgressLine nothing_begun(ProgressStyle::kPlain, out_, clock_);
  }
  EXPECT_EQ(written(), "");
}

TEST_F(ProgressTest, TicksWhileSomebodyElseIsAtWork) {
  ProgressLine progress(ProgressStyle::kRewritten, out_, clock_);
  progress.begin("a", hours(2));
  {
    const ProgressTicker ticker(progress, clock_);
    for (int i = 0; i < 3; ++i) {
      ASSERT_TRUE(
          support::wait_until([&] { return clock_.sleepers() == 1; }, "the ticker's sleep"));
      clock_.advance(seconds(1));
    }
    ASSERT_TRUE(support::wait_until([&] { return clock_.sleepers() == 1; }, "the ticker's sleep"));
  }
  EXPECT_THAT(written(), HasSubstr("[0:03 of 2:00:00] a"));
}

TEST(ProgressStyle, IsALineThatIsWrittenOverOnATerminalAlone) {
  EXPECT_EQ(progress_style(ProgressWish::kAuto, true), ProgressStyle::kRewritten);
  EXPECT_EQ(progress_style(ProgressWish::kAuto, false), ProgressStyle::kPlain);
  EXPECT_EQ(progress_style(ProgressWish::kPlain, true), ProgressStyle::kPlain);
  EXPECT_EQ(progress_style(ProgressWish::kOff, true), ProgressStyle::kOff);
  EXPECT_EQ(parse_progress_wish("off"), ProgressWish::kOff);
  EXPECT_FALSE(parse_progress_wish("line"));
}

TEST(ProgressWords, CountNodesAndChecks) {
  EXPECT_EQ(sweep_words("1-dcgm-diag-l2", {.done = 3, .running = 6, .failed = 1, .all = 10}),
            "sweep 1-dcgm-diag-l2: 3 done, 6 running, 1 failed of 10 nodes");
  EXPECT_EQ(sweep_words("x", {.done = 1, .all = 1}),
            "sweep x: 1 done, 0 running, 0 failed of 1 node");
  EXPECT_EQ(check_words("4-dcgm-diag-l4", 1, 2), "quarantine 4-dcgm-diag-l4: 1 of 2");
}

TEST_F(ProgressTest, SaysAtEachCheckOfAQuarantineWhichOneItIs) {
  ProgressLine progress(ProgressStyle::kPlain, out_, clock_);
  std::vector<int> ran;
  const RunCheck run = with_progress(
      [&](int number, const std::stop_token&) {
        ran.push_back(number);
        clock_.advance(hours(1));
        return Result<CheckResult>(CheckResult{});
      },
      {{4, "4-dcgm-diag-l4", hours(2)}, {6, "6-efa-loopback", minutes(5)}}, progress);

  ASSERT_TRUE(run(4, {}));
  ASSERT_TRUE(run(6, {}));
  ASSERT_TRUE(run(5, {})) << "one that is not named is run too";

  EXPECT_THAT(ran, ::testing::ElementsAre(4, 6, 5));
  EXPECT_EQ(written(),
            "[0:00 of 2:00:00] quarantine 4-dcgm-diag-l4: 1 of 2\n"
            "[0:00 of 5:00] quarantine 6-efa-loopback: 2 of 2\n");
}

}  // namespace
}  // namespace gpuward::exporter
