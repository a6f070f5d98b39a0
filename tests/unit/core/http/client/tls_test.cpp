#include <gtest/gtest.h>

#include "tests/support/certificates.h"
#include "tests/support/temp_dir.h"
#include "tests/unit/core/http/test_server.h"

namespace gpuward::http {
namespace {

using support::CertificateAuthority;
using support::KeyedCertificate;
using support::Validity;

class ClientTlsTest : public testing::Test {
 protected:
  TestServer serve(const KeyedCertificate& certificate) {
    ServerOptions options;
    options.tls.certificate_file = folder_.write("tls.crt", certificate.certificate_pem);
    options.tls.key_file = folder_.write("tls.key", certificate.key_pem);
    const Handler host = [](const Request& request) {
      return Response::text(200, std::string(request.header("Host")));
    };
    return TestServer({{"/host", {"GET"}, host}}, options);
  }

  ClientTls trusting() {
    ClientTls tls;
    tls.ca_pem = authority_.certificate_pem();
    return tls;
  }

  support::TempDir folder_;
  CertificateAuthority authority_{"gpuward test CA"};
};

TEST_F(ClientTlsTest, TrustsAFileAsWellAsAText) {
  const TestServer server = serve(authority_.issue_server({"127.0.0.1"}));
  ClientTls by_file;
  by_file.ca_file = folder_.write("ca.crt", authority_.certificate_pem());
  EXPECT_TRUE(CurlClient(by_file).send(get_request(server.url("/host"))));
  EXPECT_TRUE(CurlClient(trusting()).send(get_request(server.url("/host"))));
}

TEST_F(ClientTlsTest, RefusesAnUnknownCa) {
  const TestServer server = serve(authority_.issue_server({"127.0.0.1"}));
  const auto response = CurlClient().send(get_request(server.url("/host")));
  ASSERT_FALSE(response);
  EXPECT_EQ(response.error().kind, ErrorKind::kUnavailable);
  EXPECT_NE(response.error().message.find("certificate"), std::string::npos)
      << response.error().message;
}

TEST_F(ClientTlsTest, RefusesAnotherName) {
  const TestServer server = serve(authority_.issue_server({"other.example"}));
  const auto response = CurlClient(trusting()).send(get_request(server.url("/host")));
  ASSERT_FALSE(response);
  EXPECT_NE(response.error().message.find("127.0.0.1"), std::string::npos)
      << response.error().message;
}

TEST_F(ClientTlsTest, RefusesAnExpiredCertificate) {
  const TestServer server = serve(authority_.issue_server({"127.0.0.1"}, Validity::kExpired));
  const auto response = CurlClient(trusting()).send(get_request(server.url("/host")));
  ASSERT_FALSE(response);
  EXPECT_NE(response.error().message.find("expired"), std::string::npos)
      << response.error().message;
}

TEST_F(ClientTlsTest, VerifiesAnotherNameIfToldSo) {
  const TestServer server = serve(authority_.issue_server({"kubernetes.default.svc"}));
  ClientTls tls = trusting();
  tls.server_name = "kubernetes.default.svc";
  const auto response = CurlClient(tls).send(get_request(server.url("/host")));
  ASSERT_TRUE(response) << response.error().message;
  EXPECT_EQ(response->body, "127.0.0.1:" + std::to_string(server.port()))
      << "the Host stays the URL's";
  tls.server_name = "other.example";
  EXPECT_FALSE(CurlClient(tls).send(get_request(server.url("/host"))));
}

TEST_F(ClientTlsTest, SkipsVerificationOnlyWhenTold) {
  const TestServer server = serve(authority_.issue_server({"other.example"}, Validity::kExpired));
  ClientTls tls;
  tls.skip_verify = true;
  EXPECT_TRUE(CurlClient(tls).send(get_request(server.url("/host"))));
}

TEST_F(ClientTlsTest, ReadsTheCaFileAgainForANewConnection) {
  const CertificateAuthority old("old CA");
  ClientTls tls;
  tls.ca_file = folder_.write("ca.crt", old.certificate_pem());
  CurlClient client(tls);
  const TestServer server = serve(authority_.issue_server({"127.0.0.1"}));
  EXPECT_FALSE(client.send(get_request(server.url("/host"))));
  folder_.write("ca.crt", authority_.certificate_pem());
  const auto response = client.send(get_request(server.url("/host")));
  EXPECT_TRUE(response) << response.error().message;
}

TEST_F(ClientTlsTest, NamesABrokenCertificateOfItsOwn) {
  const TestServer server = serve(authority_.issue_server({"127.0.0.1"}));
  ClientTls tls = trusting();
  tls.certificate_pem = "nothing";
  tls.key_pem = "nothing";
  const auto response = CurlClient(tls).send(get_request(server.url("/host")));
  ASSERT_FALSE(response);
  EXPECT_EQ(response.error().kind, ErrorKind::kInvalid) << response.error().message;
}

}  // namespace
}  // namespace gpuward::http
