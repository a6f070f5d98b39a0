// The identity of a client that the API server knows by its certificate: from the kubeconfig and
// from an exec plugin, over a real TLS connection.
#include <gtest/gtest.h>

#include "core/http/server/server.h"
#include "core/kube/config.h"
#include "core/runtime/encoding.h"
#include "core/runtime/json.h"
#include "tests/fakes/fake_clock.h"
#include "tests/support/certificates.h"
#include "tests/support/deadline.h"
#include "tests/support/temp_dir.h"
#include "tests/unit/core/kube/plugin_script.h"

namespace gpuward::kube {
namespace {

// A server that answers with the subject of the client's certificate.
class ClientCertificateTest : public ::testing::Test {
 protected:
  void SetUp() override {
    const auto own = authority.issue_server({"127.0.0.1"});
    http::ServerOptions options;
    options.listen_addresses = {"127.0.0.1:0"};
    options.tls.certificate_file = folder.write("tls.crt", own.certificate_pem);
    options.tls.key_file = folder.write("tls.key", own.key_pem);
    options.tls.client_ca_file = folder.write("ca.crt", authority.certificate_pem());
    const http::Handler whoami = [](const http::Request& request) {
      return http::Response::text(200, request.subject);
    };
    auto started = http::Server::start(
        options, {{"/whoami", {"GET"}, whoami, http::Access::kAuthenticated, http::Match::kExact}});
    ASSERT_TRUE(started) << started.error().message;
    server = *std::move(started);
  }

  [[nodiscard]] std::string url() const {
    return "https://127.0.0.1:" + std::to_string(server->ports().front());
  }
  // Returns the subject that the server saw, or why there was none.
  [[nodiscard]] static std::string subject(http::Client& client, const std::string& server_url) {
    http::ClientRequest request;
    request.url = server_url + "/whoami";
    request.timeout = support::kGenerousRequest;
    const auto answer = client.send(request);
    return answer ? answer->body : "refused: " + answer.error().message;
  }
  [[nodiscard]] std::string subject_from_kubeconfig(const std::string& user) const {
    const auto path =
        folder.write("config",
                     "current-context: c\ncontexts: [{name: c, context: {cluster: k, user: u}}]\n"
                     "clusters: [{name: k, cluster: {server: \"" +
                         url() + "\", certificate-authority: ca.crt}}]\nusers: [{name: u, user: {" +
                         user + "}}]\n");
    const auto config = load_kubeconfig(path, "");
    if (!config) return config.error().message;
    fakes::FakeClock clock;
    const auto credentials = make_credentials(*config, clock);
    return subject(*make_http_client(*config, *credentials), config->server);
  }
  // Writes a plugin that gives a certificate for this user, valid until `end`.
  void hand_out(const PluginScript& script, const std::string& user, const std::string& end) const {
    const auto issued = authority.issue_client(user);
    const Json status = {{"clientCertificateData", issued.certificate_pem},
                         {"clientKeyData", issued.key_pem},
                         {"expirationTimestamp", end}};
    script.folder.write("credential", credential(dump_json(status)));
  }

  support::TempDir folder;
  support::CertificateAuthority authority{"gpuward test CA"};
  std::unique_ptr<http::Server> server;
};

TEST_F(ClientCertificateTest, OfTheKubeconfigIsShown) {
  const auto issued = authority.issue_client("remediator", "gpuward");
  EXPECT_EQ(
      subject_from_kubeconfig("client-certificate-data: " + encode_base64(issued.certificate_pem) +
                              ", client-key-data: " + encode_base64(issued.key_pem)),
      "CN=remediator,O=gpuward");
}

TEST_F(ClientCertificateTest, IsNeededByThisServer) {
  EXPECT_TRUE(subject_from_kubeconfig("token: t0k3n").starts_with("refused: "));
}

TEST_F(ClientCertificateTest, OfAnExecPluginIsShownAndItsRenewalToo) {
  PluginScript script("cat \"$(dirname \"$0\")/credential\"");
  hand_out(script, "first", "2026-01-01T00:15:00Z");  // the clock begins at midnight
  ClusterConfig config;
  config.tls.ca_pem = authority.certificate_pem();
  config.exec = script.plugin();
  fakes::FakeClock clock;
  const auto credentials = make_credentials(config, clock);
  const auto client = make_http_client(config, *credentials);
  EXPECT_EQ(subject(*client, url()), "CN=first,O=gpuward");
  hand_out(script, "second", "2027-01-01T00:00:00Z");
  clock.advance(std::chrono::minutes(15));
  EXPECT_EQ(subject(*client, url()), "CN=second,O=gpuward");
}

}  // namespace
}  // namespace gpuward::kube
