// The limits of steps count only the time in which a leader existed and the step could act.
#include "remediator/act/step_clock.h"

#include "remediator/decide/status_change.h"
#include "remediator/model/step_call.h"
#include "tests/unit/remediator/act/cluster_fixture.h"

namespace gpuward::remediator {
namespace {

using std::chrono::hours;
using std::chrono::milliseconds;
using std::chrono::minutes;
using std::chrono::seconds;
using ::testing::HasSubstr;

class StepClockTest : public ClusterTest {
 protected:
  // A restart that is accepted and under way; its limit is 20 min.
  StepClockTest() {
    Policy policy;
    policy.mode = Mode::kFull;
    policy.startup_grace = seconds(0);
    for (const Step step : {Step::kTaint, Step::kCordon, Step::kReboot})
      policy.steps[Severity::kReboot].push_back(planned(step));
    policy_.set(policy);
    reports_.answer = report_of(Severity::kReboot);
    steps_[Step::kReboot].adds = {{std::string(kCallFact), "accepted"}};
    EXPECT_TRUE(take({signal()}));
    EXPECT_TRUE(reconcile());
    EXPECT_TRUE(reconcile());
    EXPECT_EQ(result(), StepResult::kRunning);
  }
  StepRecord reboot() {
    const Remediation now = remediation();
    const StepRecord* record = now.status.find(Step::kReboot);
    EXPECT_NE(record, nullptr) << now.status.message;
    return record == nullptr ? StepRecord() : *record;
  }
  StepResult result() { return reboot().result; }
  void annotate(const std::string& key, const Json& value) {
    kube_.patch(remediation_collection() + "/" + remediation().name,
                {{"metadata", {{"annotations", {{key, value}}}}}});
  }
  // The limit is 20 min: the step runs for the rest of it after the gap, and then fails.
  void expect_left(minutes left) {
    pass(left - minutes(2));
    EXPECT_EQ(result(), StepResult::kRunning);
    pass(minutes(4));
    EXPECT_EQ(result(), StepResult::kFailed);
    EXPECT_THAT(reboot().message, HasSubstr("not done in time"));
  }
};

TEST_F(StepClockTest, StopsWhileNoLeaderIsThere) {
  pass(minutes(5));
  clock_.advance(minutes(50));
  restart();

  ASSERT_TRUE(reconcile());

  EXPECT_EQ(result(), StepResult::kRunning);
  expect_left(minutes(15));
}

TEST_F(StepClockTest, StopsWhileAnOperatorHasSetPause) {
  pass(minutes(5));
  annotate(std::string(kPauseAnnotation), "true");
  pass(minutes(50));
  annotate(std::string(kPauseAnnotation), nullptr);

  ASSERT_TRUE(reconcile());

  EXPECT_EQ(result(), StepResult::kRunning);
  expect_left(minutes(15));
}

TEST_F(StepClockTest, StopsWhileTheSwitchSaysStop) {
  pass(minutes(5));
  permit_ = fail(ErrorKind::kBlocked, "stopped");
  pass(minutes(50));
  EXPECT_EQ(result(), StepResult::kRunning);
  permit_ = {};

  expect_left(minutes(15));
}

TEST_F(StepClockTest, StopsWhileNothingAnswers) {
  pass(minutes(5));
  steps_[Step::kReboot].progress = fail(ErrorKind::kUnavailable, "no answer");
  for (int i = 0; i < 50; ++i) {
    clock_.advance(minutes(1));
    EXPECT_FALSE(reconcile(1));
  }
  steps_[Step::kReboot].progress = StepProgress{};

  expect_left(minutes(15));
}

// For example, a verification waits during an upgrade of the driver.
TEST_F(StepClockTest, StopsWhileAnotherMakesTheStepWait) {
  pass(minutes(5));
  steps_[Step::kReboot].progress = StepProgress{.result = StepResult::kRunning,
                                                .message = {},
                                                .facts = {},
                                                .look_again = {},
                                                .news = {},
                                                .runs_clock = false};
  pass(minutes(50));
  EXPECT_EQ(result(), StepResult::kRunning);
  steps_[Step::kReboot].progress = StepProgress{};

  expect_left(minutes(15));
}

// The answer stays the same until an operator changes something.
TEST_F(StepClockTest, RunsWhileOnlyRefusalsAnswer) {
  steps_[Step::kReboot].progress = fail(ErrorKind::kForbidden, "User cannot get nodes");
  EXPECT_FALSE(reconcile(1));
  EXPECT_THAT(remediation().status.message, HasSubstr("User cannot get nodes"));
  EXPECT_EQ(result(), StepResult::kRunning);

  for (int i = 0; i < 22; ++i) {
    clock_.advance(minutes(1));
    (void)reconcile(1);
  }

  EXPECT_EQ(result(), StepResult::kFailed);
  EXPECT_THAT(reboot().message, HasSubstr("not done in time: User cannot get nodes"));
}

// A crash loses a minute at most.
TEST_F(StepClockTest, IsKeptInTheRecord) {
  pass(minutes(15));
  EXPECT_GE(reboot().active_seconds, 14 * 60);
  restart();
  ASSERT_TRUE(reconcile());

  expect_left(minutes(5));
}

TEST_F(StepClockTest, RunsThoughTheLeaderChangesEveryFewSeconds) {
  for (int i = 0; i < 19 * 6; ++i) {
    clock_.advance(seconds(10));
    restart();
    ASSERT_TRUE(reconcile());
  }
  EXPECT_EQ(result(), StepResult::kRunning);

  for (int i = 0; i < 2 * 6; ++i) {
    clock_.advance(seconds(10));
    restart();
    ASSERT_TRUE(reconcile());
  }
  EXPECT_EQ(result(), StepResult::kFailed);
}

TEST_F(StepClockTest, IsWrittenAtMostOnceAMinute) {
  const auto writes = [&] { return kube_.requests("PUT", remediation_collection()).size(); };
  const std::size_t before = writes();
  for (int i = 0; i < 10 * 60; ++i) {
    clock_.advance(seconds(1));
    ASSERT_TRUE(reconcile());
  }
  EXPECT_LE(writes() - before, 10U);
}

TEST_F(StepClockTest, IsNotMovedByASteppedWallClock) {
  pass(minutes(5));
  clock_.jump_wall(hours(9));
  ASSERT_TRUE(reconcile());

  EXPECT_EQ(result(), StepResult::kRunning);
}

// The clock of one step, as two replicas see it.
class TwoStepClocks : public ::testing::Test {
 protected:
  TwoStepClocks() {
    record_.step = Step::kVerify;
    record_.result = StepResult::kRunning;
    record_.intent_at = clock_.wall();
  }
  // Looks once a minute.
  milliseconds watch(StepClock& replica, minutes lasts) {
    milliseconds ran{0};
    for (minutes passed{0}; passed < lasts; passed += minutes(1)) {
      clock_.advance(minutes(1));
      ran = replica.look("r-1", record_).ran;
      record_.active_seconds = static_cast<int>(std::chrono::floor<seconds>(ran).count());
      replica.look_ended("r-1", true);
    }
    return ran;
  }

