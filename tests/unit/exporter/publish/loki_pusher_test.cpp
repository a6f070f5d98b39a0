#include "exporter/publish/loki_pusher.h"

#include <gmock/gmock.h>

#include "core/runtime/json.h"
#include "tests/fakes/fake_clock.h"
#include "tests/support/wait.h"
#include "tests/unit/exporter/store/observations.h"

namespace gpuward::exporter {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::HasSubstr;

constexpr int kHangs = 0;  // instead of a status

// A Loki that answers as a test wants, and keeps each request.
class Loki final : public http::Client {
 public:
  struct Kept {
    std::mutex mutex;
    std::condition_variable_any wake;
    int status = 204;
    std::size_t most_bytes = SIZE_MAX;  // 429 for a larger body
    std::vector<http::ClientRequest> requests;
  };
  explicit Loki(std::shared_ptr<Kept> kept) : kept_(std::move(kept)) {}

  Result<http::ClientResponse> send(const http::ClientRequest&) override {
    return fail(ErrorKind::kInternal, "not used: it does not end with a stop");
  }
  Result<http::ClientResponse> stream(const http::ClientRequest& request, std::chrono::milliseconds,
                                      std::stop_token stop,
                                      const std::function<bool(std::string_view)>&) override {
    std::unique_lock lock(kept_->mutex);
    kept_->requests.push_back(request);
    if (kept_->status == kHangs) {
      kept_->wake.wait(lock, stop, [] { return false; });
      return fail(ErrorKind::kCancelled, "stopped");
    }
    const bool is_too_much = request.body.size() > kept_->most_bytes;
    return http::ClientResponse{
        .status = is_too_much ? 429 : kept_->status, .headers = {}, .body = "entry too old\n"};
  }

 private:
  std::shared_ptr<Kept> kept_;
};

class LokiPusherTest : public testing::Test {
 protected:
  void start(int status = 204) {
    kept_->status = status;
    pusher_ = std::make_unique<LokiPusher>(
        LokiTarget{.url = "http://loki:3100", .tenant = "gpus", .node = "gpu-01"},
        std::make_unique<Loki>(kept_), store_, clock_, log_);
  }
  std::vector<http::ClientRequest> requests() {
    const std::lock_guard lock(kept_->mutex);
    return kept_->requests;
  }
  // Lines of all requests, in order.
  std::vector<std::string> lines() {
    std::vector<std::string> texts;
    for (const auto& request : requests()) {
      const Json body = parse_json(request.body).value_or(Json());
      for (const Json& value : body["streams"][0]["values"]) texts.push_back(value[1]);
    }
    return texts;
  }
  LokiPushing health() { return *store_.health().loki; }
  void expect(const std::string& what, const std::function<bool()>& is_so) {
    ASSERT_TRUE(support::wait_until(is_so, what));
  }

