// Features that operators of the real binary rely on: counted answers, an audit trail that can be
// rotated, credentials for the servers that it reads, and a quiet first start.
#include <filesystem>
#include <sstream>

#include "tests/support/certificates.h"
#include "tests/unit/remediator/remediator_process.h"

namespace gpuward::remediator {
namespace {

using support::http_get;
using support::http_post;
using support::wait_until;
using ::testing::HasSubstr;
using ::testing::Not;

class RemediatorOperations : public RemediatorProcess {
 protected:
  void SetUp() override {
    RemediatorProcess::SetUp();
    server_->kube().create("/api/v1/nodes", fakes::ready_node("gpu-02"));
    write("policy.yaml", "budgets: {cordon: {nodes: 2}}\n");
  }
  std::string metrics() { return http_get(telemetry("/metrics")).body; }
  std::string text_of(const std::string& name) {
    return read_file(path(name)).value_or(std::string());
  }
  // Each line of the file must be complete.
  void expect_lines_of(const std::string& name, const std::string& node) {
    std::istringstream lines(text_of(name));
    for (std::string line; std::getline(lines, line);) {
      const auto json = parse_json(line);
      ASSERT_TRUE(json) << line;
      EXPECT_EQ(string_at(*json, "node"), node);
    }
  }
  // Returns whether the first node has reached its last phase.
  bool is_quarantined() {
    const Json all = server_->kube().get("/apis/gpuward.dev/v1alpha1/remediations");
    return dump_json(all).contains("\"phase\":\"Quarantined\"");
  }
  bool is_done_in(const std::string& name) {
    return text_of(name).find("\"moment\":\"done\"") != std::string::npos;
  }
};

TEST_F(RemediatorOperations, CountsAnswersThatTheWebhookItselfNeverSees) {
  start_ready();

  EXPECT_EQ(http_get(webhook()).status, 405);
  EXPECT_EQ(http_post(webhook(), alert(), credentials("wrong-token-0123456789")).status, 401);

  const std::string name = "gpuward_remediator_webhook_requests_total";
  // The server counts an answer after it has sent it.
  for (const char* code : {"405", "401"}) {
    EXPECT_TRUE(
        wait_until([&] { return metrics().contains(name + "{code=\"" + code + "\"} 1"); }, code));
  }
  EXPECT_THAT(metrics(), HasSubstr(name + "{code=\"413\"} 0"));
}

TEST_F(RemediatorOperations, GoesOnInANewAuditFileAfterASighup) {
  start_ready(
      {"--mode=cordon", "--config.file=" + path("policy.yaml"), "--audit.path=" + path("audit")});
  deliver(alert());
  ASSERT_TRUE(
      wait_until([&] { return is_quarantined() && is_done_in("audit"); }, "the first node's line"));

  std::filesystem::rename(path("audit"), path("audit.1"));
  process_->signal(SIGHUP);
  ASSERT_TRUE(wait_until([&] { return std::filesystem::exists(path("audit")); }, "a file"));
  deliver(notification(firing("gpu-02")));

  ASSERT_TRUE(wait_until([&] { return is_done_in("audit"); }, "the second node's line"));
  expect_lines_of("audit.1", "gpu-01");
  expect_lines_of("audit", "gpu-02");
}

TEST_F(RemediatorOperations, MakesTheFirstLedgerWithoutAWordOfLoss) {
  start_ready();
  deliver(alert());
  ASSERT_TRUE(wait_until([&] { return is_cordoned(); }, "gpu-01 cordoned"));

  constexpr const char* kMade = "Created a new budget ledger";
  ASSERT_TRUE(wait_until([&] { return process_->error_output().contains(kMade); }, kMade));
  const std::string log = process_->error_output();
  EXPECT_EQ(log.find(kMade, log.find(kMade) + 1), std::string::npos);
  EXPECT_THAT(log, Not(HasSubstr("is gone")));
}

// An Alertmanager behind TLS that requires a token knows of gpu-02, which the truncated
// notification lacks.
TEST_F(RemediatorOperations, ReadsAnAlertmanagerThatWantsToKnowWhoAsks) {
  const support::CertificateAuthority authority("gpuward test CA");
  const auto certificate = authority.issue_server({"127.0.0.1"});
  write("tls.crt", certificate.certificate_pem);
  write("tls.key", certificate.key_pem);
  write("ca.crt", authority.certificate_pem());
  write("reader", "token-of-the-reader-0123456789\n");
  Json known = firing("gpu-02");
  known["status"] = {
      {"state", "active"}, {"silencedBy", Json::array()}, {"inhibitedBy", Json::array()}};
  const std::string alerts = dump_json(Json::array({known}));
  http::ServerOptions options;
  options.listen_addresses = {"127.0.0.1:0"};
  options.tls.certificate_file = path("tls.crt");
  options.tls.key_file = path("tls.key");
  options.auth.bearer_token_files = {path("reader")};
  const auto alertmanager = http::Server::start(
      options, {{.path = "/api/v2/alerts",
                 .methods = {"GET"},
                 .handler = [&](const auto&) { return http::Response::json(200, alerts); },
                 .access = http::Access::kAuthenticated}});
  ASSERT_TRUE(alertmanager) << alertmanager.error().message;
  start_ready(
      {"--mode=cordon", "--config.file=" + path("policy.yaml"),
       "--alertmanager.url=https://127.0.0.1:" + std::to_string((*alertmanager)->ports().front()),
       "--alertmanager.ca-file=" + path("ca.crt"),
       "--alertmanager.bearer-token-file=" + path("reader")});

  deliver(notification(firing(), 1));

  EXPECT_TRUE(wait_until([&] { return is_cordoned("gpu-02"); }, "gpu-02 cordoned"))
      << process_->error_output();
  EXPECT_THAT(process_->error_output(), Not(HasSubstr("token-of-the-reader")));
}

TEST_F(RemediatorOperations, DoesNotStartWithoutTheFileThatItIsToShow) {
  process_ = spawn({"--web.insecure", "--prometheus.url=http://127.0.0.1:1",
                    "--prometheus.bearer-token-file=" + path("none")});

  EXPECT_EQ(process_->wait_exit(), 2);
  EXPECT_THAT(process_->error_output(), HasSubstr("--prometheus."));
}

}  // namespace
}  // namespace gpuward::remediator
