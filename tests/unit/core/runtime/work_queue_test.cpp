#include "core/runtime/work_queue.h"

#include <gtest/gtest.h>

#include <atomic>
#include <future>
#include <thread>

#include "tests/fakes/fake_clock.h"
#include "tests/support/wait.h"

namespace gpuward {
namespace {

using namespace std::chrono_literals;
using support::wait_until;

// A worker that takes one key. Its destructor stops it.
class Worker {
 public:
  explicit Worker(WorkQueue& queue)
      : taken_(promise_.get_future()), thread_([this, &queue](const std::stop_token& stop) {
          promise_.set_value(queue.take(stop));
        }) {}

  std::optional<std::string> taken() { return taken_.get(); }
  void stop() { thread_.request_stop(); }

 private:
  std::promise<std::optional<std::string>> promise_;
  std::future<std::optional<std::string>> taken_;
  std::jthread thread_;
};

class WorkQueueTest : public ::testing::Test {
 protected:
  // Takes a key that is due.
  std::string take() { return queue_.take({}).value_or("stopped"); }
  ::testing::AssertionResult asleep(std::size_t workers) {
    return wait_until([&] { return clock_.sleepers() == workers; }, "workers wait for the clock");
  }

  fakes::FakeClock clock_;
  WorkQueue queue_{clock_, 3};
};

TEST_F(WorkQueueTest, HandsOutAKeyOnceHoweverOftenItWasAdded) {
  EXPECT_TRUE(queue_.add("a"));
  EXPECT_TRUE(queue_.add("a"));
  EXPECT_EQ(queue_.size(), 1U);
  EXPECT_EQ(take(), "a");
  EXPECT_EQ(queue_.size(), 0U);
}

TEST_F(WorkQueueTest, KeepsAKeyThatAWorkerHoldsUntilItIsDone) {
  ASSERT_TRUE(queue_.add("a"));
  ASSERT_EQ(take(), "a");
  ASSERT_TRUE(queue_.add("a"));
  Worker other(queue_);
  ASSERT_TRUE(asleep(1));

  queue_.done("a");

  EXPECT_EQ(other.taken(), "a");
}

TEST_F(WorkQueueTest, HandsAKeyOutAgainOnlyOnceForAllThatWasAddedMeanwhile) {
  ASSERT_TRUE(queue_.add("a"));
  ASSERT_EQ(take(), "a");
  for (int i = 0; i < 5; ++i) ASSERT_TRUE(queue_.add("a"));
  queue_.done("a");
  ASSERT_EQ(take(), "a");
  queue_.done("a");
  EXPECT_EQ(queue_.size(), 0U);
}

TEST_F(WorkQueueTest, ForgetsAKeyThatIsDoneAndWasNotAddedAgain) {
  ASSERT_TRUE(queue_.add("a"));
  ASSERT_EQ(take(), "a");
  queue_.done("a");
  EXPECT_EQ(queue_.size(), 0U);
}

TEST_F(WorkQueueTest, GivesOtherKeysToOtherWorkersWhileOneIsHeld) {
  ASSERT_TRUE(queue_.add("a"));
  ASSERT_EQ(take(), "a");
  ASSERT_TRUE(queue_.add("a"));
  ASSERT_TRUE(queue_.add("b"));
  EXPECT_EQ(take(), "b");
}

TEST_F(WorkQueueTest, RefusesANewKeyWhenFullButNotOneItHas) {
  ASSERT_TRUE(queue_.add("a"));
  ASSERT_TRUE(queue_.add_after("b", 1h));
  ASSERT_TRUE(queue_.add("c"));
  EXPECT_FALSE(queue_.add("d"));
  EXPECT_TRUE(queue_.add("a"));
  EXPECT_EQ(queue_.size(), 3U);
}

TEST_F(WorkQueueTest, HandsOutInTheOrderInWhichKeysAreDue) {
  ASSERT_TRUE(queue_.add_after("late", 3s));
  ASSERT_TRUE(queue_.add_after("early", 1s));
  ASSERT_TRUE(queue_.add_after("middle", 2s));
  clock_.advance(5s);
  EXPECT_EQ(take(), "early");
  EXPECT_EQ(take(), "middle");
  EXPECT_EQ(take(), "late");
}

TEST_F(WorkQueueTest, HoldsADelayedKeyBackUntilItIsDue) {
  ASSERT_TRUE(queue_.add_after("a", 10s));
  Worker worker(queue_);
  ASSERT_TRUE(asleep(1));
  clock_.advance(9s);
  ASSERT_TRUE(asleep(1));
  EXPECT_EQ(queue_.size(), 1U);
  clock_.advance(1s);
  EXPECT_EQ(worker.taken(), "a");
}

TEST_F(WorkQueueTest, KeepsTheEarlierOfTwoTimes) {
  ASSERT_TRUE(queue_.add_after("a", 1h));
  ASSERT_TRUE(queue_.add_after("a", 1s));
  ASSERT_TRUE(queue_.add_after("a", 2h));
  clock_.advance(1s);
  EXPECT_EQ(take(), "a");
}

TEST_F(WorkQueueTest, WakesAWorkerThatWaitsForALaterKey) {
  ASSERT_TRUE(queue_.add_after("later", 1h));
  Worker worker(queue_);
  ASSERT_TRUE(asleep(1));
  ASSERT_TRUE(queue_.add("now"));
  EXPECT_EQ(worker.taken(), "now");
}

TEST_F(WorkQueueTest, WakesEveryWorkerOnStop) {
  Worker one(queue_);
  Worker two(queue_);
  ASSERT_TRUE(asleep(2));
  one.stop();
  two.stop();
  EXPECT_EQ(one.taken(), std::nullopt);
  EXPECT_EQ(two.taken(), std::nullopt);
}

TEST(WorkQueue, LosesNothingAndGivesNoKeyToTwoWorkersAtATime) {
  SystemClock clock;
  WorkQueue queue(clock, 100);
  std::array<std::atomic<int>, 4> holders{};
  std::array<std::atomic<int>, 4> handled{};
  std::atomic<bool> shared = false;
  {
    std::vector<std::jthread> workers(3);
    for (auto& worker : workers) {
      worker = std::jthread([&](const std::stop_token& stop) {
        while (const auto key = queue.take(stop)) {
          const auto i = static_cast<std::size_t>((*key)[0] - '0');
          if (holders[i].fetch_add(1) != 0) shared = true;
          handled[i].fetch_add(1);
          holders[i].fetch_sub(1);
          queue.done(*key);
        }
      });
    }
    for (int round = 0; round < 2000; ++round) {
      ASSERT_TRUE(queue.add(std::to_string(round % 4)));
    }
    EXPECT_TRUE(wait_until([&] { return queue.size() == 0; }, "the queue is empty"));
  }
  EXPECT_FALSE(shared);
  for (const auto& count : handled) EXPECT_GE(count, 1);
}

}  // namespace
}  // namespace gpuward
