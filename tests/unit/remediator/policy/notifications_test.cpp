#include <gmock/gmock.h>

#include "remediator/policy/message_template.h"
#include "remediator/policy/policy_text.h"
#include "tests/unit/remediator/policy/parse_policy.h"

namespace gpuward::remediator {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

std::string sinks_yaml(const std::string& sinks) { return "notifications:\n  sinks:\n" + sinks; }

std::string fault_of(const std::string& yaml) {
  const auto policy = parse_policy(yaml);
  return policy ? "no fault" : policy.error().message;
}

TEST(NotificationPolicy, IsReadWithItsDefaults) {
  const auto policy = parse_policy(
      "notifications:\n"
      "  cluster: prod\n"
      "  sinks:\n"
      "    - name: oncall\n"
      "      slack: {url_file: /etc/slack/url}\n"
      "      moments: [held, paused]\n"
      "      severity: reset\n"
      "      text: '{{severity}} on {{node_name}}'\n"
      "      give_up_after: 5m\n"
      "    - name: tickets\n"
      "      webhook: {url: 'https://tickets/api', bearer_token_file: /t, ca_file: /ca}\n");

  ASSERT_TRUE(policy) << policy.error().message;
  const NotificationPolicy& told = policy->notifications;
  ASSERT_THAT(told.sinks, SizeIs(2));
  EXPECT_EQ(told.cluster, "prod");
  EXPECT_EQ(told.sinks[0].kind, "slack");
  EXPECT_EQ(told.sinks[0].url_file, "/etc/slack/url");
  EXPECT_EQ(told.sinks[0].give_up_after, std::chrono::minutes(5));
  EXPECT_EQ(told.sinks[1].url, "https://tickets/api");
  EXPECT_EQ(told.sinks[1].text, default_text());
  EXPECT_THAT(sinks_for(told, Moment::kHeld, Severity::kReset), ElementsAre("oncall", "tickets"));
  EXPECT_THAT(sinks_for(told, Moment::kHeld, Severity::kMonitor), ElementsAre("tickets"));
  EXPECT_THAT(sinks_for(told, Moment::kOpened, Severity::kIsolate), ElementsAre("tickets"));
  EXPECT_THAT(sinks_for(told, Moment::kStep, Severity::kIsolate), IsEmpty());
}

TEST(NotificationPolicy, TakesTheNameOfTheClusterFromThePolicy) {
  EXPECT_EQ(parse_policy("cluster: prod\n").value().notifications.cluster, "prod");
  EXPECT_EQ(
      parse_policy("cluster: prod\nnotifications: {cluster: eu}\n").value().notifications.cluster,
      "eu");
}

TEST(NotificationPolicy, SendsNoSecretInTheClearUnlessItSaysSo) {
  const auto fault_of_webhook = [](const std::string& webhook) {
    return fault_of(sinks_yaml("    - {name: a, webhook: {" + webhook + "}}\n"));
  };
  EXPECT_THAT(fault_of_webhook("url: 'http://tickets:80/api', bearer_token_file: /t"),
              HasSubstr("policy.yaml:3: notifications.sinks[0].webhook.bearer_token_file: "
                        "credentials would be sent unencrypted to tickets: use https://, or set "
                        "credentials_over_http to allow it"));
  EXPECT_THAT(fault_of_webhook("url: 'http://me:hunter2@tickets/api'"),
              AllOf(HasSubstr("sinks[0].webhook.url: credentials"), Not(HasSubstr("hunter2"))));
  for (const std::string good :
       {"url: 'http://tickets/api'", "url: 'http://localhost/api', bearer_token_file: /t",
        "url: 'http://tickets/api', bearer_token_file: /t, credentials_over_http: true"}) {
    EXPECT_EQ(fault_of_webhook(good), "no fault");
  }
}

TEST(NotificationPolicy, FaultsAreNamedWithTheirLine) {
  const auto expect_fault = [](const std::string& sinks, const std::string& fault) {
    EXPECT_THAT(fault_of(sinks_yaml(sinks)), HasSubstr(fault)) << sinks;
  };
  expect_fault("    - name: a\n",
               "policy.yaml:3: notifications.sinks[0].name: the sink needs exactly one");
  expect_fault("    - {name: a, slack: {url_file: /u}, webhook: {url: 'http://x'}}\n",
               "needs exactly one");
  expect_fault("    - name: a\n      pigeon: {}\n", "policy.yaml:4: notifications.sinks[0].pigeon");
  expect_fault("    - name: a\n      slack: {url: 'https://secret'}\n",
               "url_file: must be the path");
  expect_fault("    - name: a\n      slack: {url_file: u}\n", "must be an absolute path");
  expect_fault("    - name: a\n      webhook: {}\n", "url: set exactly one of url and url_file");
  expect_fault("    - name: a\n      webhook: {url: x}\n", "must begin with http:// or https://");
  expect_fault("    - name: a\n      webhook: {url: 'http://x'}\n      moments: [notify]\n",
               "policy.yaml:5: notifications.sinks[0].moments: each must be one of");
  expect_fault("    - name: a\n      webhook: {url: 'http://x'}\n      severity: none\n",
               "severity: must be one of");
  expect_fault("    - name: a\n      webhook: {url: 'http://x'}\n      text: '{{node}}'\n",
               "policy.yaml:5: notifications.sinks[0].text: has an unknown placeholder; valid "
               "placeholders: cluster");
  expect_fault(
      "    - {name: a, webhook: {url: 'http://x'}}\n    - {name: a, webhook: {url: 'http://x'}}\n",
      "policy.yaml:4: notifications.sinks[1].name: is the name of two sinks");
}

TEST(NotificationPolicy, TakesAnUrlForRunbooksAndNothingElse) {
  EXPECT_EQ(
      parse_policy("notifications: {runbook_url: 'https://wiki/gpus'}")->notifications.runbook_url,
      "https://wiki/gpus");
  EXPECT_THAT(fault_of("notifications: {runbook_url: wiki/gpus}"),
              HasSubstr("notifications.runbook_url: must begin with http:// or https://"));
}

TEST(NotificationPolicy, FaultsDoNotRepeatAnAddress) {
  EXPECT_THAT(fault_of(sinks_yaml("    - name: a\n      webhook: {url: 'ftp://secret'}\n")),
              ::testing::Not(HasSubstr("secret")));
}

TEST(NotificationPolicy, TakesTheSinksOfTheEnvironmentUnlessItHasItsOwn) {
  NotificationPolicy policy;
  add_environment_sinks(policy, {});
  EXPECT_THAT(policy.sinks, IsEmpty());
  const std::string topic = "arn:aws:sns:eu-west-1:123456789012:gpu-alerts";
  add_environment_sinks(
      policy, {.webhook_url = "http://hook", .lambda_function = "gpus", .sns_topic_arn = topic});
  add_environment_sinks(policy,
                        {.webhook_url = "http://x", .lambda_function = "x", .sns_topic_arn = "x"});

  ASSERT_THAT(policy.sinks, SizeIs(3));
  EXPECT_EQ(policy.sinks[0].url, "http://hook");
  EXPECT_EQ(policy.sinks[1].target, "gpus");
  EXPECT_EQ(policy.sinks[2].target, topic);
  EXPECT_EQ(policy.sinks[2].region, "eu-west-1");
  EXPECT_THAT(sinks_for(policy, Moment::kOpened, Severity::kMonitor),
              ElementsAre("webhook", "lambda", "sns"));
}

TEST(NotificationPolicy, ReadsTheSinksOfAws) {
  const auto policy = parse_policy(
      sinks_yaml("    - {name: t, sns: {topic_arn: 'arn:aws:sns:eu-west-1:123456789012:gpus'}}\n"
                 "    - {name: f, lambda: {function: gpus, region: us-east-2}}\n"
                 "    - {name: m, cloudwatch: {}}\n"
                 "    - {name: l, cloudwatch_logs: {group: /gpus/events}}\n"));

  ASSERT_TRUE(policy) << policy.error().message;
  const auto& sinks = policy->notifications.sinks;
  EXPECT_EQ(sinks[0].region, "eu-west-1");
  EXPECT_EQ(sinks[1].target, "gpus");
  EXPECT_EQ(sinks[1].region, "us-east-2");
  EXPECT_EQ(sinks[2].target, "gpuward");
  EXPECT_EQ(sinks[3].kind, "cloudwatch_logs");
  EXPECT_EQ(sinks[3].target, "/gpus/events");
  EXPECT_THAT(sinks[2].moments, ElementsAre(Moment::kOpened));
  for (const char* arn : {"gpus", "arn:aws:sqs:eu-west-1:123456789012:gpus", "arn:aws:sns:eu::x"}) {
    EXPECT_THAT(
        fault_of(sinks_yaml("    - {name: t, sns: {topic_arn: '" + std::string(arn) + "'}}\n")),
        HasSubstr("policy.yaml:3: notifications.sinks[0].sns.topic_arn: must be the ARN"));
  }
  EXPECT_THAT(fault_of(sinks_yaml("    - {name: m, cloudwatch: {namespace: AWS/EC2}}\n")),
              HasSubstr("must be a namespace of your own"));
}

TEST(NotificationPolicy, IsExplained) {
  const auto policy = parse_policy(sinks_yaml(
      "    - {name: oncall, slack: {url_file: /u}, moments: [held, paused], severity: reset}\n"));

  EXPECT_EQ(notifications_text(policy->notifications),
            "notified\n  oncall (slack), severity reset and worse: held paused\n");
  EXPECT_EQ(notifications_text({}), "");
}

TEST(NotifyStep, StandsAnywhereAfterTheFirst) {
  const std::string sink = sinks_yaml("    - {name: oncall, slack: {url_file: /u}}\n");
  const auto plan = [&](const std::string& steps) {
    return fault_of(sink + "severities:\n  isolate: " + steps + "\n");
  };
  EXPECT_EQ(plan("[taint, notify, cordon, drain]"), "no fault");
  EXPECT_EQ(plan("[taint, cordon, drain, notify: {sinks: [oncall]}]"), "no fault");
  EXPECT_EQ(plan("[taint, notify: {sinks: [webhook]}]"), "no fault");
  EXPECT_THAT(plan("[notify, taint]"), HasSubstr("notify needs taint or cordon before it"));
  EXPECT_THAT(plan("[taint, notify, notify]"), HasSubstr("names a step twice"));
  EXPECT_THAT(plan("[taint, cordon, drain, terminate, notify]"), HasSubstr("may follow terminate"));
  EXPECT_THAT(plan("[taint, cordon, verify, return-to-service, notify]"),
              HasSubstr("return-to-service must be the last step"));
  EXPECT_THAT(plan("[taint, notify: {sinks: [nobody]}]"),
              HasSubstr("names a sink that is not in notifications.sinks"));
  EXPECT_THAT(plan("[cordon, notify, taint]"), HasSubstr("must be in the order"));
}

TEST(MessageTemplate, KnowsItsPlaceholders) {
  EXPECT_TRUE(check_template("{{severity}} {{ node_name }} }} { {"));
  EXPECT_TRUE(check_template(default_text()));
  EXPECT_FALSE(check_template("{{severity"));
  EXPECT_FALSE(check_template("{{}}"));
  EXPECT_FALSE(check_template("{{Severity}}"));
}

TEST(MessageTemplate, ReadsNoValueAsATemplateAgain) {
  EXPECT_EQ(fill_template("a {{step}}{{ phase }} b",
                          [](std::string_view name) {
                            return name == "step" ? std::string("{{phase}}") : std::string("P");
                          }),
            "a {{phase}}P b");
}

}  // namespace
}  // namespace gpuward::remediator
