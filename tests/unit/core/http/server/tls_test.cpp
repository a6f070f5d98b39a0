#include <gtest/gtest.h>

#include "tests/support/certificates.h"
#include "tests/support/quickest.h"
#include "tests/support/temp_dir.h"
#include "tests/unit/core/http/server/raw_socket.h"
#include "tests/unit/core/http/test_server.h"

namespace gpuward::http {
namespace {

using support::CertificateAuthority;
using support::KeyedCertificate;

class ServerTlsTest : public testing::Test {
 protected:
  ServerOptions options() {
    ServerOptions options;
    install(authority_.issue_server({"localhost", "127.0.0.1"}));
    options.tls.certificate_file = folder_ / "tls.crt";
    options.tls.key_file = folder_ / "tls.key";
    options.on_problem = [this](const std::string& text) { problem_ = text; };
    return options;
  }

  ServerOptions mutual_options() {
    ServerOptions made = options();
    made.tls.client_ca_file = folder_.write("ca.crt", authority_.certificate_pem());
    return made;
  }

  void install(const KeyedCertificate& certificate) {
    folder_.write("tls.crt", certificate.certificate_pem);
    folder_.write("tls.key", certificate.key_pem);
  }

  ClientTls trusting() {
    ClientTls tls;
    tls.ca_pem = authority_.certificate_pem();
    return tls;
  }

  ClientTls showing(const KeyedCertificate& certificate) {
    ClientTls tls = trusting();
    tls.certificate_pem = certificate.certificate_pem;
    tls.key_pem = certificate.key_pem;
    return tls;
  }

  static std::vector<Route> routes() {
    const Handler whoami = [](const Request& request) {
      return Response::text(200, request.subject);
    };
    return {get_route("/healthz", "ok"), {"/whoami", {"GET"}, whoami, Access::kAuthenticated}};
  }

