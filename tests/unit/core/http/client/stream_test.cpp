#include <gtest/gtest.h>

#include <atomic>
#include <thread>

#include "tests/support/quickest.h"
#include "tests/support/wait.h"
#include "tests/unit/core/http/client/raw_server.h"
#include "tests/unit/core/http/test_server.h"

namespace gpuward::http {
namespace {

using std::chrono::milliseconds;
using Clock = std::chrono::steady_clock;

Route stream_route(std::function<void(BodyWriter&)> stream, int status = 200) {
  const Handler handler = [stream = std::move(stream), status](const Request&) {
    Response response;
    response.status = status;
    response.stream = stream;
    return response;
  };
  return {"/watch", {"GET"}, handler};
}

void wait_for_end(BodyWriter& body) {
  (void)support::poll_until([&] { return !body.write(""); });
}

bool ignore(std::string_view) { return true; }

TEST(ClientStream, GivesPiecesAsTheyCome) {
  std::atomic<bool> has_first = false;
  const TestServer server({stream_route([&has_first](BodyWriter& body) {
    body.write("first\n");
    (void)support::poll_until([&] { return has_first.load(); });
    body.write("second\n");
  })});
  std::string seen;
  const auto response =
      CurlClient().stream(get_request(server.url("/watch")), support::kGenerousRequest, {},
                          [&](std::string_view bytes) {
                            seen += bytes;
                            has_first = true;
                            return true;
                          });
  ASSERT_TRUE(response) << response.error().message;
  EXPECT_EQ(response->status, 200);
  EXPECT_EQ(response->body, "");
  EXPECT_EQ(seen, "first\nsecond\n");
}

TEST(ClientStream, EndsIfTheCallerHasEnough) {
  const TestServer server({stream_route([](BodyWriter& body) {
    body.write("first\n");
    wait_for_end(body);
  })});
  // A stream that did not end here would end with the idle time-out, which is an error.
  const auto response =
      CurlClient().stream(get_request(server.url("/watch")), support::kGenerousRequest, {},
                          [](std::string_view) { return false; });
  ASSERT_TRUE(response) << response.error().message;
  EXPECT_EQ(response->status, 200);
}

TEST(ClientStream, CollectsTheBodyOfAFailure) {
  const TestServer server(
      {stream_route([](BodyWriter& body) { body.write("{\"code\":410}"); }, 410)});
  bool was_called = false;
  const auto response =
      CurlClient().stream(get_request(server.url("/watch")), support::kGenerousRequest, {},
                          [&](std::string_view) { return was_called = true; });
  ASSERT_TRUE(response);
  EXPECT_EQ(response->status, 410);
  EXPECT_EQ(response->body, "{\"code\":410}");
  EXPECT_FALSE(was_called);
}

// A refusal is short. The client gives up one that never ends, even if data keeps coming.
TEST(ClientStream, ARefusalThatDoesNotEndIsATimeout) {
  const TestServer server({stream_route(
      [](BodyWriter& body) { (void)support::poll_until([&] { return !body.write("x"); }); }, 403)});
  const auto response =
      CurlClient().stream(get_request(server.url("/watch")), milliseconds(200), {}, ignore);
  ASSERT_FALSE(response);
  EXPECT_EQ(response.error().kind, ErrorKind::kTimeout);
}

TEST(ClientStream, StopsWithin100Milliseconds) {
  const TestServer server({stream_route([](BodyWriter& body) {
    body.write("first\n");
    wait_for_end(body);
  })});
  const auto once = [&] {
    std::stop_source stop;
    std::atomic<Clock::time_point> stopped_at{};
    std::atomic<bool> has_first = false;
    const std::jthread stopper([&] {
      (void)support::poll_until([&] { return has_first.load(); });
      stopped_at = Clock::now();
      stop.request_stop();
    });
    const auto response =
        CurlClient().stream(get_request(server.url("/watch")), support::kGenerousRequest,
                            stop.get_token(), [&](std::string_view) { return has_first = true; });
    const auto took = Clock::now() - stopped_at.load();
    EXPECT_TRUE(!response && response.error().kind == ErrorKind::kCancelled);
    return took;
  };
  EXPECT_LT(support::quickest_of(milliseconds(100), once), milliseconds(100));
}

TEST(ClientStream, DoesNotStartWhenAlreadyStopped) {
  RawServer server({""});
  std::stop_source stop;
  stop.request_stop();
  const auto response = CurlClient().stream(get_request(server.url("/")), support::kGenerousRequest,
                                            stop.get_token(), ignore);
  ASSERT_FALSE(response);
  EXPECT_EQ(response.error().kind, ErrorKind::kCancelled);
}

TEST(ClientStream, SilenceIsATimeout) {
  const TestServer server({stream_route([](BodyWriter& body) {
    body.write("first\n");
    wait_for_end(body);
  })});
  const auto response =
      CurlClient().stream(get_request(server.url("/watch")), milliseconds(200), {}, ignore);
  ASSERT_FALSE(response);
  EXPECT_EQ(response.error().kind, ErrorKind::kTimeout);
  EXPECT_NE(response.error().message.find("200 ms"), std::string::npos) << response.error().message;
}

TEST(ClientStream, LastsLongerThanTheTimeoutOfItsHeader) {
  const TestServer server({stream_route([](BodyWriter& body) {
    for (int i = 0; i < 10; ++i) {
      body.write("x");
      (void)support::poll_until([] { return false; }, milliseconds(300));
    }
  })});
  ClientRequest request = get_request(server.url("/watch"));
  request.timeout = milliseconds(2'000);
  std::string seen;
  const auto response =
      CurlClient().stream(request, support::kGenerousRequest, {}, [&](std::string_view bytes) {
        seen += bytes;
        return true;
      });
  ASSERT_TRUE(response) << response.error().message;
  EXPECT_EQ(seen.size(), 10U);
}

TEST(ClientStream, AHeaderThatDoesNotComeIsATimeout) {
  RawServer server({""});
  ClientRequest request = get_request(server.url("/"));
  request.timeout = milliseconds(200);
  const auto response = CurlClient().stream(request, 2 * support::kGenerous, {}, ignore);
  ASSERT_FALSE(response);
  EXPECT_EQ(response.error().kind, ErrorKind::kTimeout);
}

TEST(ClientStream, AThrowingCallerEndsItWithAnError) {
  const TestServer server({stream_route([](BodyWriter& body) { body.write("first\n"); })});
  const auto response =
      CurlClient().stream(get_request(server.url("/watch")), support::kGenerousRequest, {},
                          [](std::string_view) -> bool { throw std::runtime_error("broken"); });
  ASSERT_FALSE(response);
  EXPECT_EQ(response.error().kind, ErrorKind::kInternal);
}

}  // namespace
}  // namespace gpuward::http
