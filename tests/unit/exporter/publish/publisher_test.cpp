#include "exporter/publish/publisher.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <mutex>
#include <new>
#include <stop_token>
#include <thread>
#include <utility>

#include "exporter/publish/web.h"
#include "tests/fakes/fake_clock.h"
#include "tests/support/wait.h"
#include "tests/unit/exporter/store/observations.h"

namespace gpuward::exporter {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;

class PublisherTest : public testing::Test {
 protected:
  std::string text() { return *publisher.for_scrape().text; }
  void apply(const Observation& observation) {
    LogBatch batch;
    batch.observations = {observation};
    store.apply(batch);
  }

  SystemClock clock;
  Store store{State{}};
  std::shared_ptr<const xid::Catalogue> catalogue = std::make_shared<const xid::Catalogue>();
  Publisher publisher{store, clock, [this] { return catalogue; }};
};

TEST_F(PublisherTest, HasAnAnswerFromTheStart) {
  const std::string out = text();

  EXPECT_THAT(out, HasSubstr("gpuward_node_severity 0\n"));
  EXPECT_THAT(out, HasSubstr("gpuward_build_info{version=\"" GPUWARD_VERSION "\""));
  EXPECT_THAT(out, HasSubstr("process_resident_memory_bytes "));
}

TEST_F(PublisherTest, RendersAChangeWithoutBeingScraped) {
  apply(observe_xid({.code = 79}));

  EXPECT_TRUE(support::wait_until(
      [&] { return text().find("gpuward_node_severity 3\n") != std::string::npos; }, "severity 3"));
}

TEST_F(PublisherTest, GivesTheSameBytesToAllScrapesBetweenTwoChanges) {
  EXPECT_TRUE(support::wait_until(
      [&] { return publisher.for_scrape().text == publisher.for_scrape().text; }, "shared bytes"));
}

TEST_F(PublisherTest, RefreshesWhatHasNoChangeOfItsOwnAfterAScrape) {
  LogBatch ordinary;
  ordinary.numbers.lines = 5;
  store.apply(ordinary);

  EXPECT_TRUE(support::wait_until(
      [&] { return text().find("gpuward_kernel_log_lines_total 5\n") != std::string::npos; },
      "the lines"));
}

// Measured on a node: a kernel line that came right after another rendering waited nine times as
// long as that rendering had taken.
TEST(PublisherPace, KeepsASingleChangeWaitingForNothingAndABurstForItsShare) {
  constexpr auto kCost = 5ms;
  fakes::FakeClock clock;
  Store store{State{}};
  std::atomic<int> renderings = 0;
  Publisher publisher(store, clock, [&] {
    clock.advance(kCost);
    ++renderings;
    return std::make_shared<const xid::Catalogue>();
  });
  const auto renders_next = [&] {
    const int before = renderings;
    store.touch();
    EXPECT_TRUE(support::wait_until([&] { return renderings > before || clock.sleepers() > 0; },
                                    "a rendering or a pause"));
    return renderings > before;
  };

  int at_once = 0;
  while (at_once < 1000 && renders_next()) ++at_once;

  // A tenth of the saved second, and of the time that the burst itself takes.
  EXPECT_GE(at_once, 100ms / kCost);
  EXPECT_LE(at_once, 200ms / kCost);
  ASSERT_TRUE(support::wait_until([&] { return clock.sleepers() > 0; }, "the pause"));
  const int before = renderings;
  clock.advance(10 * kCost);
  EXPECT_TRUE(support::wait_until([&] { return renderings > before; }, "the next one"));
}

// A machine on which other processes use most of the processor time.
class BusyMachineClock final : public Clock {
 public:
  [[nodiscard]] Wall wall() const override { return clock_.wall(); }
  [[nodiscard]] Steady steady() const override { return clock_.steady(); }
  [[nodiscard]] std::chrono::nanoseconds processor_time() const override { return used_.load(); }
  bool sleep_until(Steady deadline, std::stop_token stop) override {
    return clock_.sleep_until(deadline, std::move(stop));
  }
  void advance(std::chrono::nanoseconds by, std::chrono::nanoseconds used) {
    used_ = used_.load() + used;
    clock_.advance(by);
  }
  [[nodiscard]] std::size_t sleepers() const { return clock_.sleepers(); }

