#include "exporter/gpu/worker/worker_duty.h"

#include <gtest/gtest.h>

namespace gpuward::exporter {
namespace {

using namespace std::chrono_literals;
using Task = WorkerDuty::Task;

class WorkerDutyTest : public testing::Test {
 protected:
  Task due(std::chrono::milliseconds at) { return duty.due(begin + at, times); }
  void start_and_answer(std::chrono::milliseconds at) {
    duty.started(begin + at);
    duty.asked(begin + at);
    duty.answered();
  }

  const Clock::Steady begin{1000s};
  GpuTimes times{.interval = 15s, .timeout = 20s};
  WorkerDuty duty{{.first = 1s, .longest = 60s}, 1};
};

TEST_F(WorkerDutyTest, StartsAndAsksAtOnce) {
  EXPECT_EQ(due(0s), Task::kStart);
  duty.started(begin);
  EXPECT_EQ(due(0s), Task::kAsk);
}

TEST_F(WorkerDutyTest, AsksAtEachIntervalFromAskToAsk) {
  start_and_answer(0s);

  EXPECT_EQ(due(14'999ms), Task::kWait);
  EXPECT_EQ(due(15s), Task::kAsk);
  EXPECT_EQ(duty.next_look(times), begin + 15s);
}

TEST_F(WorkerDutyTest, FollowsAnIntervalThatAReloadHasChanged) {
  start_and_answer(0s);
  times.interval = 5s;

  EXPECT_EQ(due(5s), Task::kAsk);
}

TEST_F(WorkerDutyTest, GivesUpAWorkerThatDoesNotAnswerInTime) {
  start_and_answer(0s);
  duty.asked(begin + 15s);

  EXPECT_EQ(due(34'999ms), Task::kWait);
  EXPECT_EQ(due(35s), Task::kGiveUp);
}

// The first reading opens the library, which wakes GPUs that sleep: eight of them need their time.
TEST_F(WorkerDutyTest, GivesTheFirstReadingOfAWorkerThreeTimesTheTime) {
  duty.started(begin);
  duty.asked(begin);

  EXPECT_EQ(due(59'999ms), Task::kWait);
  EXPECT_EQ(due(60s), Task::kGiveUp);
}

TEST_F(WorkerDutyTest, HurriesOnceTheWorkerIsFree) {
  start_and_answer(0s);
  duty.asked(begin + 15s);
  duty.hurry();
  EXPECT_EQ(due(16s), Task::kWait) << "it is asked already, and that answer may be too old";

  duty.answered();

  EXPECT_EQ(due(16s), Task::kAsk);
  duty.asked(begin + 16s);
  duty.answered();
  EXPECT_EQ(due(17s), Task::kWait);
}

TEST_F(WorkerDutyTest, WaitsLongerEachTimeBeforeItStartsABrokenWorkerAgain) {
  std::chrono::milliseconds at{0};
  std::chrono::milliseconds last{0};
  for (int i = 0; i < 12; ++i) {
    duty.started(begin + at);
    duty.ended(begin + at);
    const auto pause = duty.next_look(times) - (begin + at);
    last = std::chrono::duration_cast<std::chrono::milliseconds>(pause);
    EXPECT_LE(last, 60s);
    EXPECT_EQ(due(at), Task::kWait);
    at += last;
  }
  EXPECT_GE(last, 30s);
}

TEST_F(WorkerDutyTest, StartsSoonAgainAfterAWorkerThatWasWellForAWhile) {
  for (int i = 0; i < 12; ++i) duty.ended(begin);
  start_and_answer(0s);

  duty.ended(begin + 60s);

  EXPECT_LE(duty.next_look(times), begin + 61s);
}

TEST_F(WorkerDutyTest, KeepsItsDistanceFromAWorkerThatAnswersOnceAndDies) {
  for (int i = 0; i < 12; ++i) {
    start_and_answer(0s);
    duty.ended(begin);
  }
  EXPECT_GE(duty.next_look(times), begin + 30s);
}

// The worker leaves out a GPU that hangs, which does not make the next worker more broken.
TEST_F(WorkerDutyTest, ReplacesAWorkerWithoutAPauseAndWithoutALongerOneLater) {
  for (int i = 0; i < 12; ++i) {
    duty.started(begin);
    duty.asked(begin);
    duty.replaced(begin);
    EXPECT_EQ(due(0s), Task::kStart);
  }
  duty.started(begin);
  duty.ended(begin);
  EXPECT_LE(duty.next_look(times), begin + 1s) << "the first of the pauses";
}

// The event thread is in the driver for up to 5 s at a time.
TEST_F(WorkerDutyTest, GivesTheClosingOfTheLibraryItsTimeHoweverShortTheTimeout) {
  times.timeout = 2s;
  start_and_answer(0s);
  duty.asked(begin + 15s);
  duty.closing();
  EXPECT_EQ(due(26'999ms), Task::kWait);
  EXPECT_EQ(due(27s), Task::kGiveUp);
  duty.answered();
  duty.asked(begin + 40s);
  EXPECT_EQ(due(42s), Task::kGiveUp) << "of that reading alone";
  times.timeout = 20s;
  duty.closing();
  EXPECT_EQ(due(60s), Task::kGiveUp) << "no later than otherwise";
}

TEST_F(WorkerDutyTest, HurriesNoRestart) {
  duty.started(begin);
  duty.ended(begin);
  duty.hurry();

  EXPECT_EQ(due(0s), Task::kWait);
}

}  // namespace
}  // namespace gpuward::exporter
