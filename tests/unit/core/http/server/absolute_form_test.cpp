// Requests in absolute form (RFC 9112, section 3.2.2), as clients of a proxy send them.
#include <gtest/gtest.h>

#include <string>

#include "core/http/server/health_listener.h"
#include "tests/unit/core/http/server/raw_socket.h"
#include "tests/unit/core/http/test_server.h"

namespace gpuward::http {
namespace {

std::string in_form(const std::string& target, const std::string& rest = "") {
  return "GET " + target + " HTTP/1.1\r\nHost: h\r\n" + rest + "\r\n";
}

Response show_target(const Request& request) {
  return Response::text(200, request.path + "?" + request.query + " " + request.body);
}

class AbsoluteForm : public testing::Test {
 protected:
  [[nodiscard]] std::string own_port() const { return ":" + std::to_string(server_.port()); }

  const TestServer server_{{{"/a", {"GET", "POST"}, show_target}, {"/", {"GET"}, show_target}}};
};

// civetweb closes without an answer if the target names another port than the listener's.
TEST_F(AbsoluteForm, IsAnsweredAsOriginFormWouldBe) {
  for (const std::string scheme : {"http://", "https://", "HTTP://"}) {
    const auto response =
        raw_exchange(server_.port(), in_form(scheme + "h" + own_port() + "/a?x=1&y=%20"));
    EXPECT_EQ(response.status, 200) << scheme;
    EXPECT_EQ(response.body, "/a?x=1&y=%20 ") << scheme;
  }
}

TEST_F(AbsoluteForm, MayHaveABody) {
  const auto response =
      raw_exchange(server_.port(), "POST http://h" + own_port() +
                                       "/a HTTP/1.1\r\nHost: h\r\nContent-Length: 5\r\n\r\nhello");
  EXPECT_EQ(response.body, "/a? hello");
}

TEST_F(AbsoluteForm, IsAnsweredOnAConnectionThatWasUsedBefore) {
  RawSocket socket(server_.port());
  socket.send(in_form("/a"));
  EXPECT_EQ(socket.read_response().status, 200);
  socket.send(in_form("http://h" + own_port() + "/a?x"));
  EXPECT_EQ(socket.read_response().body, "/a?x ");
}

TEST_F(AbsoluteForm, IsRefusedOnceIfItIsMalformed) {
  for (const std::string target : {"http://", "ftp://h/a", "a", "h/a"}) {
    RawSocket socket(server_.port());
    socket.send(in_form(target));
    const std::string answer = socket.read_all();
    EXPECT_TRUE(answer.starts_with("HTTP/1.1 400 ")) << target << ": " << answer;
    EXPECT_EQ(answer.find("HTTP/1.1", 1), std::string::npos) << target << ": " << answer;
  }
  RawSocket socket(server_.port());
  socket.send(in_form("http://h" + own_port() + "/a", "no colon\r\n"));
  const std::string answer = socket.read_all();
  EXPECT_TRUE(answer.starts_with("HTTP/1.1 400 ")) << answer;
  EXPECT_EQ(answer.find("HTTP/1.1", 1), std::string::npos) << answer;
}

TEST(HealthListenerAbsoluteForm, IsAnsweredAsOriginFormWouldBe) {
  const auto listener = HealthListener::start({.listen_addresses = {"127.0.0.1:0"}},
                                              {{"/healthz", {"GET"}, show_target}});
  ASSERT_TRUE(listener) << listener.error().message;
  const int port = (*listener)->ports().front();
  EXPECT_EQ(raw_exchange(port, in_form("http://h:1/healthz")).status, 200);
}

}  // namespace
}  // namespace gpuward::http