 private:
  fakes::FakeClock clock_;
  std::atomic<std::chrono::nanoseconds> used_{};
};

// Seen on a cluster beside builds: an exporter that was Ready had no GPU in its metrics.
TEST(PublisherPace, DoesNotCountTheTimeOfOtherProcesses) {
  BusyMachineClock clock;
  Store store{State{}};
  std::atomic<int> renderings = 0;
  Publisher publisher(store, clock, [&] {
    clock.advance(1s, 5ms);
    ++renderings;
    return std::make_shared<const xid::Catalogue>();
  });
  while (renderings < 10) {
    const int before = renderings;
    store.touch();
    ASSERT_TRUE(support::wait_until([&] { return renderings > before || clock.sleepers() > 0; },
                                    "a rendering or a pause"));
    ASSERT_EQ(clock.sleepers(), 0) << renderings;
  }
}

// LESSONS 4: "empty /metrics on reload" (an exporter that closes its registry to open a new one).
TEST(PublisherReload, EmptyMetricsOnReload) {
  SystemClock clock;
  Store store{State{}};
  std::mutex mutex;
  auto catalogue = std::make_shared<const xid::Catalogue>();
  Publisher publisher(store, clock, [&] {
    const std::lock_guard lock(mutex);
    return catalogue;
  });
  std::atomic<int> reloads = 0;
  const std::jthread reloading([&](const std::stop_token& stop) {
    for (; !stop.stop_requested(); ++reloads) {
      auto next = std::make_shared<const xid::Catalogue>();
      {
        const std::lock_guard lock(mutex);
        catalogue = std::move(next);
      }
      store.touch();
    }
  });

  const auto first = publisher.for_scrape().text;
  int scrapes = 0, gaps = 0;
  const auto scrape = [&] {
    const auto text = publisher.for_scrape().text;
    gaps += !text || text->find("gpuward_xid_policy_info{xid=\"79\"") == std::string::npos;
    return ++scrapes > 100 && reloads > 20 && text != first;
  };
  ASSERT_TRUE(support::wait_until(scrape, "scrapes over some reloads"));
  EXPECT_EQ(gaps, 0) << "of " << scrapes;
}

TEST(PublisherFailure, FailsTheScrapeInsteadOfServingOldNumbersAndRecovers) {
  SystemClock clock;
  Store store{State{}};
  std::atomic<bool> is_broken{true};
  Publisher publisher(store, clock, [&] {
    if (is_broken) throw std::bad_alloc();
    return std::make_shared<const xid::Catalogue>();
  });
  const auto routes = web_routes(publisher, store, "gpu-7", http::Access::kOpen);
  const auto metrics = std::ranges::find(routes, "/metrics", &http::Route::path);
  ASSERT_NE(metrics, routes.end());
  const auto status = [&] { return metrics->handler(http::Request{}).status; };
  EXPECT_EQ(status(), 503);

  is_broken = false;

  EXPECT_TRUE(support::wait_until([&] { return status() == 200; }, "a good scrape"));
}

TEST(Readiness, IsGoodIfNothingIsWrong) {
  Health health;
  health.kernel_log_fault.reset();

  EXPECT_EQ(readiness(health).status, 200);
}

TEST(Readiness, SaysWhatIsDegraded) {
  Health health;
  health.kernel_log_fault = "opening /dev/kmsg: no";
  health.inventory_fault = "gpus.yaml:1: broken";

  const http::Response response = readiness(health);

  EXPECT_EQ(response.status, 503);
  EXPECT_THAT(*response.body, HasSubstr("opening /dev/kmsg: no"));
  EXPECT_THAT(*response.body, HasSubstr("gpus.yaml:1: broken"));
}

}  // namespace
}  // namespace gpuward::exporter
