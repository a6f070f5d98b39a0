#include "exporter/watch/gpu_watcher.h"

#include <gtest/gtest.h>

#include <atomic>
#include <condition_variable>
#include <mutex>
#include <stdexcept>
#include <utility>

#include "tests/support/wait.h"
#include "tests/unit/exporter/store/observations.h"

namespace gpuward::exporter {
namespace {

// Reports the telemetry of the test when the test says so. The test keeps the telemetry; the
// watcher owns the rest.
class ToldSource final : public GpuSource {
 public:
  struct News {
    std::mutex mutex;
    std::condition_variable_any changed;
    bool is_new = false;
    bool is_waited_for = false;
    int hurries = 0;
    GpuTelemetry telemetry;
    std::vector<GpuXid> xids;
  };
  explicit ToldSource(News& news) : news_(news) {}

  bool wait(std::chrono::milliseconds limit, const std::stop_token& stop) override {
    std::unique_lock lock(news_.mutex);
    news_.is_waited_for = true;
    news_.changed.wait_for(lock, stop, limit, [&] { return news_.is_new; });
    return std::exchange(news_.is_new, false);
  }
  [[nodiscard]] GpuTelemetry telemetry() const override {
    const std::lock_guard lock(news_.mutex);
    return news_.telemetry;
  }
  [[nodiscard]] std::vector<GpuXid> take_xids() override {
    const std::lock_guard lock(news_.mutex);
    return std::exchange(news_.xids, {});
  }
  void hurry() override {
    const std::lock_guard lock(news_.mutex);
    ++news_.hurries;
  }
  void set_released(bool /*is_released*/) override {}
  [[nodiscard]] bool has_let_go() const override { return false; }
  [[nodiscard]] std::string describe() const override { return "told by a test"; }

 private:
  News& news_;
};

std::shared_ptr<const GpuReport> one_gpu(const std::string& uuid) {
  auto report = std::make_shared<GpuReport>();
  VendorReading& vendor = report->vendors.emplace_back();
  vendor.state = LibraryState::kReady;
  Gpu& gpu = vendor.gpus.emplace_back().gpu;
  gpu.uuid = uuid;
  gpu.pci = *parse_pci_address("0000:4e:00.0");
  return report;
}

class GpuWatcherTest : public testing::Test {
 protected:
  GpuWatcherTest() {
    news.telemetry.state = WorkerState::kAnswering;
    news.telemetry.report = one_gpu("GPU-a");
  }
  void start(GpuWatcher::Evaluate evaluate = {}) {
    watcher = std::make_unique<GpuWatcher>(std::make_unique<ToldSource>(news), store, policy, clock,
                                           log, std::move(evaluate));
    watcher->begin();
  }
  template <typename Change>
  void tell(const Change& change) {
    const std::lock_guard lock(news.mutex);
    change(news);
    news.is_new = true;
    news.changed.notify_all();
  }
  void tell_xid(std::uint32_t code, int second) {
    tell([&](ToldSource::News& now) {
      now.xids.push_back({"0000:4e:00", code, at_second(second), {}, {}});
    });
  }
  [[nodiscard]] std::uint64_t count_of(std::uint32_t code) const {
    for (const auto& [key, counter] : store.state().counters) {
      if (key.code == code) return counter.count;
    }
    return 0;
  }
  void apply_kernel_line(std::uint32_t code, int second) {
    LogBatch batch;
    batch.observations.push_back(observe_xid(XidSpec{.code = code, .second = second}));
    store.apply(batch);
  }

