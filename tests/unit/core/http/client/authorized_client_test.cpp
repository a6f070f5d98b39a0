#include "core/http/client/authorized_client.h"

#include <gmock/gmock.h>

#include "tests/support/certificates.h"
#include "tests/support/temp_dir.h"
#include "tests/unit/core/http/test_server.h"

namespace gpuward::http {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

// A server with TLS that returns the identity of its caller.
class AuthorizedClientTest : public ::testing::Test {
 protected:
  TestServer serve(bool wants_certificate = false) {
    const auto certificate = authority_.issue_server({"127.0.0.1"});
    ServerOptions options;
    options.tls.certificate_file = folder_.write("tls.crt", certificate.certificate_pem);
    options.tls.key_file = folder_.write("tls.key", certificate.key_pem);
    if (wants_certificate) {
      options.tls.client_ca_file = folder_.write("clients.crt", authority_.certificate_pem());
    }
    const Handler who = [](const Request& request) {
      return Response::text(200,
                            std::string(request.header("Authorization")) + "|" + request.subject);
    };
    return TestServer(
        {{"/who", {"GET"}, who, wants_certificate ? Access::kAuthenticated : Access::kOpen}},
        options);
  }
  ClientFiles trusting() {
    ClientFiles files;
    files.ca_file = folder_.write("ca.crt", authority_.certificate_pem());
    return files;
  }
  static std::string who(Client& client, const TestServer& server) {
    const auto answer = client.send(get_request(server.url("/who")));
    return answer ? answer->body : answer.error().message;
  }

