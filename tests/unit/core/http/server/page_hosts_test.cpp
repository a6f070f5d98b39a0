#include "core/http/server/page_hosts.h"

#include <gmock/gmock.h>
#include <unistd.h>

#include <array>

#include "tests/unit/core/http/server/raw_socket.h"
#include "tests/unit/core/http/test_server.h"

namespace gpuward::http {
namespace {

TEST(PageHosts, AreAddressesAndNamesThatStrangersCannotHave) {
  const PageHosts hosts({"gpuward.example", "Gpu-7.Example.com."});
  for (const char* host :
       {"10.0.0.7:10982", "127.0.0.1", "[::1]:10982", "[fd00::7]", "localhost:10982", "LOCALHOST.",
        "gpuward.localhost:8080", "gpuward-remediator.gpuward.svc:10982", "x.y.svc.cluster.local",
        "gpuward.example", "GPUWARD.example:443", "gpu-7.example.com:10980", ""}) {
    EXPECT_TRUE(hosts.accepts(host)) << host;
  }
}

TEST(PageHosts, AreNoOtherNames) {
  const PageHosts hosts({"gpuward.example"});
  for (const char* host :
       {"evil.example", "evil.example:10982", "10.0.0.7.evil.example",
        "gpuward.example.evil.example", "x.gpuward.example", "evil-gpuward.example",
        "localhost.evil.example", "evilsvc", "x.svc.evil.example", "evil.cluster.local", "svc",
        "h h", "user@localhost", "127.1"}) {
    EXPECT_FALSE(hosts.accepts(host)) << host;
  }
}

TEST(PageHosts, AreTheMachinesOwnName) {
  std::array<char, 256> name{};
  ASSERT_EQ(gethostname(name.data(), name.size() - 1), 0);
  EXPECT_TRUE(PageHosts({}).accepts(std::string(name.data()) + ":10980"));
}

TEST(PageHosts, AreAllIfOneIsAStar) {
  EXPECT_TRUE(PageHosts({"*"}).accepts("evil.example"));
  EXPECT_FALSE(PageHosts({"*.example"}).accepts("evil.example"));
}

class ServerOfPages : public testing::Test {
 protected:
  [[nodiscard]] int status_of(const std::string& target, const std::string& host) const {
    return raw_exchange(server_.port(), "GET " + target + " HTTP/1.1\r\nHost: " + host + "\r\n\r\n")
        .status;
  }

  static Route page(Access access = Access::kOpen) {
    Route route = get_route(access == Access::kOpen ? "/" : "/private", "page", access);
    route.audience = Audience::kBrowsers;
    return route;
  }

  static ServerOptions with_a_name() {
    ServerOptions options;
    options.page_hosts = {"gpuward.example"};
    return options;
  }

  const TestServer server_{{page(), page(Access::kAuthenticated), get_route("/metrics", "x")},
                           with_a_name()};
};

TEST_F(ServerOfPages, RefusesPagesUnderAForeignName) {
  const RawResponse refused =
      raw_exchange(server_.port(), "GET / HTTP/1.1\r\nHost: evil.example:80\r\n\r\n");
  EXPECT_EQ(refused.status, 421);
  EXPECT_TRUE(refused.has("HTTP/1.1 421 Misdirected Request\r\n"));
  EXPECT_EQ(refused.body,
            "Pages are not served under the name evil.example:80. Open this page by the address of "
            "the server or as localhost, or add the name to --web.hosts.\n");
  EXPECT_EQ(status_of("/", "gpuward.example"), 200);
  EXPECT_EQ(status_of("/", "127.0.0.1:1"), 200);
}

TEST_F(ServerOfPages, RefusesAForeignNameBeforeItAsksForCredentials) {
  EXPECT_EQ(status_of("/private", "evil.example"), 421);
  EXPECT_EQ(status_of("/private", "localhost"), 401);
}

TEST_F(ServerOfPages, ServesProgramsUnderEachName) {
  EXPECT_EQ(status_of("/metrics", "gpu-7.rack-1.example"), 200);
}

// RFC 9112, section 3.2.2: the host of the target counts, and not the field.
TEST_F(ServerOfPages, GoesByTheHostOfAnAbsoluteTarget) {
  const std::string port = ":" + std::to_string(server_.port());
  EXPECT_EQ(status_of("http://evil.example" + port + "/", "localhost"), 421);
  EXPECT_EQ(status_of("http://localhost" + port + "/", "evil.example"), 200);
}

TEST_F(ServerOfPages, QuotesNothingThatCouldBeMoreThanAName) {
  const RawResponse refused =
      raw_exchange(server_.port(),
                   "GET / HTTP/1.1\r\nHost: <b>\xe2\x80\xae" + std::string(500, 'x') + "\r\n\r\n");
  EXPECT_EQ(refused.status, 421);
  EXPECT_LT(refused.body.size(), 400U);
  EXPECT_THAT(refused.body, testing::Not(testing::HasSubstr("\xe2\x80\xae")));
  EXPECT_TRUE(refused.has("Content-Type: text/plain; charset=utf-8\r\n"));
}

TEST_F(ServerOfPages, AnswersHttp10WithoutAHost) {
  EXPECT_EQ(raw_exchange(server_.port(), "GET / HTTP/1.0\r\n\r\n").status, 200);
}

}  // namespace
}  // namespace gpuward::http
