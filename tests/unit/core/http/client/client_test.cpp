#include "core/http/client/client.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <thread>

#include "tests/support/ports.h"
#include "tests/support/wait.h"
#include "tests/unit/core/http/client/raw_server.h"
#include "tests/unit/core/http/test_server.h"

namespace gpuward::http {
namespace {

using std::chrono::milliseconds;

std::string raw_answer(const std::string& body) {
  return "HTTP/1.1 200 OK\r\nContent-Length: " + std::to_string(body.size()) + "\r\n\r\n" + body;
}

TEST(Client, SendsMethodHeadersAndBody) {
  RawServer server({raw_answer("ok")});
  ClientRequest request = post_request(server.url("/a?b=c"), "{}");
  request.method = "PATCH";
  request.headers = {{"Content-Type", "application/merge-patch+json"}, {"X-Empty", ""}};
  ASSERT_TRUE(CurlClient().send(request));
  const std::string sent = server.received();
  EXPECT_TRUE(sent.starts_with("PATCH /a?b=c HTTP/1.1\r\n")) << sent;
  EXPECT_NE(sent.find("Content-Type: application/merge-patch+json\r\n"), std::string::npos);
  EXPECT_NE(sent.find("Content-Length: 2\r\n"), std::string::npos);
  EXPECT_NE(sent.find("X-Empty:"), std::string::npos);
  EXPECT_EQ(sent.find("Expect"), std::string::npos);
  EXPECT_TRUE(sent.ends_with("\r\n\r\n{}"));
}

TEST(Client, KeepsHeadersThatComeAfterTheBodyApart) {
  RawServer server(
      {"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n"
       "X-Sum: 7\r\n\r\n"});

  const auto response = CurlClient().send(get_request(server.url("/")));

  ASSERT_TRUE(response.has_value()) << response.error().message;
  EXPECT_EQ(response->body, "ok");
  EXPECT_EQ(response->trailer("x-sum"), "7");
  EXPECT_EQ(response->header("x-sum"), "");
}

TEST(Client, ConnectsToAUnixSocketWhereverTheUrlPoints) {
  RawServer server({raw_answer("ok")});
  ClientRequest request = get_request(server.url("/"));
  request.unix_socket = "/nonexistent/socket";

  const auto response = CurlClient().send(request);

  ASSERT_FALSE(response.has_value());
  EXPECT_EQ(response.error().kind, ErrorKind::kUnavailable);
  EXPECT_TRUE(response.error().message.starts_with("GET /nonexistent/socket: "))
      << response.error().message;
  EXPECT_EQ(server.connections(), 0);
}

TEST(Client, InventsNoContentType) {
  RawServer server({raw_answer("ok")});
  ASSERT_TRUE(CurlClient().send(post_request(server.url("/"), "body")));
  EXPECT_EQ(server.received().find("Content-Type"), std::string::npos);
}

TEST(Client, SendsALengthWithAnEmptyPost) {
  RawServer server({raw_answer("ok")});
  ASSERT_TRUE(CurlClient().send(post_request(server.url("/"), "")));
  EXPECT_NE(server.received().find("Content-Length: 0\r\n"), std::string::npos);
}

TEST(Client, ReadsStatusHeadersAndBody) {
  RawServer server({"HTTP/1.1 404 Not Found\r\nX-A: 1\r\nx-a: 2\r\nContent-Length: 3\r\n\r\nabc"});
  const auto response = CurlClient().send(get_request(server.url("/")));
  ASSERT_TRUE(response) << response.error().message;
  EXPECT_EQ(response->status, 404);
  EXPECT_EQ(response->header("X-a"), "1");
  EXPECT_EQ(response->headers.size(), 3U);
  EXPECT_EQ(response->body, "abc");
}

TEST(Client, HeadHasNoBody) {
  const TestServer server({get_route("/", "hello")});
  ClientRequest request = get_request(server.url("/"));
  request.method = "HEAD";
  const auto response = CurlClient().send(request);
  ASSERT_TRUE(response);
  EXPECT_EQ(response->header("Content-Length"), "5");
  EXPECT_EQ(response->body, "");
}

TEST(Client, DeletesWithABody) {
  std::string seen;
  const Handler remember = [&seen](const Request& request) {
    seen = request.method + " " + request.body;
    return Response::text(200, "");
  };
  const TestServer server({{"/x", {"DELETE"}, remember}});
  ClientRequest request = post_request(server.url("/x"), "{\"gracePeriodSeconds\":30}");
  request.method = "DELETE";
  ASSERT_TRUE(CurlClient().send(request));
  EXPECT_EQ(seen, "DELETE {\"gracePeriodSeconds\":30}");
}

TEST(Client, FollowsNoRedirect) {
  RawServer server({"HTTP/1.1 302 Found\r\nLocation: /elsewhere\r\nContent-Length: 0\r\n\r\n"});
  const auto response = CurlClient().send(get_request(server.url("/")));
  ASSERT_TRUE(response);
  EXPECT_EQ(response->status, 302);
  EXPECT_EQ(server.received().find("elsewhere"), std::string::npos);
}

TEST(Client, ReusesItsConnection) {
  RawServer server({raw_answer("a"), raw_answer("b"), raw_answer("c")});
  CurlClient client;
  for (int i = 0; i < 3; ++i) ASSERT_TRUE(client.send(get_request(server.url("/"))));
  EXPECT_EQ(server.connections(), 1);
}

std::size_t posts_in(const std::string& received) {
  std::size_t count = 0;
  for (auto at = received.find("POST "); at != std::string::npos;
       at = received.find("POST ", at + 1))
    ++count;
  return count;
}

// If a reused connection ends without an answer, curl assumes that it had ended before, and sends
// again.
TEST(Client, SendsOnceIfItHasAConnectionOfItsOwn) {
  for (const auto& [own_connection, sent] : {std::pair(true, 2U), std::pair(false, 3U)}) {
    RawServer server({raw_answer("a")});
    CurlClient client;
    ClientRequest request = get_request(server.url("/"));
    request.method = "POST";
    request.own_connection = own_connection;
    ASSERT_TRUE(client.send(request));
    EXPECT_EQ(client.send(request).error().kind, ErrorKind::kUnavailable);
    EXPECT_EQ(posts_in(server.received()), sent);
  }
}

TEST(Client, IsUsedByManyThreads) {
  const TestServer server({get_route("/", "hello")});
  CurlClient client;
  std::atomic<int> good = 0;
  {
    std::vector<std::jthread> threads;
    for (int i = 0; i < 16; ++i) {
      threads.emplace_back([&] {
        for (int j = 0; j < 20; ++j) {
          if (const auto got = client.send(get_request(server.url("/")));
              got && got->body == "hello")
            ++good;
        }
      });
    }
  }
  EXPECT_EQ(good, 320);
}

TEST(Client, SaysThatTheConnectionIsRefused) {
  const std::string port = std::to_string(support::free_port());
  const auto response =
      CurlClient().send(get_request("http://127.0.0.1:" + port + "/a?token=secret"));
  ASSERT_FALSE(response);
  EXPECT_EQ(response.error().kind, ErrorKind::kUnavailable);
  EXPECT_TRUE(response.error().message.starts_with("GET 127.0.0.1:" + port + ": "));
  EXPECT_EQ(response.error().message.find("secret"), std::string::npos);
}

TEST(Client, TellsNoSecretOfTheUrlOrTheHeaders) {
  ClientRequest request = get_request("http://user:hunter2@127.0.0.1:1/path?token=hunter2");
  request.headers = {{"Authorization", "Bearer hunter2"}};
  const auto response = CurlClient().send(request);
  ASSERT_FALSE(response);
  EXPECT_EQ(response.error().message.find("hunter2"), std::string::npos)
      << response.error().message;
}

TEST(Client, GivesUpAfterItsTimeout) {
  RawServer server({""});
  ClientRequest request = get_request(server.url("/"));
  request.timeout = milliseconds(200);
  const auto response = CurlClient().send(request);
  ASSERT_FALSE(response);
  EXPECT_EQ(response.error().kind, ErrorKind::kTimeout) << response.error().message;
  EXPECT_NE(response.error().message.find("200 ms"), std::string::npos) << response.error().message;
}

TEST(Client, ATricklingAnswerDoesNotOutliveTheTimeout) {
  const Handler trickle = [](const Request&) {
    Response response;
    response.stream = [](BodyWriter& body) {
      (void)support::poll_until([&] { return !body.write("x"); });
    };
    return response;
  };
  const TestServer server({{"/", {"GET"}, trickle}});
  ClientRequest request = get_request(server.url("/"));
  request.timeout = milliseconds(300);
  const auto response = CurlClient().send(request);
  ASSERT_FALSE(response);
  EXPECT_EQ(response.error().kind, ErrorKind::kTimeout);
}

TEST(Client, CapsTheAnswer) {
  const TestServer server({get_route("/", std::string(1000, 'x'))});
  ClientRequest request = get_request(server.url("/"));
  request.max_response_bytes = 999;
  const auto response = CurlClient().send(request);
  ASSERT_FALSE(response);
  EXPECT_EQ(response.error().kind, ErrorKind::kTooLarge);
  request.max_response_bytes = 1000;
  EXPECT_TRUE(CurlClient().send(request));
}

TEST(Client, CapsTheAnswersHeader) {
  std::string answer = "HTTP/1.1 200 OK\r\n";
  for (int i = 0; i < 400; ++i)
    answer += "X-" + std::to_string(i) + ": " + std::string(1000, 'h') + "\r\n";
  RawServer server({answer + "\r\n"});
  const auto response = CurlClient().send(get_request(server.url("/")));
  ASSERT_FALSE(response);
  EXPECT_EQ(response.error().kind, ErrorKind::kTooLarge) << response.error().message;
}

TEST(Client, ABrokenAnswerIsUnavailable) {
  for (const char* answer :
       {"nonsense\r\n\r\n", "HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nshort"}) {
    RawServer server({answer}, RawServer::Ending::kClose);
    const auto response = CurlClient().send(get_request(server.url("/")));
    ASSERT_FALSE(response) << answer;
    EXPECT_EQ(response.error().kind, ErrorKind::kUnavailable) << response.error().message;
  }
}

TEST(Client, RefusesWhatIsNoHttpUrl) {
  for (const char* url : {"", "not a url", "file:///etc/passwd", "ftp://h/", "http://",
                          "http://h/a b", "http://h/\nx", "gopher://h/"}) {
    const auto response = CurlClient().send(get_request(url));
    ASSERT_FALSE(response) << url;
    EXPECT_EQ(response.error().kind, ErrorKind::kInvalid) << url << response.error().message;
  }
}

TEST(Client, RefusesHeadersThatWouldSplitTheRequest) {
  ClientRequest request = get_request("http://127.0.0.1:1/");
  request.headers = {{"X", "a\r\nY: b"}};
  EXPECT_EQ(CurlClient().send(request).error().kind, ErrorKind::kInvalid);
  request.headers = {{"X\n", "a"}};
  EXPECT_EQ(CurlClient().send(request).error().kind, ErrorKind::kInvalid);
  request.headers.clear();
  request.method = "GET /x HTTP/1.1\r\n";
  EXPECT_EQ(CurlClient().send(request).error().kind, ErrorKind::kInvalid);
}

}  // namespace
}  // namespace gpuward::http