  support::TempDir folder_;
  support::CertificateAuthority authority_{"gpuward test CA"};
};

TEST_F(AuthorizedClientTest, TrustsTheGivenAuthorityAndIsNobodyByDefault) {
  const TestServer server = serve();
  const auto trusting_client = AuthorizedClient::open(trusting());
  const auto other = AuthorizedClient::open({});
  ASSERT_TRUE(trusting_client && other);

  EXPECT_EQ(who(**trusting_client, server), "|");
  EXPECT_THAT(who(**other, server), HasSubstr("certificate"));
}

TEST_F(AuthorizedClientTest, ShowsTheTokenThatIsInTheFileByThen) {
  const TestServer server = serve();
  ClientFiles files = trusting();
  files.bearer_token_file = folder_.write("token", "first-token\n");
  const auto client = AuthorizedClient::open(files);
  ASSERT_TRUE(client);
  EXPECT_EQ(who(**client, server), "Bearer first-token|");

  folder_.write("token", "another-token\n");
  EXPECT_EQ(who(**client, server), "Bearer another-token|");

  folder_.write("token", "");
  EXPECT_EQ(who(**client, server), "Bearer another-token|");
}

TEST_F(AuthorizedClientTest, ShowsTheTokenToStreamsToo) {
  const TestServer server = serve();
  ClientFiles files = trusting();
  files.bearer_token_file = folder_.write("token", "first-token\n");
  const auto client = AuthorizedClient::open(files);
  ASSERT_TRUE(client);
  std::string heard;

  const auto ended =
      (*client)->stream(get_request(server.url("/who")), support::kGenerousRequest, {},
                        [&](std::string_view bytes) { return !heard.append(bytes).empty(); });

  EXPECT_TRUE(ended);
  EXPECT_EQ(heard, "Bearer first-token|");
}

TEST_F(AuthorizedClientTest, ShowsUserAndPassword) {
  const TestServer server = serve();
  ClientFiles files = trusting();
  files.basic_auth_file = folder_.write("user", "prom:s3cret:x\n");
  const auto client = AuthorizedClient::open(files);
  ASSERT_TRUE(client);

  EXPECT_EQ(who(**client, server), "Basic cHJvbTpzM2NyZXQ6eA==|");
}

TEST_F(AuthorizedClientTest, ShowsItsCertificate) {
  const TestServer server = serve(true);
  const auto certificate = authority_.issue_client("gpuward-remediator");
  ClientFiles files = trusting();
  files.certificate_file = folder_.write("client.crt", certificate.certificate_pem);
  files.key_file = folder_.write("client.key", certificate.key_pem);
  const auto client = AuthorizedClient::open(files);
  const auto nobody = AuthorizedClient::open(trusting());
  ASSERT_TRUE(client && nobody);

  EXPECT_THAT(who(**client, server), HasSubstr("CN=gpuward-remediator"));
  EXPECT_THAT(who(**nobody, server), Not(HasSubstr("CN=")));
}

TEST_F(AuthorizedClientTest, SendsNoSecretInTheClear) {
  ClientFiles token, password, webhook;
  token.prefix = password.prefix = "--prometheus";
  token.bearer_token_file = folder_.write("token", "a-secret\n");
  password.basic_auth_file = folder_.write("user", "me:a-secret\n");
  webhook.has_secret_url = true;
  const std::string
      plain = "http://prometheus.example:9090/",
      refusal =
          "credentials would be sent unencrypted to prometheus.example: use https://, or set ";
  const auto complaint = [&](const ClientFiles& files, const std::string& url) {
    const auto client = AuthorizedClient::open(files, url);
    EXPECT_TRUE(client || client.error().kind == ErrorKind::kInvalid);
    return client ? std::string() : client.error().message;
  };

  EXPECT_EQ(complaint(token, plain), "--prometheus.bearer-token-file: " + refusal +
                                         "--prometheus.credentials-over-http to allow it");
  EXPECT_EQ(complaint(password, plain), "--prometheus.basic-auth-file: " + refusal +
                                            "--prometheus.credentials-over-http to allow it");
  EXPECT_EQ(complaint(webhook, plain), refusal + "credentials_over_http to allow it");
  EXPECT_EQ(complaint({}, "http://me:a-secret@prometheus.example/"),
            refusal + "credentials_over_http to allow it");
  EXPECT_EQ(complaint({}, plain), "");
  for (const std::string url : {"https://prometheus.example/", "http://127.0.0.1:1/"}) {
    for (const ClientFiles& files : {token, password, webhook})
      EXPECT_EQ(complaint(files, url), "");
  }
  token.plain_http = PlainHttp::kAllowed;
  EXPECT_EQ(complaint(token, plain), "");
}

TEST_F(AuthorizedClientTest, SendsNoSecretToAUrlThatTurnsOutToBePlain) {
  ClientFiles files;
  files.bearer_token_file = folder_.write("token", "a-secret\n");
  const auto client = AuthorizedClient::open(files);
  ASSERT_TRUE(client) << client.error().message;
  const ClientRequest request = get_request("http://192.0.2.1/");
  const auto sent = (*client)->send(request);
  const auto streamed = (*client)->stream(request, std::chrono::seconds(1), {},
                                          [](std::string_view) { return false; });
  ASSERT_FALSE(sent || streamed);
  EXPECT_THAT(sent.error().message, HasSubstr("unencrypted to 192.0.2.1"));
  EXPECT_THAT(streamed.error().message, HasSubstr("unencrypted to 192.0.2.1"));
}

TEST_F(AuthorizedClientTest, SaysWhatIsWrongWithItsFilesButNotWhatIsInThem) {
  const auto complaint = [](const ClientFiles& files) {
    const auto client = AuthorizedClient::open(files);
    return client ? std::string() : client.error().message;
  };
  const auto secret = folder_.write("user", "a-secret\n");
  ClientFiles both;
  both.bearer_token_file = both.basic_auth_file = secret;
  ClientFiles half;
  half.certificate_file = secret;
  ClientFiles missing;
  missing.bearer_token_file = folder_ / "none";
  ClientFiles no_colon;
  no_colon.basic_auth_file = secret;

  EXPECT_THAT(complaint(both), HasSubstr("are mutually exclusive"));
  EXPECT_THAT(complaint(half), HasSubstr("must be set together"));
  EXPECT_THAT(complaint(missing), HasSubstr("none"));
  EXPECT_THAT(complaint(no_colon),
              ::testing::AllOf(HasSubstr("expected user:password"), Not(HasSubstr("a-secret"))));
}

}  // namespace
}  // namespace gpuward::http
