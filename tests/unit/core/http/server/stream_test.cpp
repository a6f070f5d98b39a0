// Answers that are sent over a long time.
#include <gtest/gtest.h>

#include <atomic>
#include <stdexcept>

#include "tests/support/wait.h"
#include "tests/unit/core/http/server/raw_socket.h"
#include "tests/unit/core/http/test_server.h"

namespace gpuward::http {
namespace {

using std::chrono::milliseconds;

Route stream_route(std::function<void(BodyWriter&)> stream) {
  const Handler handler = [stream = std::move(stream)](const Request&) {
    Response response;
    response.content_type = "application/json";
    response.stream = stream;
    return response;
  };
  return {"/stream", {"GET"}, handler};
}

TEST(ServerStream, SendsEachPieceAsAChunk) {
  const TestServer server({stream_route([](BodyWriter& body) {
    body.write("hello ");
    body.write(std::string(20, 'w'));
  })});
  RawSocket socket(server.port());
  socket.send("GET /stream HTTP/1.1\r\nHost: h\r\n\r\n");
  ASSERT_TRUE(socket.read_until("0\r\n\r\n"));
  EXPECT_TRUE(socket.read_all(milliseconds(1))
                  .ends_with("\r\n\r\n6\r\nhello \r\n14\r\nwwwwwwwwwwwwwwwwwwww\r\n0\r\n\r\n"));
}

TEST(ServerStream, TheConnectionGoesOnAfterwards) {
  const TestServer server({stream_route([](BodyWriter& body) { body.write("x"); })});
  RawSocket socket(server.port());
  for (int i = 0; i < 3; ++i) {
    socket.send("GET /stream HTTP/1.1\r\nHost: h\r\n\r\n");
    ASSERT_TRUE(socket.read_until("0\r\n\r\n")) << i;
    (void)socket.read_all(milliseconds(10));
  }
}

TEST(ServerStream, PiecesArriveWhileItLasts) {
  std::atomic<int> wanted = 1;
  const TestServer server({stream_route([&wanted](BodyWriter& body) {
    for (int sent = 0; sent < 3; ++sent) {
      if (!support::poll_until([&] { return wanted > sent; })) return;
      body.write("piece" + std::to_string(sent));
    }
  })});
  RawSocket socket(server.port());
  socket.send("GET /stream HTTP/1.1\r\nHost: h\r\n\r\n");
  for (int i = 0; i < 3; ++i) {
    EXPECT_TRUE(socket.read_until("piece" + std::to_string(i)));
    ++wanted;
  }
}

TEST(ServerStream, OutlivesTheReadAndWriteTimeouts) {
  ServerOptions options;
  options.limits.read_timeout = options.limits.write_timeout = milliseconds(1'000);
  const TestServer server({stream_route([](BodyWriter& body) {
                            body.write("first");
                            (void)support::poll_until([] { return false; }, milliseconds(1'500));
                            body.write("second");
                          })},
                          options);
  RawSocket socket(server.port());
  socket.send("GET /stream HTTP/1.1\r\nHost: h\r\n\r\n");
  EXPECT_TRUE(socket.read_until("second"));
}

TEST(ServerStream, TheHandlerLearnsThatTheClientIsGone) {
  std::atomic<bool> knows = false;
  const TestServer server({stream_route([&knows](BodyWriter& body) {
    body.write("first");
    knows = support::poll_until([&] { return !body.write(""); });
  })});
  {
    RawSocket socket(server.port());
    socket.send("GET /stream HTTP/1.1\r\nHost: h\r\n\r\n");
    ASSERT_TRUE(socket.read_until("first"));
  }
  EXPECT_TRUE(support::poll_until([&] { return knows.load(); }));
}

TEST(ServerStream, AClientThatStopsReadingIsCut) {
  ServerOptions options;
  options.limits.write_timeout = milliseconds(300);
  std::atomic<bool> ended = false;
  const TestServer server({stream_route([&ended](BodyWriter& body) {
                            while (body.write(std::string(1U << 20U, 'x'))) {
                            }
                            ended = true;
                          })},
                          options);
  RawSocket deaf(server.port());
  deaf.set_small_receive_buffer();
  deaf.send("GET /stream HTTP/1.1\r\nHost: h\r\n\r\n");
  EXPECT_TRUE(support::poll_until([&] { return ended.load(); }));
}

TEST(ServerStream, AThrowLeavesTheAnswerVisiblyIncomplete) {
  const TestServer server({stream_route([](BodyWriter& body) {
    body.write("first");
    throw std::runtime_error("broken");
  })});
  RawSocket socket(server.port());
  socket.send("GET /stream HTTP/1.1\r\nHost: h\r\n\r\n");
  const std::string all = socket.read_all();
  EXPECT_TRUE(all.ends_with("first\r\n")) << all;
}

TEST(ServerStream, IsSentPlainToHttp10) {
  const TestServer server({stream_route([](BodyWriter& body) { body.write("plain"); })});
  RawSocket socket(server.port());
  socket.send("GET /stream HTTP/1.0\r\n\r\n");
  EXPECT_TRUE(socket.read_all().ends_with("\r\n\r\nplain"));
}

TEST(ServerStream, HasNoBodyForHead) {
  std::atomic<bool> was_called = false;
  const TestServer server({stream_route([&was_called](BodyWriter&) { was_called = true; })});
  const RawResponse response =
      raw_exchange(server.port(), "HEAD /stream HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n");
  EXPECT_EQ(response.status, 200);
  EXPECT_FALSE(was_called);
}

}  // namespace
}  // namespace gpuward::http
