// Bodies that together exceed the server's room.
#include "core/http/server/body_budget.h"

#include <gtest/gtest.h>

#include <latch>

#include "tests/support/wait.h"
#include "tests/unit/core/http/server/raw_socket.h"
#include "tests/unit/core/http/test_server.h"

namespace gpuward::http {
namespace {

using std::chrono::milliseconds;

constexpr std::size_t kLarge = 200U << 10U;

// Room for one large body, and for the small ones.
ServerOptions narrow(milliseconds read_timeout = support::kGenerous) {
  ServerOptions options;
  options.limits.max_connections = 8;
  options.limits.max_body_bytes = kLarge;
  options.limits.max_bodies_bytes = 8 * BodyBudget::kSmallBody + kLarge + kLarge / 2;
  options.limits.read_timeout = read_timeout;
  return options;
}

std::string head_of(std::size_t length) {
  return "POST /echo HTTP/1.1\r\nHost: h\r\nContent-Length: " + std::to_string(length) + "\r\n";
}

std::string in_chunks(std::size_t length) {
  std::string request = "POST /echo HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n";
  for (std::size_t sent = 0; sent < length; sent += 1024)
    request += "400\r\n" + std::string(1024, 'c') + "\r\n";
  return request + "0\r\n\r\n";
}

// A client for whose large body the server has reserved room, and that has not sent it.
class Holder {
 public:
  explicit Holder(int port) : socket_(port) {
    socket_.send(head_of(kLarge) + "Expect: 100-continue\r\n\r\n");
    EXPECT_EQ(socket_.read_response(support::kGenerous, false).status, 100);
  }
  RawSocket& socket() { return socket_; }

 private:
  RawSocket socket_;
};

int status_of_large(int port) {
  return raw_exchange(port, head_of(kLarge) + "\r\n" + std::string(kLarge, 'b')).status;
}

TEST(ServerBodyBudget, RefusesABodyWithoutRoomBeforeReadingIt) {
  const TestServer server({echo_route()}, narrow());
  Holder holder(server.port());

  const RawResponse refused = raw_exchange(server.port(), head_of(kLarge) + "\r\n");
  EXPECT_EQ(refused.status, 503);
  EXPECT_TRUE(refused.has("Connection: close"));
  EXPECT_EQ(refused.body, "too many request bodies at once; try again\n");

  holder.socket().send(std::string(kLarge, 'b'));
  EXPECT_EQ(holder.socket().read_response().body.size(), kLarge);
  EXPECT_EQ(status_of_large(server.port()), 200);
}

TEST(ServerBodyBudget, AsksNoClientForABodyWithoutRoom) {
  const TestServer server({echo_route()}, narrow());
  const Holder holder(server.port());

  const RawResponse refused =
      raw_exchange(server.port(), head_of(kLarge) + "Expect: 100-continue\r\n\r\n");
  EXPECT_EQ(refused.status, 503);
}

TEST(ServerBodyBudget, AlwaysHasRoomForSmallBodies) {
  const TestServer server({echo_route()}, narrow());
  const Holder holder(server.port());
  const std::size_t small = BodyBudget::kSmallBody;

  EXPECT_EQ(raw_exchange(server.port(), head_of(small) + "\r\n" + std::string(small, 'b')).status,
            200);
  EXPECT_EQ(raw_exchange(server.port(), in_chunks(small)).status, 200);
}

TEST(ServerBodyBudget, AStalledSenderLosesItsRoomAfterTheReadTimeout) {
  const TestServer server({echo_route()}, narrow(milliseconds(2'000)));
  Holder holder(server.port());

  EXPECT_EQ(holder.socket().read_response().status, 408);
  EXPECT_TRUE(support::poll_until([&] { return status_of_large(server.port()) == 200; }));
}

TEST(ServerBodyBudget, ASenderThatLeavesLosesItsRoom) {
  const TestServer server({echo_route()}, narrow());
  Holder holder(server.port());
  holder.socket().close();

  EXPECT_TRUE(support::poll_until([&] { return status_of_large(server.port()) == 200; }));
}

TEST(ServerBodyBudget, ABodyHasItsRoomUntilItsHandlerReturns) {
  std::latch called(1);
  std::latch released(1);
  const Handler handler = [&](const Request& request) {
    called.count_down();
    released.wait();
    return Response::text(200, std::to_string(request.body.size()));
  };
  const TestServer server({echo_route(), {"/slow", {"POST"}, handler}}, narrow());
  RawSocket slow(server.port());
  slow.send("POST /slow HTTP/1.1\r\nHost: h\r\nContent-Length: " + std::to_string(kLarge) +
            "\r\n\r\n" + std::string(kLarge, 'b'));
  called.wait();

  EXPECT_EQ(status_of_large(server.port()), 503);
  released.count_down();
  EXPECT_EQ(slow.read_response().body, std::to_string(kLarge));
  EXPECT_EQ(status_of_large(server.port()), 200);
}

TEST(ServerBodyBudget, CountsTheBytesOfChunksAsTheyCome) {
  ServerOptions options = narrow();
  options.limits.max_bodies_bytes += kLarge;  // a growing body exists twice
  const TestServer server({echo_route()}, options);
  EXPECT_EQ(raw_exchange(server.port(), in_chunks(kLarge)).body, std::string(kLarge, 'c'));

  const Holder holder(server.port());
  const Holder other(server.port());
  EXPECT_EQ(raw_exchange(server.port(), in_chunks(kLarge)).status, 503);
}

TEST(ServerBodyBudget, AClientThatSendsItsWholeBodyGetsTheRefusal) {
  constexpr std::size_t kHuge = 10U << 20U;
  ServerOptions options = narrow();
  options.limits.max_body_bytes = kHuge;
  options.limits.max_bodies_bytes = 8 * BodyBudget::kSmallBody + kHuge;
  const TestServer server({echo_route()}, options);
  const Holder holder(server.port());

  CurlClient client;
  const auto response = client.send(post_request(server.url("/echo"), std::string(kHuge, 'b')));
  ASSERT_TRUE(response) << response.error().message;
  EXPECT_EQ(response->status, 503);
}

TEST(ServerBodyBudget, MustHaveRoomForTheLargestBody) {
  ServerOptions options = narrow();
  options.listen_addresses = {"127.0.0.1:0"};
  options.limits.max_bodies_bytes = 8 * BodyBudget::kSmallBody + kLarge - 1;
  const auto started = Server::start(options, {echo_route()});
  ASSERT_FALSE(started);
  EXPECT_EQ(started.error().kind, ErrorKind::kInvalid);
}

}  // namespace
}  // namespace gpuward::http
