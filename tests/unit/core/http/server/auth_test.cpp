// Routes that require a credential.
#include <crypt.h>
#include <gtest/gtest.h>

#include "core/http/server/authenticator.h"
#include "core/runtime/encoding.h"
#include "tests/support/temp_dir.h"
#include "tests/unit/core/http/server/raw_socket.h"
#include "tests/unit/core/http/test_server.h"

namespace gpuward::http {
namespace {

constexpr const char* kToken = "token-with-more-than-16";

std::string crypt_of(const std::string& password) {
  crypt_data data{};
  const std::string setting =
      crypt_gensalt_rn("$2b$", 4, nullptr, 0, data.output, sizeof data.output);
  crypt_data scratch{};
  return crypt_r(password.c_str(), setting.c_str(), &scratch);
}

std::vector<Route> routes() {
  const Handler whoami = [](const Request& request) {
    return Response::text(200, "you are " + request.subject);
  };
  return {{"/private", {"GET", "POST"}, whoami, Access::kAuthenticated},
          get_route("/healthz", "ok")};
}

RawResponse get(int port, const std::string& authorization) {
  const std::string header =
      authorization.empty() ? "" : "Authorization: " + authorization + "\r\n";
  return raw_exchange(port, "GET /private HTTP/1.1\r\nHost: h\r\n" + header + "\r\n");
}

class ServerAuthentication : public testing::Test {
 protected:
  ServerOptions with_bearer() {
    ServerOptions options;
    options.auth.bearer_token_files = {folder_.write("token", kToken)};
    return options;
  }
  ServerOptions with_basic() {
    ServerOptions options;
    options.auth.basic_users_file = folder_.write("users", "alice:" + crypt_of("wonder:land"));
    return options;
  }

  support::TempDir folder_;
};

TEST_F(ServerAuthentication, RefusesEverybodyIfNothingIsConfigured) {
  const TestServer server(routes());
  EXPECT_EQ(get(server.port(), "").status, 401);
  EXPECT_EQ(get(server.port(), "Bearer x").status, 401);
  EXPECT_EQ(raw_exchange(server.port(), "GET /healthz HTTP/1.1\r\nHost: h\r\n\r\n").status, 200);
}

TEST_F(ServerAuthentication, TakesNoSubjectForAVerifiedCertificate) {
  ServerOptions options;
  options.tls.client_ca_file = folder_ / "ca.crt";
  const auto authenticator = Authenticator::create(options);
  ASSERT_TRUE(authenticator);
  Request request;
  request.subject = "CN=prometheus";
  EXPECT_FALSE((*authenticator)->authenticate(request));
  request.subject.clear();
  request.has_verified_certificate = true;
  EXPECT_TRUE((*authenticator)->authenticate(request));
}

TEST_F(ServerAuthentication, AcceptsTheBearerToken) {
  const TestServer server(routes(), with_bearer());
  EXPECT_EQ(get(server.port(), std::string("Bearer ") + kToken).status, 200);
  EXPECT_EQ(get(server.port(), std::string("bearer  ") + kToken).status, 200);
}

TEST_F(ServerAuthentication, RefusesOtherCredentialsAndSaysHowToCome) {
  const TestServer server(routes(), with_bearer());
  for (const std::string& wrong :
       {std::string(), std::string("Bearer"), std::string("Bearer "),
        std::string("Bearer wrong-token-of-length"), std::string(kToken),
        std::string("Basic ") + kToken, "Bearer " + std::string(kToken) + " x",
        "Bearer " + std::string(10'000, 'x')}) {
    const RawResponse response = get(server.port(), wrong);
    EXPECT_EQ(response.status, 401) << wrong;
    EXPECT_TRUE(response.has("WWW-Authenticate: Bearer realm=\"gpuward\"\r\n"));
    EXPECT_FALSE(response.has("Basic"));
    EXPECT_EQ(response.body, "valid credentials are required\n");
  }
}

TEST_F(ServerAuthentication, RefusesTwoAuthorizations) {
  const TestServer server(routes(), with_bearer());
  const std::string good = std::string("Authorization: Bearer ") + kToken + "\r\n";
  EXPECT_EQ(raw_exchange(server.port(), "GET /private HTTP/1.1\r\nHost: h\r\n" + good +
                                            "Authorization: Bearer other\r\n\r\n")
                .status,
            401);
}

TEST_F(ServerAuthentication, FollowsARotatedToken) {
  const TestServer server(routes(), with_bearer());
  folder_.write("token", "another-token-of-this-length");
  EXPECT_EQ(get(server.port(), "Bearer another-token-of-this-length").status, 200);
  EXPECT_EQ(get(server.port(), std::string("Bearer ") + kToken).status, 401);
}

TEST_F(ServerAuthentication, AcceptsAUserAndNamesIt) {
  const TestServer server(routes(), with_basic());
  EXPECT_EQ(get(server.port(), "Basic " + encode_base64("alice:wonder:land")).body,
            "you are alice");
}

TEST_F(ServerAuthentication, RefusesWrongUsersAndBrokenBase64) {
  const TestServer server(routes(), with_basic());
  using namespace std::string_literals;
  for (const std::string& wrong :
       {"Basic " + encode_base64("alice:wrong"), "Basic " + encode_base64("bob:wonder:land"),
        "Basic " + encode_base64("alice"), "Basic " + encode_base64("alice:wonder:land\0x"s),
        "Basic !!!!"s, "Basic "s, "Bearer " + encode_base64("alice:wonder:land")}) {
    const RawResponse response = get(server.port(), wrong);
    EXPECT_EQ(response.status, 401) << wrong;
    EXPECT_TRUE(response.has("WWW-Authenticate: Basic realm=\"gpuward\"\r\n"));
  }
}

TEST_F(ServerAuthentication, AnyConfiguredWayWorks) {
  ServerOptions options = with_basic();
  options.auth.bearer_token_files = with_bearer().auth.bearer_token_files;
  const TestServer server(routes(), options);
  EXPECT_EQ(get(server.port(), "Basic " + encode_base64("alice:wonder:land")).status, 200);
  EXPECT_EQ(get(server.port(), std::string("Bearer ") + kToken).status, 200);
  EXPECT_TRUE(get(server.port(), "").has("Bearer realm"));
  EXPECT_TRUE(get(server.port(), "").has("Basic realm"));
}

TEST_F(ServerAuthentication, RefusesBeforeItReadsABody) {
  const TestServer server(routes(), with_bearer());
  RawSocket socket(server.port());
  socket.send("POST /private HTTP/1.1\r\nHost: h\r\nContent-Length: 1000000\r\n\r\n");
  EXPECT_EQ(socket.read_response().status, 401);
}

TEST_F(ServerAuthentication, DoesNotStartWithUnusableFiles) {
  ServerOptions options;
  options.listen_addresses = {"127.0.0.1:0"};
  options.auth.bearer_token_files = {folder_.write("token", "short")};
  const auto server = Server::start(options, routes());
  ASSERT_FALSE(server);
  EXPECT_EQ(server.error().kind, ErrorKind::kInvalid);
  EXPECT_NE(server.error().message.find("token:1"), std::string::npos) << server.error().message;
}

}  // namespace
}  // namespace gpuward::http
