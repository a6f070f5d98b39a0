#include "exporter/pods/watcher.h"

#include <gtest/gtest.h>

#include <atomic>
#include <deque>

#include "tests/fakes/fake_clock.h"
#include "tests/support/wait.h"

namespace gpuward::exporter {
namespace {

using namespace std::chrono_literals;

Workloads used(const std::string& pod) {
  return {.is_known = true, .fault = "", .by_device = {{"GPU-1", {{"ns", pod, "c"}}}}};
}

// Gives its answers in turn. The last one repeats forever.
class ScriptedSource final : public WorkloadSource {
 public:
  ScriptedSource(std::deque<Result<Workloads>> answers, std::atomic<int>& asked)
      : answers_(std::move(answers)), asked_(asked) {}
  Result<Workloads> list(const std::stop_token&) override {
    const auto answer = answers_.front();
    if (answers_.size() > 1) answers_.pop_front();
    ++asked_;
    return answer;
  }

 private:
  std::deque<Result<Workloads>> answers_;
  std::atomic<int>& asked_;
};

// Blocks until its caller stops it.
class HangingSource final : public WorkloadSource {
 public:
  Result<Workloads> list(const std::stop_token& stop) override {
    SystemClock().sleep_for(2 * support::kGenerous, stop);
    return fail(ErrorKind::kCancelled, "stopped");
  }
};

class PodResourcesWatcherTest : public testing::Test {
 protected:
  void start(std::deque<Result<Workloads>> answers) {
    watcher.emplace(std::make_unique<ScriptedSource>(std::move(answers), asked), store, clock, log);
  }
  testing::AssertionResult is_asleep_after(int questions) {
    return support::wait_until([&] { return asked == questions && clock.sleepers() == 1; },
                               std::to_string(questions) + " questions, then a pause");
  }
  Workloads workloads() { return store.snapshot().workloads; }

  std::atomic<int> asked{0};
  Store store{State{}};
  fakes::FakeClock clock;
  Log log{LogLevel::kError, LogFormat::kLogfmt};
  std::optional<PodResourcesWatcher> watcher;
};

TEST_F(PodResourcesWatcherTest, AsksAtOnce) {
  start({used("train-0")});

  ASSERT_TRUE(is_asleep_after(1));
  EXPECT_EQ(workloads(), used("train-0"));
}

TEST_F(PodResourcesWatcherTest, AsksAgainEveryHalfMinute) {
  start({used("train-0"), used("train-1")});
  ASSERT_TRUE(is_asleep_after(1));

  clock.advance(29s);
  ASSERT_TRUE(is_asleep_after(1));
  clock.advance(1s);

  ASSERT_TRUE(is_asleep_after(2));
  EXPECT_EQ(workloads(), used("train-1"));
}

TEST_F(PodResourcesWatcherTest, AsksOnDemand) {
  start({used("train-0"), used("train-1")});
  ASSERT_TRUE(is_asleep_after(1));

  watcher->hurry();

  ASSERT_TRUE(is_asleep_after(2));
  EXPECT_EQ(workloads(), used("train-1"));
}

TEST_F(PodResourcesWatcherTest, BlamesNobodyWhileTheKubeletDoesNotAnswer) {
  start({used("train-0"), fail(ErrorKind::kUnavailable, "connection refused"), used("train-0")});
  ASSERT_TRUE(is_asleep_after(1));

  watcher->hurry();

  ASSERT_TRUE(is_asleep_after(2));
  EXPECT_FALSE(workloads().is_known);
  EXPECT_EQ(workloads().fault, "connection refused");
  EXPECT_TRUE(workloads().by_device.empty());
  watcher->hurry();
  ASSERT_TRUE(is_asleep_after(3));
  EXPECT_TRUE(workloads().is_known);
}

TEST_F(PodResourcesWatcherTest, SaysOnceThatThereIsNoKubelet) {
  testing::internal::CaptureStderr();
  {
    Log loud{LogLevel::kInfo, LogFormat::kLogfmt};
    PodResourcesWatcher quiet(
        std::make_unique<ScriptedSource>(
            std::deque<Result<Workloads>>{fail(ErrorKind::kNotFound, "no such socket")}, asked),
        store, clock, loud);
    for (int questions = 1; questions <= 3; ++questions) {
      ASSERT_TRUE(is_asleep_after(questions));
      quiet.hurry();
    }
    ASSERT_TRUE(is_asleep_after(4));
  }
  const std::string said = testing::internal::GetCapturedStderr();

  const auto first = said.find("Cannot read pod-to-GPU assignments from kubelet");
  ASSERT_NE(first, std::string::npos) << said;
  EXPECT_EQ(said.find("Nobody knows", first + 1), std::string::npos) << said;
}

TEST_F(PodResourcesWatcherTest, EndsWhileItAsks) {
  const auto start = std::chrono::steady_clock::now();
  {
    const PodResourcesWatcher hanging(std::make_unique<HangingSource>(), store, clock, log);
  }

  EXPECT_LT(std::chrono::steady_clock::now() - start, support::kGenerous);
  EXPECT_TRUE(workloads().fault.empty()) << "an end is no fault";
}

}  // namespace
}  // namespace gpuward::exporter