  fakes::FakeClock clock_{fakes::FakeClock::Mode::kAutoAdvance};
  StepRecord record_;
  StepClock one_{clock_, [] { return Status(); }};
  StepClock other_{clock_, [] { return Status(); }};
};

TEST_F(TwoStepClocks, GoOnWithTheTimeOfTheLeaderBefore) {
  watch(one_, minutes(2));
  const auto before = watch(other_, minutes(15));
  EXPECT_GE(before, minutes(15));

  EXPECT_GE(watch(one_, minutes(1)), before);
}

TEST_F(TwoStepClocks, SoakNoTimeThatNobodyIsKnownToHaveWatched) {
  watch(one_, minutes(2));
  const seconds kept(record_.active_seconds);
  clock_.advance(minutes(50));

  const WatchedTime time = other_.look("r-1", record_);

  EXPECT_EQ(time.ran, kept + kKeepsTimeEvery);
  EXPECT_EQ(time.unwatched, kKeepsTimeEvery);
  other_.look_ended("r-1", true);
  clock_.advance(seconds(10));
  EXPECT_EQ(other_.look("r-1", record_).unwatched, kKeepsTimeEvery) << "it was not written";
  record_.active_seconds += static_cast<int>(kKeepsTimeEvery.count());
  EXPECT_EQ(other_.look("r-1", record_).unwatched, seconds(0));
}

TEST_F(TwoStepClocks, BeginAtNothingIfTheStepBeginsAgain) {
  watch(one_, minutes(29));
  watch(other_, minutes(1));
  ++record_.attempts;
  record_.active_seconds = 0;
  other_.restart("r-1", record_);
  EXPECT_EQ(other_.look("r-1", record_).ran, seconds(0));

  EXPECT_LE(one_.look("r-1", record_).ran, kKeepsTimeEvery);
}

TEST_F(TwoStepClocks, ForgetWhatTheyKnewWhenTheyLeadAgain) {
  watch(one_, minutes(2));
  clock_.advance(minutes(1));
  one_.forget_all();

  EXPECT_EQ(one_.look("r-1", record_).unwatched, kKeepsTimeEvery);
}

// A program of the operator hangs until its own time-out.
TEST_F(TwoStepClocks, CountTheLookItself) {
  (void)one_.look("r-1", record_);
  clock_.advance(minutes(10));
  one_.look_ended("r-1", true);
  EXPECT_EQ(one_.look("r-1", record_).ran, minutes(10));

  clock_.advance(hours(9));
  one_.look_ended("r-1", true);
  EXPECT_EQ(one_.look("r-1", record_).ran, minutes(10)) << "the machine was suspended";
  clock_.advance(minutes(1));
  one_.look_ended("r-1", false);
  EXPECT_EQ(one_.look("r-1", record_).ran, minutes(10)) << "nothing answered";
}

}  // namespace
}  // namespace gpuward::remediator
