// The notifications of the real program: the sinks of its policy and the webhook of its
// environment, while one of them is dead.
#include "tests/support/environment.h"
#include "tests/unit/remediator/notify/receiver.h"
#include "tests/unit/remediator/remediator_process.h"

namespace gpuward::remediator {
namespace {

using ::testing::AllOf;
using ::testing::ContainsRegex;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::SizeIs;

class NotificationsProcess : public RemediatorProcess {
 protected:
  void SetUp() override {
    RemediatorProcess::SetUp();
    write("url", slack_.url() + "\n");
    write("dead", "http://127.0.0.1:1/hooks/secret-path\n");
    write("policy.yaml",
          "mode: cordon\n"
          "budgets: {breaker: {percent: 100}}\n"
          "notifications:\n"
          "  cluster: test\n"
          "  sinks:\n"
          "    - {name: dead, slack: {url_file: " +
              path("dead") +
              "}}\n"
              "    - {name: slack, slack: {url_file: " +
              path("url") + "}, text: 'look at {{node_name}}'}\n");
  }
  bool are_notified() { return !slack_.events().empty() && !webhook_.events().empty(); }

  Receiver slack_, webhook_;
};

TEST_F(NotificationsProcess, ReachAllWhoCanBeReachedAndKeepTheirSecrets) {
  const support::Environment url("WEBHOOK_URL", webhook_.url());
  start_ready({"--config.file=" + path("policy.yaml")});
  deliver(alert());

  ASSERT_TRUE(support::wait_until([&] { return are_notified(); }, "notifications"));
  EXPECT_EQ(slack_.events()[0], Json({{"text", "look at gpu-01"}}));
  EXPECT_EQ(webhook_.events()[0]["moment"], "opened");
  EXPECT_EQ(webhook_.events()[0]["cluster_name"], "test");
  EXPECT_TRUE(support::wait_until([&] { return is_cordoned(); }, "cordon"));
  const auto metrics = [&] { return support::http_get(telemetry("/metrics")).body; };
  ASSERT_TRUE(support::wait_until(
      [&] {
        const std::string now = metrics();
        return now.find("gpuward_notifications_total{sink=\"slack\",result=\"sent\"} 1") !=
                   std::string::npos &&
               now.find("gpuward_notifications_waiting{sink=\"dead\"} 1") != std::string::npos;
      },
      "metrics"));
  ASSERT_TRUE(support::wait_until(
      [&] {
        return process_->error_output().find("Notifications are not delivered") !=
               std::string::npos;
      },
      "a word about the dead one"));
  EXPECT_THAT(process_->error_output(), AllOf(Not(HasSubstr("secret")), Not(HasSubstr("hooks"))));
}

TEST_F(NotificationsProcess, AddressesThatAreNotThereKeepItFromStarting) {
  write("bad.yaml", "notifications:\n  sinks: [{name: oncall, slack: {url_file: /nowhere/url}}]\n");

  for (const char* how : {"--log.level=info", "--check-config"}) {
    const auto process = spawn({"--config.file=" + path("bad.yaml"), "--web.insecure", how});

    ASSERT_TRUE(support::wait_until([&] { return !process->running(); }, "its end"));
    // The last output of a program may arrive after its end.
    EXPECT_TRUE(support::wait_until(
        [&] { return process->error_output().find("the sink oncall: ") != std::string::npos; },
        "the reason"))
        << how;
  }
}

TEST_F(NotificationsProcess, ATestSaysOfEachSinkWhatCameBack) {
  const support::Environment url("WEBHOOK_URL", webhook_.url());
  const auto test = [&](std::vector<std::string> words) {
    std::vector<std::string> argv = {kBinary, "notify", "test"};
    argv.insert(argv.end(), words.begin(), words.end());
    argv.push_back("--config.file=" + path("policy.yaml"));
    return *support::Process::run({.argv = std::move(argv)});
  };
  const auto all = test({});

  EXPECT_EQ(all.exit_code, 1) << "one of them is dead";
  EXPECT_THAT(all.output, ContainsRegex("dead +slack +[^t]"));
  EXPECT_THAT(all.output, ContainsRegex("\nslack +slack +taken\n"));
  EXPECT_THAT(all.output, ContainsRegex("\nwebhook +webhook +taken\n"));
  EXPECT_THAT(all.output + all.error_output, Not(HasSubstr("hooks")));
  EXPECT_THAT(slack_.events(), SizeIs(1));
  const Json event = webhook_.events().at(0);
  EXPECT_EQ(event["moment"], "test");
  EXPECT_EQ(event["error_type"], "HEALTHY") << "nobody acts on it";
  EXPECT_EQ(event["dry_run"], true);
  EXPECT_EQ(event["cluster_name"], "test");
  EXPECT_THAT(std::string(event["message"]), HasSubstr("no action was taken"));

  EXPECT_EQ(test({"slack"}).exit_code, 0);
  EXPECT_THAT(slack_.events(), SizeIs(2));
  EXPECT_THAT(webhook_.events(), SizeIs(1)) << "another was asked for";
  const auto unknown = test({"pigeon"});
  EXPECT_EQ(unknown.exit_code, 2);
  EXPECT_THAT(unknown.error_output, HasSubstr("no sink named pigeon"));
}

TEST_F(NotificationsProcess, ATestOfNoSinksIsRefused) {
  const auto said = *support::Process::run({.argv = {kBinary, "notify", "test"}});

  EXPECT_EQ(said.exit_code, 2);
  EXPECT_THAT(said.error_output, HasSubstr("there is no sink to test"));
}

TEST_F(NotificationsProcess, LogLevelIsThatOfTheEnvironmentInItsOwnWords) {
  const auto check = [&](const char* level) {
    const support::Environment variable("LOG_LEVEL", level);
    const auto said =
        support::Process::run({.argv = {kBinary, "--check-config", "--web.insecure"}});
    return said ? said->exit_code : -1;
  };
  for (const char* level : {"DEBUG", "INFO", "WARNING", "ERROR", "CRITICAL", "warn"}) {
    EXPECT_EQ(check(level), 0) << level;
  }
  EXPECT_EQ(check("LOUD"), 2);
}

TEST_F(NotificationsProcess, LogLevelDebugTellsOfEachNotificationDecisionAndSource) {
  write("both.yaml", "budgets: {cordon: {nodes: 2}, breaker: {percent: 100}}\n");
  const auto log_with = [&](const char* level, const std::string& node, const std::string& last) {
    const support::Environment variable("LOG_LEVEL", level);
    server_->kube().create("/api/v1/nodes", fakes::ready_node(node));
    start_ready({"--mode=cordon", "--config.file=" + path("both.yaml")});
    Json alert = firing(node);
    alert["fingerprint"] = "ab" + node.substr(node.size() - 2);
    deliver(notification(alert));
    EXPECT_TRUE(support::wait_until([&] { return is_cordoned(node); }, "the cordon"));
    EXPECT_TRUE(support::wait_until(
        [&] { return process_->error_output().find(last) != std::string::npos; }, last));
    std::string log = process_->error_output();
    process_.reset();
    return log;
  };
  EXPECT_THAT(log_with("INFO", "gpu-02", "Node changed"), Not(HasSubstr("\"level\":\"debug\"")));
  const std::string debug = log_with("DEBUG", "gpu-03", "Queried a source");
  for (const char* message : {"Received a notification", "Decided", "Queried a source"}) {
    EXPECT_THAT(debug, ContainsRegex("\"level\":\"debug\"[^\n]*\"" + std::string(message)));
  }
}

}  // namespace
}  // namespace gpuward::remediator
