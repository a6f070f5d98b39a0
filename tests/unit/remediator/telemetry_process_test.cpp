// TLS, client certificates and credentials of the telemetry listener, as Prometheus, browsers and
// the kubelet meet them.
#include "core/runtime/encoding.h"
#include "tests/support/certificates.h"
#include "tests/unit/remediator/remediator_process.h"

namespace gpuward::remediator {
namespace {

using support::http_get;
using testing::HasSubstr;

constexpr const char* kMetric = "gpuward_build_info";

class Telemetry : public RemediatorProcess {
 protected:
  // With a listener for probes; ready when that says so.
  void start_with(const std::string& web_config) {
    write("telemetry.yaml", web_config);
    start({"--mode=observe", "--web.telemetry-config.file=" + path("telemetry.yaml"),
           "--web.health-address=127.0.0.1:0"});
    ASSERT_TRUE(support::wait_until([&] { return port_in("Health is served") != 0; }, "health"));
    ASSERT_TRUE(support::wait_until([&] { return http_get(health("/readyz")).status == 200; },
                                    "ready by the probes' port"));
  }
  std::string health(const std::string& target) {
    return "http://127.0.0.1:" + std::to_string(port_in("Health is served")) + target;
  }
  std::string secure(const std::string& target) {
    return "https" + telemetry(target).substr(std::string_view("http").size());
  }
};

TEST_F(Telemetry, AsksForCredentialsIfItsFileNamesAny) {
  write("tokens", "token-of-prometheus-0123\n");
  // bcrypt of monitor-sesame-0123.
  write("users", "alice:$2b$08$gpuwardtestsgpuwardte.LlYSBMQIftPLHeBQZv2zXK/DB1V8ml.\n");
  start_with("auth: {bearer_token_files: [" + path("tokens") +
             "], basic_users_file: " + path("users") + "}\n");

  const support::HeaderList token = {{"Authorization", "Bearer token-of-prometheus-0123"}};
  const support::HeaderList user = {
      {"Authorization", "Basic " + encode_base64("alice:monitor-sesame-0123")}};
  for (const std::string page : {"/metrics", "/", "/policy", "/nodes/gpu-01"}) {
    EXPECT_EQ(http_get(telemetry(page)).status, 401) << page;
    EXPECT_EQ(http_get(telemetry(page), credentials()).status, 401) << "the webhook's " << page;
    EXPECT_EQ(http_get(telemetry(page), token).status, 200) << page;
    EXPECT_EQ(http_get(telemetry(page), user).status, 200) << page;
  }
  for (const std::string page : {"/healthz", "/readyz", "/runbooks"})
    EXPECT_EQ(http_get(telemetry(page)).status, 200) << page;
  EXPECT_EQ(send(alert(), token).status, 401) << "the webhook has credentials of its own";
  EXPECT_EQ(send(alert(), credentials()).status, 200);
}

TEST_F(Telemetry, SpeaksTlsOnlyAndAsksForAClientCertificateIfItsFileSaysSo) {
  const support::CertificateAuthority servers("of the servers");
  const support::CertificateAuthority clients("of the clients");
  const auto server = servers.issue_server({"127.0.0.1"});
  write("server.pem", server.certificate_pem);
  write("server.key", server.key_pem);
  write("clients.pem", clients.certificate_pem());
  write("tokens", "token-of-prometheus-0123\n");
  start_with("tls: {certificate_file: " + path("server.pem") + ", key_file: " + path("server.key") +
             ", client_ca_file: " + path("clients.pem") + "}\nauth: {bearer_token_files: [" +
             path("tokens") + "]}\n");
  const auto scrape = [&](const support::KeyedCertificate& own, const std::string& token) {
    http::ClientRequest request;
    request.url = secure("/metrics");
    request.headers = {{"Authorization", "Bearer " + token}};
    http::ClientTls tls;
    tls.ca_pem = servers.certificate_pem();
    tls.certificate_pem = own.certificate_pem;
    tls.key_pem = own.key_pem;
    return support::http_send(request, tls);
  };
  const auto prometheus = clients.issue_client("prometheus");

  const auto good = scrape(prometheus, "token-of-prometheus-0123");

  EXPECT_EQ(good.status, 200) << good.body;
  EXPECT_THAT(good.body, HasSubstr(kMetric));
  EXPECT_EQ(scrape(prometheus, "another-token-012345678").status, 401);
  EXPECT_EQ(scrape({}, "token-of-prometheus-0123").status, 0) << "no client certificate";
  EXPECT_EQ(scrape(servers.issue_client("stranger"), "token-of-prometheus-0123").status, 0);
  EXPECT_NE(http_get(telemetry("/metrics")).status, 200) << "plain HTTP on the port of TLS";
  EXPECT_EQ(http_get(health("/healthz")).status, 200) << "the kubelet has no certificate";
  EXPECT_EQ(send(alert(), credentials()).status, 200) << "the webhook has TLS of its own";
}

TEST_F(Telemetry, DoesNotStartWithAFileThatIsNoGood) {
  write("unknown.yaml", "auth: {users: none}\n");
  write("no-token.yaml", "auth: {bearer_token_files: [" + path("none") + "]}\n");
  for (const std::string file : {"unknown.yaml", "no-token.yaml"}) {
    const std::string flag = "--web.telemetry-config.file=" + path(file);
    for (const std::vector<std::string>& flags :
         {std::vector<std::string>{"--check-config", "--web.insecure", flag},
          std::vector<std::string>{"--web.insecure", flag}}) {
      auto process = spawn(flags);
      EXPECT_EQ(process->wait_exit(), 2) << file;
      EXPECT_THAT(process->error_output(), HasSubstr(file == "no-token.yaml" ? "none" : file));
    }
  }
}

}  // namespace
}  // namespace gpuward::remediator
