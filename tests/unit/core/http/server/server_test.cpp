#include "core/http/server/server.h"

#include <gtest/gtest.h>

#include <atomic>
#include <mutex>
#include <set>
#include <thread>

#include "tests/support/ports.h"
#include "tests/support/require.h"
#include "tests/unit/core/http/server/raw_socket.h"
#include "tests/unit/core/http/test_server.h"

namespace gpuward::http {
namespace {

ClientResponse send(const ClientRequest& request) {
  CurlClient client;
  auto response = client.send(request);
  EXPECT_TRUE(response) << response.error().message;
  return response ? *response : ClientResponse{};
}

TEST(Server, ServesAGetWithTypeAndLength) {
  const TestServer server({get_route("/metrics", "up 1\n")});
  const ClientResponse response = send(get_request(server.url("/metrics")));
  EXPECT_EQ(response.status, 200);
  EXPECT_EQ(response.body, "up 1\n");
  EXPECT_EQ(response.header("content-type"), "text/plain; charset=utf-8");
  EXPECT_EQ(response.header("Content-Length"), "5");
}

TEST(Server, AnswersHeadWithoutTheBody) {
  const TestServer server({get_route("/metrics", "up 1\n")});
  RawSocket socket(server.port());
  socket.send("HEAD /metrics HTTP/1.1\r\nHost: h\r\n\r\n");
  const RawResponse response = socket.read_response(support::kGenerous, false);
  EXPECT_EQ(response.status, 200);
  EXPECT_TRUE(response.has("Content-Length: 5\r\n"));
  socket.send("GET /metrics HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n");
  EXPECT_TRUE(socket.read_all().starts_with("HTTP/1.1 200 OK")) << "a body came with the HEAD";
}

TEST(Server, GivesTheHandlerTheWholeRequest) {
  Request seen;
  const Handler remember = [&seen](const Request& request) {
    seen = request;
    return Response::text(200, "ok");
  };
  const TestServer server({{"/api/", {"PATCH"}, remember, Access::kOpen, Match::kPrefix}});
  ClientRequest request = post_request(server.url("/api/v1/a%20b/../c?x=1&y=%20"), "{\"a\":1}");
  request.method = "PATCH";
  request.headers = {{"Content-Type", "application/merge-patch+json"}, {"X-Empty", ""}};
  ASSERT_EQ(send(request).status, 200);
  EXPECT_EQ(seen.method, "PATCH");
  EXPECT_EQ(seen.path, "/api/v1/c");
  EXPECT_EQ(seen.query, "x=1&y=%20");
  EXPECT_EQ(seen.body, "{\"a\":1}");
  EXPECT_EQ(seen.peer, "127.0.0.1");
  EXPECT_EQ(seen.header("content-TYPE"), "application/merge-patch+json");
  EXPECT_EQ(seen.header("x-absent"), "");
}

TEST(Server, SaysNotFoundAndNeverRedirects) {
  const TestServer server({get_route("/metrics", "x"), echo_route()});
  for (const char* path :
       {"/", "/metrics/", "/dir", "/dir/", "/metrics//", "//metrics", "/../etc/passwd",
        "/index.html", "/x.cgi", "/x.shtml", "/.htpasswd", "/%2e%2e/%2e%2e/etc/"}) {
    const RawResponse response =
        raw_exchange(server.port(), "GET " + std::string(path) + " HTTP/1.1\r\nHost: h\r\n\r\n");
    EXPECT_EQ(response.status, 404) << path;
    EXPECT_FALSE(response.has("Location")) << path;
  }
}

// CVE-2025-55763: a long run of slashes overflowed civetweb's directory redirect.
TEST(Server, SurvivesALongRunOfSlashes) {
  const TestServer server({get_route("/metrics", "x")});
  const std::string slashes(15'000, '/');
  EXPECT_EQ(raw_exchange(server.port(), "GET " + slashes + " HTTP/1.1\r\nHost: h\r\n\r\n").status,
            404);
  EXPECT_EQ(send(get_request(server.url("/metrics"))).status, 200);
}

TEST(Server, SaysWhichMethodsAreAllowed) {
  const TestServer server({get_route("/metrics", "x"), echo_route()});
  const RawResponse response =
      raw_exchange(server.port(), "POST /metrics HTTP/1.1\r\nHost: h\r\nContent-Length: 0\r\n\r\n");
  EXPECT_EQ(response.status, 405);
  EXPECT_TRUE(response.has("Allow: GET, HEAD\r\n"));
  EXPECT_TRUE(raw_exchange(server.port(), "GET /echo HTTP/1.1\r\nHost: h\r\n\r\n")
                  .has("Allow: POST, PUT, PATCH\r\n"));
}

TEST(Server, SharesItsOriginWithNobody) {
  const TestServer server({get_route("/metrics", "x")});
  const RawResponse preflight =
      raw_exchange(server.port(),
                   "OPTIONS /metrics HTTP/1.1\r\nHost: h\r\nOrigin: http://evil\r\n"
                   "Access-Control-Request-Method: GET\r\n\r\n");
  EXPECT_EQ(preflight.status, 405);
  const RawResponse plain = raw_exchange(
      server.port(), "GET /metrics HTTP/1.1\r\nHost: h\r\nOrigin: http://evil\r\n\r\n");
  EXPECT_EQ(plain.status, 200);
  EXPECT_FALSE(plain.has("Access-Control"));
}

TEST(Server, DoesNotSwitchToWebsockets) {
  const TestServer server({get_route("/metrics", "x")});
  const RawResponse response = raw_exchange(
      server.port(),
      "GET /metrics HTTP/1.1\r\nHost: h\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
      "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n\r\n");
  EXPECT_EQ(response.status, 200);
}

TEST(Server, TurnsAThrowIntoA500ThatTellsNothing) {
  const Handler broken = [](const Request&) -> Response {
    throw std::runtime_error("secret detail");
  };
  std::string problem;
  ServerOptions options;
  options.on_problem = [&problem](const std::string& text) { problem = text; };
  const TestServer server({{"/broken", {"GET"}, broken}, get_route("/ok", "x")}, options);
  const ClientResponse response = send(get_request(server.url("/broken")));
  EXPECT_EQ(response.status, 500);
  EXPECT_EQ(response.body, "Internal Server Error\n");
  EXPECT_NE(problem.find("secret detail"), std::string::npos);
  EXPECT_EQ(send(get_request(server.url("/ok"))).status, 200);
}

TEST(Server, KeepsAConnectionForManyRequests) {
  const TestServer server({get_route("/metrics", "x")});
  RawSocket socket(server.port());
  for (int i = 0; i < 50; ++i) {
    socket.send("GET /metrics HTTP/1.1\r\nHost: h\r\n\r\n");
    ASSERT_EQ(socket.read_response().status, 200) << i;
  }
}

TEST(Server, AnswersPipelinedRequestsInOrder) {
  const TestServer server({get_route("/a", "aaa"), get_route("/b", "bbb")});
  RawSocket socket(server.port());
  socket.send("GET /a HTTP/1.1\r\nHost: h\r\n\r\nGET /b HTTP/1.1\r\nHost: h\r\n\r\n");
  EXPECT_EQ(socket.read_response().body, "aaa");
  EXPECT_EQ(socket.read_response().body, "bbb");
}

TEST(Server, ClosesIfTheClientWantsIt) {
  const TestServer server({get_route("/a", "aaa")});
  RawSocket socket(server.port());
  socket.send("GET /a HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n");
  EXPECT_TRUE(socket.read_response().has("Connection: close"));
  EXPECT_TRUE(socket.is_closed_within());
}

TEST(Server, ServesHttp10) {
  const TestServer server({get_route("/a", "aaa")});
  RawSocket socket(server.port());
  socket.send("GET /a HTTP/1.0\r\n\r\n");
  EXPECT_TRUE(socket.read_all().ends_with("\r\n\r\naaa"));
}

TEST(Server, SendsLargeBodiesWhole) {
  const std::string large(20U << 20U, 'x');
  const TestServer server({get_route("/large", large)});
  EXPECT_EQ(send(get_request(server.url("/large"))).body, large);
}

// These are fewer connections than make a server cut those of one address: room_test.cpp.
TEST(Server, ServesManyClientsAtOnce) {
  constexpr int kClients = 50;
  const TestServer server({get_route("/metrics", std::string(100'000, 'x')), echo_route()});
  CurlClient client;
  std::atomic<int> good = 0;
  {
    std::vector<std::jthread> threads;
    for (int i = 0; i < kClients; ++i) {
      threads.emplace_back([&, i] {
        const std::string body(static_cast<std::size_t>(i) * 100, 'y');
        auto scrape = get_request(server.url("/metrics"));
        auto echo = post_request(server.url("/echo"), body);
        scrape.timeout = echo.timeout = std::chrono::seconds(60);
        const auto scraped = client.send(scrape);
        const auto echoed = client.send(echo);
        if (scraped && scraped->body.size() == 100'000 && echoed && echoed->body == body) ++good;
      });
    }
  }
  EXPECT_EQ(good, kClients);
}

std::string why_no_ipv6() {
  ServerOptions options;
  options.listen_addresses = {"[::1]:0"};
  return Server::start(options, {}) ? "" : "this machine has no IPv6 loopback";
}

TEST(Server, ListensOnIpv6AndOnEveryAddress) {
  GPUWARD_REQUIRE(why_no_ipv6());
  ServerOptions options;
  options.listen_addresses = {"[::1]:0", "127.0.0.1:0", ":0"};
  std::string peer;
  const Handler remember = [&peer](const Request& request) {
    peer = request.peer;
    return Response::text(200, "ok");
  };
  TestServer server({{"/", {"GET"}, remember}}, options);
  const std::vector<int>& ports = server.get().ports();
  ASSERT_EQ(ports.size(), 3U);
  EXPECT_EQ(send(get_request("http://[::1]:" + std::to_string(ports[0]) + "/")).status, 200);
  EXPECT_EQ(peer, "::1");
  EXPECT_EQ(send(get_request("http://127.0.0.1:" + std::to_string(ports[1]) + "/")).status, 200);
  EXPECT_EQ(send(get_request("http://127.0.0.1:" + std::to_string(ports[2]) + "/")).status, 200);
  EXPECT_EQ(peer, "127.0.0.1");
  EXPECT_EQ(send(get_request("http://[::1]:" + std::to_string(ports[2]) + "/")).status, 200);
}

TEST(Server, SaysThatAPortIsTaken) {
  const TestServer first({get_route("/", "x")});
  ServerOptions options;
  options.listen_addresses = {"127.0.0.1:" + std::to_string(first.port())};
  const auto second = Server::start(options, {get_route("/", "x")});
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error().kind, ErrorKind::kUnavailable);
  EXPECT_NE(second.error().message.find(options.listen_addresses.front()), std::string::npos);
  EXPECT_NE(second.error().message.find("in use"), std::string::npos) << second.error().message;
}

TEST(Server, GivesItsPortBackWhenItEnds) {
  ServerOptions options;
  options.listen_addresses = {"127.0.0.1:" + std::to_string(support::free_port())};
  for (int i = 0; i < 3; ++i) {
    const TestServer server({get_route("/", "x")}, options);
    EXPECT_EQ(send(get_request(server.url("/"))).status, 200);
  }
}

TEST(Server, RefusesOptionsThatCannotWork) {
  const auto refusal = [](const ServerOptions& options) {
    const auto server = Server::start(options, {});
    return server ? std::string("started") : server.error().message;
  };
  ServerOptions options;
  EXPECT_NE(refusal(options).find("listen address"), std::string::npos);
  options.listen_addresses = {"node.example:80"};
  EXPECT_NE(refusal(options).find("node.example"), std::string::npos);
  options.listen_addresses = {"127.0.0.1:0"};
  options.tls.certificate_file = "/nowhere.pem";
  EXPECT_NE(refusal(options).find("key_file"), std::string::npos);
  options.tls.key_file = "/nowhere.key";
  EXPECT_NE(refusal(options).find("/nowhere.pem"), std::string::npos);
}

}  // namespace
}  // namespace gpuward::http
