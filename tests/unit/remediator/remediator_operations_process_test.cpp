// What whoever runs the real binary relies on: answers that are counted, an audit trail that can be
// rotated, credentials for those whom it reads, and a quiet first start.
#include <filesystem>
#include <sstream>

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
  // Written as a whole, line by line.
  void expect_lines_of(const std::string& name, const std::string& node) {
    std::istringstream lines(text_of(name));
    for (std::string line; std::getline(lines, line);) {
      const auto json = parse_json(line);
      ASSERT_TRUE(json) << line;
      EXPECT_EQ(string_at(*json, "node"), node);
    }
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
  EXPECT_THAT(metrics(), HasSubstr(name + "{code=\"405\"} 1"));
  EXPECT_THAT(metrics(), HasSubstr(name + "{code=\"401\"} 1"));
  EXPECT_THAT(metrics(), HasSubstr(name + "{code=\"413\"} 0"));
}

TEST_F(RemediatorOperations, GoesOnInANewAuditFileAfterASighup) {
  start_ready(
      {"--mode=cordon", "--config.file=" + path("policy.yaml"), "--audit.path=" + path("audit")});
  tell(alert());
  ASSERT_TRUE(wait_until([&] { return is_done_in("audit"); }, kSoon, "the first node's line"));

  std::filesystem::rename(path("audit"), path("audit.1"));
  process_->signal(SIGHUP);
  ASSERT_TRUE(wait_until([&] { return std::filesystem::exists(path("audit")); }, kSoon, "a file"));
  tell(notification(firing("gpu-02")));

  ASSERT_TRUE(wait_until([&] { return is_done_in("audit"); }, kSoon, "the second node's line"));
  expect_lines_of("audit.1", "gpu-01");
  expect_lines_of("audit", "gpu-02");
}

TEST_F(RemediatorOperations, MakesTheFirstLedgerWithoutAWordOfLoss) {
  start_ready();
  tell(alert());
  ASSERT_TRUE(wait_until([&] { return is_cordoned(); }, kSoon, "gpu-01 cordoned"));

  const std::string log = process_->error_output();
  const auto first = log.find("A new ledger of the budgets is made");
  ASSERT_NE(first, std::string::npos) << log;
  EXPECT_EQ(log.find("A new ledger of the budgets is made", first + 1), std::string::npos);
  EXPECT_THAT(log, Not(HasSubstr("is gone")));
}

}  // namespace
}  // namespace gpuward::remediator
