// Clients that are too slow, too large or ambiguous.
#include <gtest/gtest.h>

#include <memory>

#include "tests/support/quickest.h"
#include "tests/support/wait.h"
#include "tests/unit/core/http/server/raw_socket.h"
#include "tests/unit/core/http/test_server.h"

namespace gpuward::http {
namespace {

using std::chrono::milliseconds;

ServerOptions limited(Limits limits) {
  ServerOptions options;
  options.limits = limits;
  return options;
}

// Only the limit that a test sets may end a connection.
Limits endless() {
  Limits limits;
  limits.read_timeout = limits.keep_alive_timeout = limits.write_timeout = std::chrono::hours(1);
  return limits;
}

Limits quick_limits() {
  Limits limits = endless();
  limits.read_timeout = milliseconds(300);
  limits.max_connections = 4;
  return limits;
}

// A busy machine may delay a client between two calls. These limits still let the server answer it.
Limits limits_for_answers() {
  Limits limits = quick_limits();
  limits.read_timeout = milliseconds(2'000);
  return limits;
}

// Sends a byte at a time until the server closes the connection; false if it never does.
bool is_cut_while_it_trickles(RawSocket& socket) {
  return support::poll_until(
      [&] { return !socket.send("x") || socket.is_closed_within(milliseconds(30)); });
}

// Expects `attempt` to return in time, which it does once the server has ended the connection. For
// limits of 300 ms.
template <typename Attempt>
void expect_end_in_time(const Attempt& attempt) {
  const auto once = [&] {
    const auto begin = std::chrono::steady_clock::now();
    attempt();
    return std::chrono::steady_clock::now() - begin;
  };
  EXPECT_LT(support::quickest_of(milliseconds(2'000), once), milliseconds(2'000));
}

TEST(ServerLimits, CutsASilentClient) {
  const TestServer server({get_route("/", "x")}, limited(quick_limits()));
  expect_end_in_time([&] {
    RawSocket socket(server.port());
    EXPECT_TRUE(socket.is_closed_within());
  });
}

TEST(ServerLimits, CutsAHalfSentHeader) {
  const TestServer server({get_route("/", "x")}, limited(quick_limits()));
  expect_end_in_time([&] {
    RawSocket socket(server.port());
    socket.send("GET / HTTP/1.1\r\nHost:");
    EXPECT_EQ(socket.read_response().status, 408);
    EXPECT_TRUE(socket.is_closed_within());
  });
}

TEST(ServerLimits, CutsATricklingHeader) {
  const TestServer server({get_route("/", "x")}, limited(quick_limits()));
  expect_end_in_time([&] {
    RawSocket socket(server.port());
    socket.send("GET / HTTP/1.1\r\nX: ");
    EXPECT_TRUE(is_cut_while_it_trickles(socket));
  });
}

TEST(ServerLimits, CutsATricklingBody) {
  const TestServer server({echo_route()}, limited(quick_limits()));
  expect_end_in_time([&] {
    RawSocket socket(server.port());
    socket.send("POST /echo HTTP/1.1\r\nHost: h\r\nContent-Length: 1000\r\n\r\n");
    EXPECT_TRUE(is_cut_while_it_trickles(socket));
  });
}

TEST(ServerLimits, TellsASlowBodyThatItIsTooSlow) {
  const TestServer server({echo_route()}, limited(quick_limits()));
  expect_end_in_time([&] {
    RawSocket socket(server.port());
    socket.send("POST /echo HTTP/1.1\r\nHost: h\r\nContent-Length: 1000\r\n\r\nabc");
    EXPECT_EQ(socket.read_response().status, 408);
  });
}

TEST(ServerLimits, CutsATricklingChunk) {
  const TestServer server({echo_route()}, limited(quick_limits()));
  expect_end_in_time([&] {
    RawSocket socket(server.port());
    socket.send("POST /echo HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n3e8\r\n");
    EXPECT_TRUE(is_cut_while_it_trickles(socket));
  });
}

TEST(ServerLimits, CutsASecondRequestThatTrickles) {
  const TestServer server({get_route("/", "x")}, limited(quick_limits()));
  expect_end_in_time([&] {
    RawSocket socket(server.port());
    socket.send("GET / HTTP/1.1\r\nHost: h\r\n\r\n");
    EXPECT_EQ(socket.read_response().status, 200);
    socket.send("GET / HTTP/1.1\r\nX: ");
    EXPECT_TRUE(is_cut_while_it_trickles(socket));
  });
}

TEST(ServerLimits, KeepsAnIdleConnectionForLongerThanTheReadTimeout) {
  const Limits limits = limits_for_answers();
  const TestServer server({get_route("/", "x")}, limited(limits));
  RawSocket socket(server.port());
  socket.send("GET / HTTP/1.1\r\nHost: h\r\n\r\n");
  ASSERT_EQ(socket.read_response().status, 200);
  EXPECT_FALSE(socket.is_closed_within(limits.read_timeout + milliseconds(500)));
}

TEST(ServerLimits, EndsAnIdleConnectionAfterItsOwnTime) {
  Limits limits = endless();
  limits.keep_alive_timeout = milliseconds(300);
  const TestServer server({get_route("/", "x")}, limited(limits));
  expect_end_in_time([&] {
    RawSocket socket(server.port());
    socket.send("GET / HTTP/1.1\r\nHost: h\r\n\r\n");
    EXPECT_EQ(socket.read_response().status, 200);
    EXPECT_TRUE(socket.is_closed_within());
  });
}

TEST(ServerLimits, SilentClientsCannotHoldTheServer) {
  const TestServer server({get_route("/healthz", "ok")}, limited(limits_for_answers()));
  std::vector<std::unique_ptr<RawSocket>> silent;
  for (int i = 0; i < 12; ++i) {
    silent.push_back(std::make_unique<RawSocket>(server.port()));
    silent.back()->send("GET /healthz HTTP/1.1\r\nX");
  }
  CurlClient client;
  const auto response = client.send(get_request(server.url("/healthz")));
  ASSERT_TRUE(response) << response.error().message;
  EXPECT_EQ(response->status, 200);
}

TEST(ServerLimits, IdleConnectionsGiveWayToNewClients) {
  Limits limits = endless();
  limits.max_connections = 4;
  const TestServer server({get_route("/healthz", "ok")}, limited(limits));
  std::vector<std::unique_ptr<RawSocket>> idle;
  for (int i = 0; i < 8; ++i) {
    idle.push_back(std::make_unique<RawSocket>(server.port()));
    idle.back()->send("GET /healthz HTTP/1.1\r\nHost: h\r\n\r\n");
    EXPECT_EQ(idle.back()->read_response().status, 200) << i;
  }
}

TEST(ServerLimits, AHandlerMayTakeLongerThanTheReadTimeout) {
  const Limits limits = limits_for_answers();
  const Handler slow = [&limits](const Request&) {
    (void)support::poll_until([] { return false; }, limits.read_timeout + milliseconds(500));
    return Response::text(200, "done");
  };
  const TestServer server({{"/slow", {"GET"}, slow}}, limited(limits));
  EXPECT_EQ(raw_exchange(server.port(), "GET /slow HTTP/1.1\r\nHost: h\r\n\r\n").body, "done");
}

TEST(ServerLimits, CutsAClientThatDoesNotReadItsAnswer) {
  Limits limits = endless();
  limits.write_timeout = milliseconds(300);
  limits.max_connections = 1;
  const TestServer server(
      {get_route("/large", std::string(32U << 20U, 'x')), get_route("/ok", "x")}, limited(limits));
  expect_end_in_time([&] {
    RawSocket deaf(server.port());
    deaf.set_small_receive_buffer();
    deaf.send("GET /large HTTP/1.1\r\nHost: h\r\n\r\n");
    // The other client must be another peer: while others wait, the server cuts all connections of
    // the deaf one's peer.
    RawSocket other(server.port(), "127.0.0.1", "127.0.0.2");
    other.send("GET /ok HTTP/1.1\r\nHost: h\r\n\r\n");
    EXPECT_EQ(other.read_response().status, 200);
  });
}

TEST(ServerLimits, RefusesATooLongHeader) {
  const TestServer server({get_route("/", "x")});
  const std::string half(9'000, 'a');
  EXPECT_EQ(raw_exchange(server.port(),
                         "GET / HTTP/1.1\r\nHost: h\r\nA: " + half + "\r\nB: " + half + "\r\n\r\n")
                .status,
            431);
}

TEST(ServerLimits, RefusesAHeaderWithoutEnd) {
  const TestServer server({get_route("/", "x")});
  EXPECT_EQ(
      raw_exchange(server.port(), "GET / HTTP/1.1\r\nHost: h\r\nA: " + std::string(60'000, 'a'))
          .status,
      431);
}

TEST(ServerLimits, RefusesTooManyHeaderFields) {
  const TestServer server({get_route("/", "x")});
  std::string request = "GET / HTTP/1.1\r\nHost: h\r\n";
  for (int i = 0; i < 100; ++i) request += "X" + std::to_string(i) + ": y\r\n";
  EXPECT_EQ(raw_exchange(server.port(), request + "\r\n").status, 431);
}

TEST(ServerLimits, RefusesALongBodyBeforeReadingIt) {
  const TestServer server({echo_route()});
  const RawResponse response = raw_exchange(
      server.port(), "POST /echo HTTP/1.1\r\nHost: h\r\nContent-Length: 1048577\r\n\r\n");
  EXPECT_EQ(response.status, 413);
  EXPECT_TRUE(response.has("Connection: close"));
}

TEST(ServerLimits, TakesABodyOfExactlyTheCap) {
  const TestServer server({echo_route()});
  CurlClient client;
  const auto response = client.send(post_request(server.url("/echo"), std::string(1U << 20U, 'b')));
  ASSERT_TRUE(response);
  EXPECT_EQ(response->body.size(), 1U << 20U);
}

TEST(ServerLimits, AClientThatSendsTooMuchGetsItsAnswer) {
  const TestServer server({echo_route()});
  CurlClient client;
  const auto response = client.send(post_request(server.url("/echo"), std::string(4U << 20U, 'b')));
  ASSERT_TRUE(response) << response.error().message;
  EXPECT_EQ(response->status, 413);
}

TEST(ServerLimits, StopsReadingChunksAtTheCap) {
  const TestServer server({echo_route()});
  RawSocket socket(server.port());
  socket.send("POST /echo HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n");
  const std::string chunk = "10000\r\n" + std::string(0x10000, 'c') + "\r\n";
  for (int i = 0; i < 40 && socket.send(chunk); ++i) {
  }
  EXPECT_EQ(socket.read_response().status, 413);
}

TEST(ServerLimits, ReadsChunkedBodiesAndGoesOn) {
  const TestServer server({echo_route()});
  RawSocket socket(server.port());
  for (int i = 0; i < 2; ++i) {
    socket.send(
        "POST /echo HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n"
        "5\r\nhello\r\n6\r\n world\r\n0\r\n\r\n");
    EXPECT_EQ(socket.read_response().body, "hello world") << i;
  }
}

TEST(ServerLimits, RefusesBrokenChunks) {
  const TestServer server({echo_route()});
  for (const char* chunks : {"zz\r\nhello\r\n0\r\n\r\n", "-1\r\nx\r\n", "5\r\nhelloXX0\r\n\r\n",
                             "ffffffffffffffff\r\nx\r\n", "fffffffffffffffffff\r\nx\r\n", "\r\n"}) {
    const RawResponse response = raw_exchange(
        server.port(),
        std::string("POST /echo HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n") +
            chunks);
    EXPECT_TRUE(response.status == 400 || response.status == 413) << chunks << response.status;
  }
}

TEST(ServerLimits, AsksForALength) {
  const TestServer server({echo_route()});
  EXPECT_EQ(raw_exchange(server.port(), "POST /echo HTTP/1.1\r\nHost: h\r\n\r\n").status, 411);
}

TEST(ServerLimits, SendsContinueToWhoWaitsForIt) {
  const TestServer server({echo_route()});
  RawSocket socket(server.port());
  socket.send(
      "POST /echo HTTP/1.1\r\nHost: h\r\nContent-Length: 2\r\nExpect: 100-continue\r\n\r\n");
  EXPECT_EQ(socket.read_response(support::kGenerous, false).status, 100);
  socket.send("ok");
  EXPECT_EQ(socket.read_response().body, "ok");
}

// The server refuses a request that two programs in a row may read differently, and reads nothing
// after it as a request.
class ServerSmuggling : public testing::TestWithParam<const char*> {};

TEST_P(ServerSmuggling, RefusesAndCloses) {
  const TestServer server({echo_route(), get_route("/smuggled", "SMUGGLED")});
  RawSocket socket(server.port());
  socket.send(std::string("POST /echo HTTP/1.1\r\nHost: h\r\n") + GetParam());
  const std::string answer = socket.read_all();
  EXPECT_TRUE(answer.starts_with("HTTP/1.1 4")) << answer;
  EXPECT_EQ(answer.find("SMUGGLED"), std::string::npos) << answer;
  EXPECT_EQ(answer.find("HTTP/1.1 2"), std::string::npos) << answer;
}

#define HIDDEN "GET /smuggled HTTP/1.1\r\nHost: h\r\n\r\n"

INSTANTIATE_TEST_SUITE_P(
    Framing, ServerSmuggling,
    testing::Values(
        "Content-Length: 44\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n" HIDDEN,
        "Transfer-Encoding: chunked\r\nContent-Length: 5\r\n\r\n0\r\n\r\n" HIDDEN,
        "Content-Length: 0\r\nContent-Length: 39\r\n\r\n" HIDDEN,
        "Content-Length: 39\r\nContent-Length: 0\r\n\r\n" HIDDEN,
        "Content-Length: 0, 39\r\n\r\n" HIDDEN, "Content-Length: +0\r\n\r\n" HIDDEN,
        "Content-Length: 0x0\r\n\r\n" HIDDEN, "Content-Length: -1\r\n\r\n" HIDDEN,
        "Content-Length : 39\r\n\r\n" HIDDEN, "Content-Length: 0\r\n folded\r\n\r\n" HIDDEN,
        "X: y\r\n z\r\nContent-Length: 39\r\n\r\n" HIDDEN,
        "Content-Length: 0\r\n: nameless\r\n\r\n" HIDDEN,
        "Content-Length: 0\r\nTransfer-Encoding : chunked\r\n\r\n0\r\n\r\n" HIDDEN,
        "Transfer-Encoding: gzip\r\n\r\n" HIDDEN, "Transfer-Encoding: identity\r\n\r\n" HIDDEN,
        "Transfer-Encoding: chunked, identity\r\n\r\n0\r\n\r\n" HIDDEN,
        "Transfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\n\r\n0\r\n\r\n" HIDDEN,
        "Host: other\r\nContent-Length: 0\r\n\r\n" HIDDEN));

TEST(ServerLimits, RefusesGarbage) {
  const TestServer server({get_route("/", "x")});
  for (const char* request :
       {"\x16\x03\x01\x02\x00\x01", "GET\r\n\r\n", "GET / HTTP/9.9\r\nHost: h\r\n\r\n",
        "\r\n\r\n\r\n", "GET / HTTP/1.1\r\nHost: h\r\n\x01: x\r\n\r\n",
        "BREW / HTTP/1.1\r\nHost: h\r\n\r\n", "GET /%zz HTTP/1.1\r\nHost: h\r\n\r\n",
        "GET /a%00b HTTP/1.1\r\nHost: h\r\n\r\n", "GET / HTTP/1.1\r\n\r\n"}) {
    RawSocket socket(server.port());
    socket.send(request);
    const RawResponse response = socket.read_response();
    EXPECT_GE(response.status, 400) << request;
    EXPECT_LT(response.status, 506) << request;
  }
  EXPECT_EQ(raw_exchange(server.port(), "GET / HTTP/1.1\r\nHost: h\r\n\r\n").status, 200);
}

}  // namespace
}  // namespace gpuward::http