  ToldSource::News news;
  SystemClock clock;
  Log log{LogLevel::kError, LogFormat::kLogfmt};
  CurrentPolicy policy{Settings{}};
  Store store{State{}};
  std::unique_ptr<GpuWatcher> watcher;
};

TEST_F(GpuWatcherTest, HasWhatTheSourceKnowsInTheStoreAtOnce) {
  start();

  ASSERT_EQ(store.gpus().size(), 1U);
  EXPECT_EQ(store.gpus()[0].uuid, "GPU-a");
  EXPECT_EQ(store.snapshot().telemetry.report, news.telemetry.report);
  EXPECT_EQ(store.health().inventory_fault, std::nullopt);
}

// The first wait opens the driver.
TEST_F(GpuWatcherTest, DoesNotWaitForNewsBeforeItIsToldToBegin) {
  GpuWatcher held(std::make_unique<ToldSource>(news), store, policy, clock, log);
  const auto is_waited_for = [&] {
    const std::lock_guard lock(news.mutex);
    return news.is_waited_for;
  };
  EXPECT_FALSE(is_waited_for());
  held.begin();
  EXPECT_TRUE(support::wait_until(is_waited_for, "the first wait"));
}

TEST_F(GpuWatcherTest, EndsAlsoIfItWasNeverToldToBegin) {
  const GpuWatcher held(std::make_unique<ToldSource>(news), store, policy, clock, log);
}

TEST_F(GpuWatcherTest, FollowsTheGpusOfEachNewReport) {
  start();

  tell([](ToldSource::News& now) { now.telemetry.report = one_gpu("GPU-b"); });

  EXPECT_TRUE(support::wait_until([&] { return store.gpus()[0].uuid == "GPU-b"; }, "GPU-b"));
}

TEST_F(GpuWatcherTest, KeepsGpusAndReportOfAWorkerThatHangsAndSaysSo) {
  start();

  tell([](ToldSource::News& now) {
    now.telemetry.state = WorkerState::kHung;
    now.telemetry.fault = "no answer";
    now.telemetry.hangs = 1;
  });

  ASSERT_TRUE(support::wait_until([&] { return store.health().inventory_fault == "no answer"; },
                                  "the fault"));
  EXPECT_EQ(store.gpus().size(), 1U);
  EXPECT_NE(store.snapshot().telemetry.report, nullptr);
  tell([](ToldSource::News& now) {
    now.telemetry.state = WorkerState::kAnswering;
    now.telemetry.fault.clear();
  });
  EXPECT_TRUE(support::wait_until([&] { return !store.health().inventory_fault; }, "an end"));
}

TEST_F(GpuWatcherTest, EvaluatesEachReportWithTheStoreAsItWillBe) {
  std::mutex mutex;
  std::vector<std::string> seen;
  start([&](const Snapshot& snapshot) {
    const std::lock_guard lock(mutex);
    seen.push_back(snapshot.gpus.at(0).uuid);
    return CheckResult{};
  });
  tell([](ToldSource::News& now) { now.telemetry.report = one_gpu("GPU-b"); });

  const auto seen_both = [&] {
    const std::lock_guard lock(mutex);
    return seen == std::vector<std::string>{"GPU-a", "GPU-b"};
  };
  EXPECT_TRUE(support::wait_until(seen_both, "both reports"));
  watcher.reset();
}

TEST_F(GpuWatcherTest, WritesAReadingAndItsEvaluationAsOneChange) {
  start([](const Snapshot& /*snapshot*/) {
    CheckResult result;
    result.check = "gpu";
    return result;
  });
  const std::uint64_t before = store.version();
  tell([](ToldSource::News& now) { now.telemetry.report = one_gpu("GPU-a"); });

  EXPECT_TRUE(support::wait_until([&] { return store.version() != before; }, "the next reading"));
  watcher.reset();
  EXPECT_EQ(store.version(), before + 1);
  EXPECT_TRUE(store.state().checks.contains("gpu"));
}

TEST_F(GpuWatcherTest, SurvivesAnEvaluationThatThrows) {
  std::atomic<int> calls = 0;
  start([&](const Snapshot& /*snapshot*/) {
    if (++calls == 2) throw std::runtime_error("broken rule");
    return CheckResult{};
  });
  tell([](ToldSource::News& now) { now.telemetry.report = one_gpu("GPU-b"); });
  ASSERT_TRUE(support::wait_until([&] { return calls == 2; }, "the broken call"));

  tell([](ToldSource::News& now) { now.telemetry.report = one_gpu("GPU-c"); });

  EXPECT_TRUE(support::wait_until([&] { return calls == 3; }, "the next one"));
  watcher.reset();
}

TEST_F(GpuWatcherTest, CountsAndLatchesXidsOfTheEventSet) {
  start();

  tell_xid(79, 1);

  ASSERT_TRUE(support::wait_until([&] { return count_of(79) == 1; }, "a count"));
  const State state = store.state();
  ASSERT_EQ(state.findings.size(), 1U);
  EXPECT_EQ(state.findings.begin()->second.severity, Severity::kReboot);
}

// "One fault counts once": the kernel log and the event set both report it, in either order.
TEST_F(GpuWatcherTest, CountsOnceWhatTheKernelLogAndTheEventSetBothTell) {
  start();
  apply_kernel_line(48, 1);
  tell_xid(48, 3);
  tell_xid(79, 4);  // the other order
  ASSERT_TRUE(support::wait_until([&] { return count_of(79) == 1; }, "the Xid"));
  apply_kernel_line(79, 5);

  EXPECT_EQ(count_of(48), 1U);
  EXPECT_EQ(count_of(79), 1U);
  for (const auto& [key, finding] : store.state().findings) EXPECT_EQ(finding.count, 1U);
}

TEST_F(GpuWatcherTest, CountsTwoFaultsOfOneKindAsTwo) {
  start();
  apply_kernel_line(48, 1);
  tell_xid(48, 2);
  tell_xid(48, 3);
  tell_xid(79, 4);
  ASSERT_TRUE(support::wait_until([&] { return count_of(79) == 1; }, "the Xids"));
  apply_kernel_line(48, 3);

  EXPECT_EQ(count_of(48), 2U);
}

TEST_F(GpuWatcherTest, LetsTheLineOfTheKernelLogRaiseWhatTheEventHadLeftOpen) {
  start();
  tell_xid(74, 1);
  ASSERT_TRUE(support::wait_until([&] { return count_of(74) == 1; }, "the Xid"));
  EXPECT_EQ(store.state().findings.begin()->second.severity, Severity::kMonitor);

  LogBatch batch;
  batch.observations.push_back(
      observe_xid(XidSpec{.code = 74, .severity = Severity::kReset, .second = 1}));
  store.apply(batch);

  EXPECT_EQ(count_of(74), 1U);
  EXPECT_EQ(store.state().findings.begin()->second.severity, Severity::kReset);
}

TEST_F(GpuWatcherTest, HandsAHurryOnToItsSource) {
  start();

  watcher->hurry();

  const std::lock_guard lock(news.mutex);
  EXPECT_EQ(news.hurries, 1);
}

}  // namespace
}  // namespace gpuward::exporter