  fakes::FakeClock clock_{fakes::FakeClock::Mode::kManual};
  Store store_{State()};
  Log log_{LogLevel::kError, LogFormat::kLogfmt};
  std::shared_ptr<Loki::Kept> kept_ = std::make_shared<Loki::Kept>();
  std::unique_ptr<LokiPusher> pusher_;
};

TEST(LokiPushBody, IsOneStreamUnderTheLabelsOfKonduktorsShipper) {
  const std::string body =
      loki_push_body("gpu-01", {{"NVRM: Xid 79", at_second(1)}, {"a\xff", at_second(2)}});

  const Json json = *parse_json(body);
  ASSERT_EQ(json["streams"].size(), 1U);
  EXPECT_EQ(json["streams"][0]["stream"], Json({{"job", "gpuward-exporter"},
                                                {"k8s_daemonset_name", "dmesg"},
                                                {"k8s_node_name", "gpu-01"}}));
  const Json& values = json["streams"][0]["values"];
  ASSERT_EQ(values.size(), 2U);
  const auto ns = std::chrono::nanoseconds(at_second(1).time_since_epoch()).count();
  EXPECT_EQ(values[0], Json::array({std::to_string(ns), "NVRM: Xid 79"}));
  EXPECT_EQ(values[1][1], "a\xef\xbf\xbd");
}

TEST_F(LokiPusherTest, SendsWhatItIsOffered) {
  start();
  pusher_->offer("one", clock_.wall());

  expect("the line", [&] { return health().sent == 1; });
  EXPECT_THAT(lines(), ElementsAre("one"));
  const http::ClientRequest request = requests().at(0);
  EXPECT_EQ(request.method, "POST");
  EXPECT_EQ(request.url, "http://loki:3100/loki/api/v1/push");
  EXPECT_THAT(request.headers, testing::Contains(testing::Pair("X-Scope-OrgID", "gpus")));
  EXPECT_EQ(health().fault, std::nullopt);
}

TEST_F(LokiPusherTest, KeepsItsLinesWhileLokiIsAway) {
  start(503);
  pusher_->offer("one", clock_.wall());
  expect("a fault", [&] { return health().fault.has_value() && clock_.sleepers() == 1; });
  EXPECT_THAT(*health().fault, HasSubstr("503"));
  pusher_->offer("two", clock_.wall());
  {
    const std::lock_guard lock(kept_->mutex);
    kept_->requests.clear();
    kept_->status = 204;
  }
  clock_.advance(30s);

  expect("both lines", [&] { return health().sent == 2; });
  EXPECT_THAT(lines(), ElementsAre("one", "two"));
  EXPECT_EQ(health().lost, 0U);
  EXPECT_EQ(health().fault, std::nullopt);
}

TEST_F(LokiPusherTest, GivesUpWhatLokiWillNeverTake) {
  start(400);
  pusher_->offer("old", clock_.wall());

  expect("its end", [&] { return health().lost == 1; });
  EXPECT_THAT(*health().fault, HasSubstr("400: entry too old"));
  EXPECT_EQ(requests().size(), 1U);
}

TEST_F(LokiPusherTest, LosesTheLastLinesOfAStormAndCountsThem) {
  start(503);
  pusher_->offer("first", clock_.wall());
  expect("a try", [&] { return clock_.sleepers() == 1; });
  const std::string line(8'000, 'x');
  for (int i = 0; i < 200; ++i) pusher_->offer(line, clock_.wall());
  {
    const std::lock_guard lock(kept_->mutex);
    kept_->status = 204;
  }
  clock_.advance(30s);

  expect("all lines", [&] { return health().sent + health().lost == 201; });
  EXPECT_GE(health().sent, 100U);
  EXPECT_GE(health().lost, 50U) << "more than a MiB waited";
}

// The rate limit of a real Loki refuses a larger push after any wait.
TEST_F(LokiPusherTest, SendsLessAtATimeIfLokiTakesNoMore) {
  start(503);
  pusher_->offer("first", clock_.wall());
  expect("a try", [&] { return clock_.sleepers() == 1; });
  const std::string line(1'000, 'x');
  for (int i = 0; i < 40; ++i) pusher_->offer(line + std::to_string(i), clock_.wall());
  {
    const std::lock_guard lock(kept_->mutex);
    kept_->requests.clear();
    kept_->status = 204;
    kept_->most_bytes = 10'000;
  }

  expect("all lines", [&] {
    clock_.advance(30s);
    return health().sent == 41;
  });
  EXPECT_EQ(health().lost, 0U);
  std::vector<std::string> taken;
  for (const auto& request : requests()) {
    if (request.body.size() > 10'000) continue;
    const Json body = parse_json(request.body).value_or(Json());
    for (const Json& value : body["streams"][0]["values"]) taken.push_back(value[1]);
  }
  ASSERT_EQ(taken.size(), 41U);
  EXPECT_EQ(taken[0], "first");
  for (std::size_t i = 1; i < taken.size(); ++i) EXPECT_EQ(taken[i], line + std::to_string(i - 1));
}

TEST_F(LokiPusherTest, EndsWhileLokiIsAwayOrHangs) {
  for (const int status : {503, kHangs}) {
    kept_->requests.clear();
    start(status);
    pusher_->offer("one", clock_.wall());
    expect("a try", [&] { return !requests().empty(); });

    pusher_.reset();
  }
}

}  // namespace
}  // namespace gpuward::exporter