  support::TempDir folder_;
  CertificateAuthority authority_{"gpuward test CA"};
  std::string problem_;
};

TEST_F(ServerTlsTest, ServesOverTls) {
  const TestServer server(routes(), options());
  CurlClient client(trusting());
  for (int i = 0; i < 3; ++i) {
    const auto response = client.send(get_request(server.url("/healthz")));
    ASSERT_TRUE(response) << response.error().message;
    EXPECT_EQ(response->body, "ok");
  }
}

TEST_F(ServerTlsTest, SendsLargeBodiesOverTls) {
  const std::string large(5U << 20U, 'x');
  const TestServer server({get_route("/large", large), echo_route()}, options());
  CurlClient client(trusting());
  EXPECT_EQ(client.send(get_request(server.url("/large")))->body, large);
  const std::string body(900'000, 'y');
  EXPECT_EQ(client.send(post_request(server.url("/echo"), body))->body, body);
}

TEST_F(ServerTlsTest, SurvivesAPlainRequestAndAHalfHandshake) {
  const TestServer server(routes(), options());
  RawSocket plain(server.port());
  plain.send("GET /healthz HTTP/1.1\r\nHost: h\r\n\r\n");
  EXPECT_TRUE(plain.is_closed_within());
  RawSocket half(server.port());
  half.send("\x16\x03\x01\x02");
  half.close();
  CurlClient client(trusting());
  EXPECT_TRUE(client.send(get_request(server.url("/healthz"))));
}

TEST_F(ServerTlsTest, StopsQuicklyDuringAHandshake) {
  const auto once = [this] {
    TestServer server(routes(), options());
    RawSocket half(server.port());
    half.send("\x16\x03\x01\x02");
    CurlClient client(trusting());
    EXPECT_TRUE(client.send(get_request(server.url("/healthz"))));
    const auto start = std::chrono::steady_clock::now();
    server.stop();
    return std::chrono::steady_clock::now() - start;
  };
  constexpr std::chrono::seconds kLimit{1};
  EXPECT_LT(support::quickest_of(kLimit, once), kLimit);
}

TEST_F(ServerTlsTest, AsksForAClientCertificate) {
  const TestServer server(routes(), mutual_options());
  CurlClient without(trusting());
  EXPECT_FALSE(without.send(get_request(server.url("/healthz"))));
  CurlClient with(showing(authority_.issue_client("prometheus", "monitoring")));
  const auto response = with.send(get_request(server.url("/whoami")));
  ASSERT_TRUE(response) << response.error().message;
  EXPECT_EQ(response->status, 200);
  EXPECT_EQ(response->body, "CN=prometheus,O=monitoring");
}

TEST_F(ServerTlsTest, TakesAClientCertificateWithoutASubject) {
  const TestServer server(routes(), mutual_options());
  const std::string uri = "spiffe://cluster.local/ns/monitoring/sa/prometheus";
  CurlClient with(showing(authority_.issue_client_without_subject(uri)));
  const auto response = with.send(get_request(server.url("/whoami")));
  ASSERT_TRUE(response) << response.error().message;
  EXPECT_EQ(response->status, 200);
  EXPECT_EQ(response->body, "");
  CurlClient without(trusting());
  EXPECT_FALSE(without.send(get_request(server.url("/whoami"))));
  const CertificateAuthority other("gpuward test CA");
  CurlClient foreign(showing(other.issue_client_without_subject(uri)));
  EXPECT_FALSE(foreign.send(get_request(server.url("/whoami"))));
}

TEST_F(ServerTlsTest, RefusesCertificatesOfAnotherCa) {
  const TestServer server(routes(), mutual_options());
  const CertificateAuthority other("gpuward test CA");
  CurlClient client(showing(other.issue_client("prometheus")));
  EXPECT_FALSE(client.send(get_request(server.url("/healthz"))));
}

TEST_F(ServerTlsTest, RefusesAServerCertificateShownAsAClients) {
  const TestServer server(routes(), mutual_options());
  CurlClient client(showing(authority_.issue_server({"localhost"})));
  EXPECT_FALSE(client.send(get_request(server.url("/healthz"))));
}

TEST_F(ServerTlsTest, ATokenIsStillAskedForBesideACertificate) {
  ServerOptions both = mutual_options();
  both.auth.bearer_token_files = {folder_.write("token", "token-with-more-than-16")};
  const TestServer server(routes(), both);
  CurlClient client(showing(authority_.issue_client("prometheus")));
  ClientRequest request = get_request(server.url("/whoami"));
  EXPECT_EQ(client.send(request)->status, 401);
  request.headers = {{"Authorization", "Bearer token-with-more-than-16"}};
  EXPECT_EQ(client.send(request)->status, 200);
}

TEST_F(ServerTlsTest, ANewCertificateIsUsedWithoutARestart) {
  const TestServer server(routes(), options());
  const CertificateAuthority successor("the next CA");
  ClientTls tls;
  tls.ca_pem = successor.certificate_pem();
  EXPECT_FALSE(CurlClient(tls).send(get_request(server.url("/healthz"))));
  install(successor.issue_server({"127.0.0.1"}));
  const auto response = CurlClient(tls).send(get_request(server.url("/healthz")));
  EXPECT_TRUE(response) << response.error().message;
}

TEST_F(ServerTlsTest, AHalfReplacedPairKeepsTheOldOneAndIsReported) {
  const TestServer server(routes(), options());
  const KeyedCertificate next = authority_.issue_server({"127.0.0.1"});
  folder_.write("tls.crt", next.certificate_pem);
  EXPECT_TRUE(CurlClient(trusting()).send(get_request(server.url("/healthz"))));
  EXPECT_NE(problem_.find("does not match"), std::string::npos) << problem_;
  folder_.write("tls.key", next.key_pem);
  problem_.clear();
  EXPECT_TRUE(CurlClient(trusting()).send(get_request(server.url("/healthz"))));
  EXPECT_EQ(problem_, "");
}

TEST_F(ServerTlsTest, RefusesUnusableFilesAtTheStart) {
  const auto refusal = [](const ServerOptions& options) {
    const auto server = Server::start(options, {});
    return server ? std::string("started") : server.error().message;
  };
  ServerOptions wrong = options();
  wrong.listen_addresses = {"127.0.0.1:0"};
  folder_.write("tls.key", authority_.issue_client("x").key_pem);
  EXPECT_NE(refusal(wrong).find("does not match"), std::string::npos);
  folder_.write("tls.key", "nothing");
  EXPECT_NE(refusal(wrong).find("tls.key: contains no PEM private key"), std::string::npos);
  folder_.write("tls.crt", "nothing");
  EXPECT_NE(refusal(wrong).find("tls.crt: contains no PEM certificate"), std::string::npos);
  wrong.tls.certificate_file.clear();
  wrong.tls.key_file.clear();
  wrong.tls.client_ca_file = "ca";
  EXPECT_NE(refusal(wrong).find("client_ca_file"), std::string::npos);
}

}  // namespace
}  // namespace gpuward::http
