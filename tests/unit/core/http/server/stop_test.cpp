// The server stops within a second, even if clients are connected.
#include <gtest/gtest.h>

#include <atomic>
#include <thread>

#include "tests/support/quickest.h"
#include "tests/support/wait.h"
#include "tests/unit/core/http/server/raw_socket.h"
#include "tests/unit/core/http/test_server.h"

namespace gpuward::http {
namespace {

using std::chrono::milliseconds;
using support::quickest_of;
using Clock = std::chrono::steady_clock;

milliseconds time_to_stop(TestServer& server) {
  const auto start = Clock::now();
  server.stop();
  return std::chrono::duration_cast<milliseconds>(Clock::now() - start);
}

Route stream_route(std::atomic<bool>& ended) {
  const Handler handler = [&ended](const Request&) {
    Response response;
    response.stream = [&ended](BodyWriter& body) {
      body.write("first\n");
      (void)support::poll_until([&] { return !body.write(""); });
      ended = true;
    };
    return response;
  };
  return {"/stream", {"GET"}, handler};
}

TEST(ServerStop, IsQuickWithNobodyConnected) {
  const auto once = [] {
    TestServer server({get_route("/", "x")});
    return time_to_stop(server);
  };
  EXPECT_LT(quickest_of(milliseconds(500), once), milliseconds(500));
}

TEST(ServerStop, IsQuickWithIdleHalfSentSilentAndStreamingClients) {
  const auto once = [] {
    std::atomic<bool> stream_ended = false;
    TestServer server({get_route("/", "x"), echo_route(), stream_route(stream_ended)});
    RawSocket idle(server.port());
    idle.send("GET / HTTP/1.1\r\nHost: h\r\n\r\n");
    EXPECT_EQ(idle.read_response().status, 200);
    RawSocket half_header(server.port());
    half_header.send("GET / HTTP/1.1\r\nHo");
    RawSocket half_body(server.port());
    half_body.send("POST /echo HTTP/1.1\r\nHost: h\r\nContent-Length: 10\r\n\r\nabc");
    RawSocket silent(server.port());
    RawSocket streaming(server.port());
    streaming.send("GET /stream HTTP/1.1\r\nHost: h\r\n\r\n");
    EXPECT_TRUE(streaming.read_until("first\n"));

    const auto took = time_to_stop(server);

    EXPECT_TRUE(stream_ended);
    for (RawSocket* socket : {&idle, &half_header, &half_body, &silent, &streaming}) {
      EXPECT_TRUE(socket->is_closed_within());
    }
    return took;
  };
  EXPECT_LT(quickest_of(milliseconds(1'000), once), milliseconds(1'000));
}

TEST(ServerStop, IsQuickWhenMoreClientsWaitThanItHasThreads) {
  const auto once = [] {
    ServerOptions options;
    options.limits.max_connections = 2;
    TestServer server({get_route("/", "x")}, options);
    std::vector<std::unique_ptr<RawSocket>> silent;
    for (int i = 0; i < 30; ++i) silent.push_back(std::make_unique<RawSocket>(server.port()));
    return time_to_stop(server);
  };
  EXPECT_LT(quickest_of(milliseconds(1'000), once), milliseconds(1'000));
}

TEST(ServerStop, LetsAHandlerFinishItsAnswer) {
  const auto once = [] {
    std::atomic<bool> has_begun = false;
    const Handler slow = [&has_begun](const Request&) {
      has_begun = true;
      (void)support::poll_until([] { return false; }, milliseconds(200));
      return Response::text(200, "in time");
    };
    TestServer server({{"/slow", {"GET"}, slow}});
    RawSocket socket(server.port());
    socket.send("GET /slow HTTP/1.1\r\nHost: h\r\n\r\n");
    EXPECT_TRUE(support::poll_until([&] { return has_begun.load(); }));
    const auto took = time_to_stop(server);
    EXPECT_EQ(socket.read_response().body, "in time");
    return took;
  };
  EXPECT_LT(quickest_of(milliseconds(1'000), once), milliseconds(1'000));
}

TEST(ServerStop, IsQuickWhileAClientDoesNotReadItsAnswer) {
  const auto once = [] {
    TestServer server({get_route("/large", std::string(32U << 20U, 'x'))});
    RawSocket deaf(server.port());
    deaf.set_small_receive_buffer();
    deaf.send("GET /large HTTP/1.1\r\nHost: h\r\n\r\n");
    EXPECT_TRUE(deaf.read_until("\r\n\r\n"));
    return time_to_stop(server);
  };
  EXPECT_LT(quickest_of(milliseconds(1'200), once), milliseconds(1'200));
}

TEST(ServerStop, AnswersNobodyAfterwards) {
  TestServer server({get_route("/", "x")});
  const int port = server.port();
  server.stop();
  RawSocket late(port);
  EXPECT_FALSE(late.send("GET / HTTP/1.1\r\n\r\n"));
}

}  // namespace
}  // namespace gpuward::http
