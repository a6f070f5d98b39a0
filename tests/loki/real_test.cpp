// Behaviour that only a real Loki has: it keeps lines in files, refuses some, and is busy at times.
#include <gmock/gmock.h>

#include <thread>
#include <vector>

#include "core/kube/names.h"
#include "core/runtime/json.h"
#include "exporter/publish/loki_pusher.h"
#include "remediator/inbox/sources/loki_api.h"
#include "tests/loki/target.h"
#include "tests/support/wait.h"

namespace gpuward::loki {
namespace {

using std::chrono::hours;
using std::chrono::minutes;
using std::chrono::nanoseconds;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr const char* kKernel = R"({k8s_daemonset_name="dmesg"})";

class RealLokiTest : public ::testing::TestWithParam<const char*> {
 protected:
  void start(const std::string& limits = {}) {
    loki_ = std::make_unique<RealLoki>(Limits{.others = limits});
  }
  std::unique_ptr<exporter::LokiPusher> start_pusher() {
    return std::make_unique<exporter::LokiPusher>(
        exporter::LokiTarget{.url = loki_->url(), .tenant = kTenant, .node = "gpu-01"},
        std::make_unique<http::CurlClient>(), store_, clock_, log_);
  }
  exporter::LokiPushing health() { return *store_.health().loki; }
  void expect(const std::string& what, const std::function<bool()>& is_so) {
    ASSERT_TRUE(support::wait_until(is_so, what)) << loki_->said();
  }
  Result<remediator::LokiAnswer> ask() { return ask(loki_->client()); }
  Result<remediator::LokiAnswer> ask(http::Client& client) {
    remediator::LokiApi api({.url = loki_->url(), .tenant = kTenant}, client);
    const auto at = nanoseconds(clock_.wall().time_since_epoch());
    return api.ask({.query = kKernel,
                    .start = (at - nanoseconds(minutes(50))).count(),
                    .end = (at + nanoseconds(minutes(10))).count()});
  }
  std::vector<std::string> texts() {
    std::vector<std::string> found;
    const auto answer = ask();
    EXPECT_TRUE(answer.has_value()) << answer.error().message;
    if (!answer) return found;
    for (const auto& line : answer->lines) found.push_back(line.text);
    return found;
  }

  SystemClock clock_;
  exporter::Store store_{exporter::State()};
  Log log_{LogLevel::kError, LogFormat::kLogfmt};
  std::unique_ptr<RealLoki> loki_;
};
GPUWARD_ON_LOKI(RealLokiTest, real_kinds());

TEST_P(RealLokiTest, HasEachLineOfAnExporterOnceAfterItWasRestarted) {
  start();
  const auto pusher = start_pusher();
  pusher->offer("one", clock_.wall());
  expect("a line", [&] { return health().sent == 1; });
  loki_->go_away();
  pusher->offer("two", clock_.wall());
  expect("a fault", [&] { return health().fault.has_value(); });
  pusher->offer("three", clock_.wall());

  loki_->come_back();

  expect("all lines", [&] { return health().sent == 3; });
  EXPECT_THAT(texts(), ElementsAre("one", "two", "three"));
}

TEST_P(RealLokiTest, TakesLinesOutOfOrderButNoneOfLongAgo) {
  start();
  const auto pusher = start_pusher();
  pusher->offer("late", clock_.wall() - minutes(1));
  expect("a line", [&] { return health().sent == 1; });
  pusher->offer("later", clock_.wall() - minutes(40));
  expect("an older line", [&] { return health().sent == 2; });
  EXPECT_THAT(texts(), ElementsAre("later", "late"));

  pusher->offer("of last month", clock_.wall() - hours(24 * 30));

  expect("its end", [&] { return health().lost == 1; });
  EXPECT_THAT(*health().fault, HasSubstr("HTTP 400"));
}

// A sender that repeated refused lines would never send anything else.
TEST_P(RealLokiTest, LosesNoLineOfABatchBesideOneThatItRefuses) {
  start();
  const auto pusher = start_pusher();
  pusher->offer("first", clock_.wall());
  expect("a line", [&] { return health().sent == 1; });
  loki_->go_away();
  pusher->offer("waits", clock_.wall());
  expect("a fault", [&] { return health().fault.has_value(); });
  pusher->offer("of last month", clock_.wall() - hours(24 * 30));
  pusher->offer("last", clock_.wall());

  loki_->come_back();

  expect("all lines", [&] { return health().sent + health().lost == 4; });
  EXPECT_THAT(texts(), ElementsAre("first", "waits", "last"));
}

TEST_P(RealLokiTest, TakesLaterWhatItsRateLimitRefuses) {
  start("  ingestion_rate_mb: 0.1\n  ingestion_burst_size_mb: 0.5\n");
  const auto pusher = start_pusher();
  const std::string line(8'000, 'x');
  for (int i = 0; i < 120; ++i) pusher->offer(line + std::to_string(i), clock_.wall());

  expect("all lines", [&] { return health().sent + health().lost == 120; });

  EXPECT_EQ(health().lost, 0U);
}

TEST_P(RealLokiTest, SaysThatAQuestionTakesTooLong) {
  start("  query_timeout: 1ms\n");
  loki_->push({{"k8s_daemonset_name", "dmesg"}},
              nanoseconds(clock_.wall().time_since_epoch()).count(), "x");

  auto answer = ask();
  expect("a question that takes longer", [&] { return !(answer = ask()).has_value(); });

  ASSERT_FALSE(answer);
  EXPECT_EQ(answer.error().kind, ErrorKind::kTimeout) << answer.error().message;
}

// Many clients query at once; Loki splits one query into many, by minutes.
TEST_P(RealLokiTest, SaysThatItIsBusy) {
  start(
      "  split_queries_by_interval: 1m\n"
      "querier: {max_concurrent: 1}\n"
      "query_scheduler: {max_outstanding_requests_per_tenant: 1}\n");
  loki_->push({{"k8s_daemonset_name", "dmesg"}},
              nanoseconds(clock_.wall().time_since_epoch()).count(), "x");
  std::vector<std::jthread> others;
  for (int i = 0; i < 8; ++i) {
    others.emplace_back([this](const std::stop_token& stop) {
      http::CurlClient client;
      while (!stop.stop_requested()) (void)ask(client);
    });
  }

  auto answer = ask();
  expect("a refusal", [&] { return !(answer = ask()).has_value(); });

  ASSERT_FALSE(answer);
  EXPECT_EQ(answer.error().kind, ErrorKind::kUnavailable) << answer.error().message;
  EXPECT_THAT(answer.error().message, HasSubstr("too many outstanding requests"));
}

}  // namespace
}  // namespace gpuward::loki
