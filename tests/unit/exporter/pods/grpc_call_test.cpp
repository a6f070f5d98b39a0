// Answers that no gRPC library would send.
#include "exporter/pods/grpc_call.h"

#include <gtest/gtest.h>

namespace gpuward::exporter {
namespace {

using namespace std::string_literals;

// Gives the answer of the test, over no network.
class ScriptedClient final : public http::Client {
 public:
  explicit ScriptedClient(http::ClientResponse response) : response_(std::move(response)) {}

  Result<http::ClientResponse> send(const http::ClientRequest&) override {
    return fail(ErrorKind::kInternal, "not asked");
  }
  Result<http::ClientResponse> stream(
      const http::ClientRequest& request, std::chrono::milliseconds, std::stop_token,
      const std::function<bool(std::string_view)>& on_bytes) override {
    sent = request;
    http::ClientResponse response = response_;
    if (!response.body.empty()) static_cast<void>(on_bytes(std::exchange(response.body, {})));
    return response;
  }

  http::ClientRequest sent;

 private:
  http::ClientResponse response_;
};

http::ClientResponse good(std::string body) {
  http::ClientResponse response;
  response.status = 200;
  response.body = std::move(body);
  response.trailers = {{"grpc-status", "0"}};
  return response;
}

Result<std::string> call(const http::ClientResponse& response) {
  ScriptedClient client(response);
  return call_grpc(client, {.socket = "/s", .method = "/a.B/C", .message = "hello"}, {});
}

TEST(GrpcCall, FramesTheMessageAndSaysHowLongItWaits) {
  ScriptedClient client(good("\0\0\0\0\2ok"s));

  const auto answer =
      call_grpc(client, {.socket = "/s", .method = "/a.B/C", .message = "hello"}, {});

  EXPECT_EQ(answer.value_or("none"), "ok");
  EXPECT_EQ(client.sent.body, "\0\0\0\0\5hello"s);
  EXPECT_EQ(client.sent.url, "http://localhost/a.B/C");
  EXPECT_EQ(client.sent.unix_socket, "/s");
  EXPECT_EQ(client.sent.version, http::HttpVersion::kHttp2PriorKnowledge);
  const std::pair<std::string, std::string> timeout{"grpc-timeout", "10000m"};
  EXPECT_EQ(client.sent.headers.back(), timeout);
}

TEST(GrpcCall, BelievesNoAnswerWithoutAStatus) {
  http::ClientResponse response = good("\0\0\0\0\2ok"s);
  response.trailers.clear();

  const auto answer = call(response);

  ASSERT_FALSE(answer.has_value());
  EXPECT_EQ(answer.error().kind, ErrorKind::kUnavailable);
}

TEST(GrpcCall, FindsTheStatusOfAnAnswerThatIsOnlyAHeader) {
  http::ClientResponse response;
  response.status = 200;
  response.headers = {{"grpc-status", "14"}, {"grpc-message", "not yet"}};

  const auto answer = call(response);

  ASSERT_FALSE(answer.has_value());
  EXPECT_EQ(answer.error().kind, ErrorKind::kUnavailable);
  EXPECT_NE(answer.error().message.find("not yet"), std::string::npos);
}

TEST(GrpcCall, RefusesAPlainWebServer) {
  http::ClientResponse response;
  response.status = 404;

  EXPECT_FALSE(call(response).has_value());
}

class BadFrame : public testing::TestWithParam<std::string> {};

TEST_P(BadFrame, IsRefused) { EXPECT_FALSE(call(good(GetParam())).has_value()); }

INSTANTIATE_TEST_SUITE_P(, BadFrame,
                         testing::Values(""s, "\0\0\0\0"s, "\0\0\0\0\3ok"s, "\0\0\0\0\1ok"s,
                                         "\1\0\0\0\2ok"s, "\0\xff\xff\xff\xffok"s));

}  // namespace
}  // namespace gpuward::exporter
