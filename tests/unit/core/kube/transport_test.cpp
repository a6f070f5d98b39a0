#include "core/kube/transport.h"

#include "tests/unit/core/kube/api_fixture.h"

namespace gpuward::kube {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

class TransportTest : public ApiTest {
 protected:
  seconds waited() { return std::chrono::duration_cast<seconds>(clock.steady() - began); }
  Clock::Steady began = clock.steady();
};

TEST_F(TransportTest, SendsWhoWeAreAndWhatWeTake) {
  client.then(answer(200, node_json()));
  ASSERT_TRUE(api.get_node("n1"));
  EXPECT_EQ(url(0), "https://api:6443/api/v1/nodes/n1");
  EXPECT_EQ(client.header(0, "Authorization"), "Bearer one");
  EXPECT_EQ(client.header(0, "Accept"), "application/json");
  EXPECT_EQ(client.header(0, "User-Agent"), "gpuward");
  EXPECT_EQ(client.header(0, "Content-Type"), "");
}

TEST_F(TransportTest, TriesAgainAfterALostConnectionAndA5xx) {
  client.then_fail(ErrorKind::kUnavailable);
  client.then_fail(ErrorKind::kTimeout);
  client.then(failure(503, "ServiceUnavailable"));
  client.then(answer(500, "<html>"));
  client.then(answer(200, node_json()));
  EXPECT_TRUE(api.get_node("n1"));
  EXPECT_EQ(client.requests.size(), 5U);
}

TEST_F(TransportTest, GivesUpAtItsDeadlineWithTheLastError) {
  for (int i = 0; i < 100; ++i) client.then(failure(500, "InternalError", "etcd"));
  const auto node = api.get_node("n1");
  ASSERT_FALSE(node);
  EXPECT_EQ(node.error().kind, ErrorKind::kUnavailable);
  EXPECT_EQ(node.error().message, "GET /api/v1/nodes/n1: HTTP 500 InternalError: etcd");
  EXPECT_LE(waited(), seconds(30));
  EXPECT_GE(waited(), seconds(10));
  EXPECT_LE(client.requests.size(), 20U);
}

TEST_F(TransportTest, ClientsThatFailTogetherDoNotComeBackTogether) {
  const auto waited_with = [&](std::uint64_t seed) {
    ApiOptions own = options();
    own.jitter_seed = seed;
    Api one(own, client, credentials, clock);
    for (int i = 0; i < 3; ++i) client.then(failure(503, "ServiceUnavailable"));
    client.then(answer(200, node_json()));
    const auto start = clock.steady();
    EXPECT_TRUE(one.get_node("n1"));
    return clock.steady() - start;
  };
  EXPECT_NE(waited_with(1), waited_with(2));
}

TEST_F(TransportTest, NeverLetsAnAttemptOutlastTheDeadline) {
  for (int i = 0; i < 100; ++i) client.then(failure(500, "InternalError"));
  (void)api.get_node("n1");
  EXPECT_EQ(client.requests.front().timeout, seconds(10));
  EXPECT_LT(client.requests.back().timeout, seconds(10));
}

TEST_F(TransportTest, DoesNotRepeatWhatCannotGetBetter) {
  for (const int code : {400, 403, 404, 409, 410, 413, 422}) {
    client.then(failure(code, ""));
    EXPECT_FALSE(api.get_node("n1")) << code;
  }
  EXPECT_EQ(client.requests.size(), 7U);
}

TEST_F(TransportTest, WaitsAsLongAsTheServerAsks) {
  client.then(answer(429, "", {{"Retry-After", "5"}}));
  client.then(answer(200, node_json()));
  EXPECT_TRUE(api.get_node("n1"));
  EXPECT_EQ(waited(), seconds(5));
}

TEST_F(TransportTest, AnOverloadPausesEveryCallOfTheApi) {
  ApiOptions impatient = options();
  impatient.retry_deadline = seconds(1);
  Api quick(impatient, client, credentials, clock);
  client.then(answer(429, "", {{"Retry-After", "3"}}));
  const auto first = quick.get_node("n1");
  const auto second = quick.get_node("n2");
  ASSERT_FALSE(first);
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error().kind, ErrorKind::kOverloaded);
  EXPECT_EQ(client.requests.size(), 1U);
  clock.advance(seconds(3));
  client.then(answer(200, node_json()));
  EXPECT_TRUE(quick.get_node("n1"));
}

TEST_F(TransportTest, ABlockedEvictionPausesNobody) {
  client.then(answer(429, R"({"kind":"Status","status":"Failure","reason":"TooManyRequests",
      "details":{"retryAfterSeconds":10,"causes":[{"reason":"DisruptionBudget"}]}})"));
  const auto status = api.evict({"default", "p", "u", std::nullopt});
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().kind, ErrorKind::kBlocked);
  client.then(answer(200, node_json()));
  EXPECT_TRUE(api.get_node("n1"));
  EXPECT_EQ(waited(), seconds(0));
}

TEST_F(TransportTest, RenewsTheTokenOnceAfterA401) {
  credentials.after_rejection = "two";
  client.then(failure(401, "Unauthorized"));
  client.then(answer(200, node_json()));
  EXPECT_TRUE(api.get_node("n1"));
  EXPECT_EQ(client.header(1, "Authorization"), "Bearer two");
  EXPECT_THAT(credentials.rejected, ::testing::ElementsAre("Bearer one"));
}

TEST_F(TransportTest, A401ThatNoTokenHealsIsNotRepeated) {
  credentials.after_rejection = "two";
  client.then(failure(401, "Unauthorized"));
  client.then(failure(401, "Unauthorized"));
  const auto node = api.get_node("n1");
  ASSERT_FALSE(node);
  EXPECT_EQ(node.error().kind, ErrorKind::kUnauthenticated);
  EXPECT_EQ(client.requests.size(), 2U);
  client.then(failure(401, "Unauthorized"));
  EXPECT_FALSE(api.get_node("n1"));  // the token is still "two": no other token to try
  EXPECT_EQ(client.requests.size(), 3U);
}

TEST_F(TransportTest, AStopEndsTheWaitBetweenTries) {
  std::stop_source stop;
  ApiOptions stopping = options();
  stopping.stop = stop.get_token();
  Api stopped(stopping, client, credentials, clock);
  stop.request_stop();
  client.then(failure(503, "ServiceUnavailable"));
  const auto node = stopped.get_node("n1");
  ASSERT_FALSE(node);
  EXPECT_EQ(node.error().kind, ErrorKind::kCancelled);
}

TEST_F(TransportTest, AnAnswerThatIsNoJsonIsABrokenPeer) {
  client.then(answer(200, "<html>login</html>"));
  const auto node = api.get_node("n1");
  ASSERT_FALSE(node);
  EXPECT_EQ(node.error().kind, ErrorKind::kInternal);
  EXPECT_EQ(node.error().message.find("login"), std::string::npos);
}

TEST_F(TransportTest, NoErrorEverHoldsTheToken) {
  credentials.token = "s3cr3t";
  client.then(failure(401, "Unauthorized"));
  client.then_fail(ErrorKind::kInvalid);
  client.then(answer(200, "garbage"));
  for (int i = 0; i < 3; ++i) {
    const auto node = api.get_node("n1");
    ASSERT_FALSE(node);
    EXPECT_EQ(node.error().message.find("s3cr3t"), std::string::npos) << node.error().message;
  }
}

}  // namespace
}  // namespace gpuward::kube
