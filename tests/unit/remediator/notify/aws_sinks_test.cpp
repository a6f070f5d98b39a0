// The sinks on AWS: against moto, which checks signatures and rights, and their requests against a
// script.
#include <gmock/gmock.h>

#include <atomic>

#include "core/aws/client.h"
#include "remediator/notify/sink.h"
#include "remediator/notify/sink_worker.h"
#include "remediator/notify/sns_sink.h"
#include "tests/fakes/fake_clock.h"
#include "tests/support/on_moto.h"
#include "tests/support/wait.h"
#include "tests/unit/core/kube/scripted_client.h"
#include "tests/unit/remediator/notify/receiver.h"

namespace gpuward::remediator {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

// Without blanks: moto re-encodes a form, with a `+` for each blank, before it checks the
// signature.
NotificationEvent sick_instance() {
  return {.id = "n-1",
          .timestamp = "2026-11-22T02:00:00.000Z",
          .error_type = "XID_CRITICAL_79",
          .node_name = "gpu-01",
          .instance_id = "i-0123",
          .message = "broken"};
}

SinkSettings of_kind(const std::string& kind, const std::string& target) {
  SinkSettings settings;
  settings.name = kind;
  settings.kind = kind;
  settings.target = target;
  settings.text = "{{node_name}}:{{message}}";
  return settings;
}

Status deliver(aws::AwsClient& aws, const SinkSettings& settings) {
  const auto sink = open_sink(settings, {.aws = aws});
  if (!sink) return std::unexpected(sink.error());
  return (*sink)->deliver(sick_instance(), {});
}

class AwsSinksTest : public ::testing::Test {
 protected:
  fakes::FakeClock clock_{fakes::FakeClock::Mode::kAutoAdvance};
  kube::ScriptedClient script_;
  aws::AwsClient aws_{script_,
                      {.variables = {{"AWS_ACCESS_KEY_ID", "AKIDEXAMPLE"},
                                     {"AWS_SECRET_ACCESS_KEY", "very-secret"},
                                     {"AWS_REGION", "eu-west-1"}}},
                      clock_};
};

TEST_F(AwsSinksTest, LambdaIsInvokedWithoutWaitingForIt) {
  script_.then(kube::answer(202, ""));

  ASSERT_TRUE(deliver(aws_, of_kind("lambda", "gpu alerts")));

  EXPECT_EQ(script_.requests.at(0).url,
            "https://lambda.eu-west-1.amazonaws.com/2015-03-31/functions/gpu%20alerts/invocations");
  EXPECT_EQ(script_.header(0, "X-Amz-Invocation-Type"), "Event");
  EXPECT_EQ((*parse_json(script_.requests[0].body))["error_type"], "XID_CRITICAL_79");
}

TEST_F(AwsSinksTest, CloudWatchCountsTheErrorByNodeInstanceAndType) {
  script_.then(kube::answer(200, "<PutMetricDataResponse/>"));

  ASSERT_TRUE(deliver(aws_, of_kind("cloudwatch", "gpuward")));

  const auto query = http::parse_query(script_.requests.at(0).body);
  const std::string datum = "MetricData.member.1.";
  EXPECT_EQ(http::query_value(query, "Action"), "PutMetricData");
  EXPECT_EQ(http::query_value(query, "Namespace"), "gpuward");
  EXPECT_EQ(http::query_value(query, datum + "MetricName"), "GPUErrorByType");
  EXPECT_EQ(http::query_value(query, datum + "Unit"), "Count");
  EXPECT_EQ(http::query_value(query, datum + "Value"), "1");
  EXPECT_EQ(http::query_value(query, datum + "Timestamp"), "2026-11-22T02:00:00.000Z");
  const std::vector<std::pair<std::string, std::string>> dimensions = {
      {"NodeName", "gpu-01"}, {"InstanceId", "i-0123"}, {"ErrorType", "XID_CRITICAL_79"}};
  for (std::size_t i = 0; i < dimensions.size(); ++i) {
    const std::string one = datum + "Dimensions.member." + std::to_string(i + 1) + ".";
    EXPECT_EQ(http::query_value(query, one + "Name"), dimensions[i].first);
    EXPECT_EQ(http::query_value(query, one + "Value"), dimensions[i].second);
  }
}

TEST_F(AwsSinksTest, CloudWatchLogsHasTheEventAsALine) {
  script_.then(kube::answer(200, "{}"));

  ASSERT_TRUE(deliver(aws_, of_kind("cloudwatch_logs", "/gpus/events")));

  EXPECT_EQ(script_.requests.at(0).url, "https://logs.eu-west-1.amazonaws.com/");
  EXPECT_EQ(script_.header(0, "X-Amz-Target"), "Logs_20140328.PutLogEvents");
  EXPECT_EQ(script_.header(0, "Content-Type"), "application/x-amz-json-1.1");
  const Json body = *parse_json(script_.requests[0].body);
  EXPECT_EQ(body["logGroupName"], "/gpus/events");
  EXPECT_EQ(body["logEvents"][0]["timestamp"], 1795312800000);
  const auto line = parse_json(body["logEvents"][0]["message"].get<std::string>());
  EXPECT_EQ((*line)["error_type"], "XID_CRITICAL_79");
}

TEST_F(AwsSinksTest, CloudWatchLogsHasTheEventThoughAnotherReplicaHasMadeTheStream) {
  script_.then(kube::answer(400, R"({"__type":"ResourceNotFoundException"})"));
  script_.then(kube::answer(400, R"({"__type":"ResourceAlreadyExistsException"})"));
  script_.then(kube::answer(200, "{}"));

  EXPECT_TRUE(deliver(aws_, of_kind("cloudwatch_logs", "gpu")));
}

TEST_F(AwsSinksTest, AnEventThatIsTooOldForCloudWatchLogsIsNotTriedForEver) {
  script_.then(kube::answer(200, R"({"rejectedLogEventsInfo": {"tooOldLogEventEndIndex": 1}})"));

  const auto said = deliver(aws_, of_kind("cloudwatch_logs", "gpus"));

  ASSERT_FALSE(said);
  EXPECT_EQ(said.error().kind, ErrorKind::kInvalid);
}

TEST_F(AwsSinksTest, WhatIsRefusedSaysSoWithoutASecret) {
  script_.then(
      kube::answer(403,
                   "<ErrorResponse><Error><Code>AuthorizationError</Code><Message>not "
                   "authorized to perform: SNS:Publish</Message></Error></ErrorResponse>"));

  const auto said = deliver(aws_, of_kind("sns", "arn:aws:sns:eu-west-1:123456789012:gpus"));

  ASSERT_FALSE(said);
  EXPECT_NE(said.error().kind, ErrorKind::kInvalid) << "a right can be given";
  EXPECT_THAT(said.error().message, AllOf(HasSubstr("SNS:Publish"), Not(HasSubstr("very-secret"))));
}

TEST_F(AwsSinksTest, AnEventIsTriedAgainIfTheRegionIsNotKnownYet) {
  aws::AwsClient without_region(
      script_,
      {.variables = {{"AWS_ACCESS_KEY_ID", "AKIDEXAMPLE"}, {"AWS_SECRET_ACCESS_KEY", "secret"}}},
      clock_);
  script_.then_fail(ErrorKind::kTimeout);      // the EC2 metadata service fails,
  script_.then(kube::answer(200, "session"));  // and answers later
  script_.then(kube::answer(200, "eu-west-1"));
  script_.then(kube::answer(200, "<PublishResponse/>"));
  auto sink =
      open_sink(of_kind("sns", "arn:aws:sns:eu-west-1:123456789012:gpus"), {.aws = without_region});
  ASSERT_TRUE(sink);
  Log log(LogLevel::kError, LogFormat::kLogfmt);
  std::atomic<int> ended{0};
  SinkWorker worker(of_kind("sns", "gpus"), std::move(*sink), clock_, log,
                    [&](const NotificationEvent&) { ++ended; });

  EXPECT_FALSE(worker.has_ended(sick_instance()));

  ASSERT_TRUE(support::wait_until([&] { return ended == 1; }, "the end of the event"));
  EXPECT_EQ(worker.tally().ended.at(Delivery::kSent), 1U);
}

TEST_F(AwsSinksTest, EachCallHasTheTimeOutOfItsSink) {
  for (const char* const kind : {"cloudwatch", "cloudwatch_logs", "lambda", "sns"}) {
    SinkSettings settings = of_kind(kind, "gpus");
    settings.timeout = std::chrono::seconds(3);
    script_.then(kube::answer(200, "<Answer/>"));

    EXPECT_TRUE(deliver(aws_, settings)) << kind;

    EXPECT_EQ(script_.requests.back().timeout, settings.timeout) << kind;
  }
}

TEST(SnsSubject, IsWhatSnsTakes) {
  EXPECT_EQ(sns_subject(" \n severity\treset: 50 \xc2\xb5s"), "severity reset: 50 s");
  EXPECT_EQ(sns_subject(std::string(300, 'x')).size(), 100U);
}

class MotoSinksTest : public support::OnMoto<> {
 protected:
  static aws::XmlElement sns(const std::string& action, http::Query parameters) {
    const auto done = moto->admin().query({.service = aws::kSns,
                                           .action = action,
                                           .version = "2010-03-31",
                                           .parameters = std::move(parameters)});
    EXPECT_TRUE(done) << done.error().message;
    return done.value_or(aws::XmlElement{});
  }
  // Adds a user with this right alone.
  static std::map<std::string, std::string> add_user(const std::string& name,
                                                     const std::string& action) {
    const auto variables = moto->add_user(
        name, R"({"Version":"2012-10-17","Statement":[{"Effect":"Allow","Action":[")" + action +
                  R"("],"Resource":"*"}]})");
    EXPECT_TRUE(variables) << variables.error().message;
    return variables.value_or(std::map<std::string, std::string>());
  }
  Status deliver_with(const std::map<std::string, std::string>& variables,
                      const SinkSettings& settings) {
    aws::AwsClient aws(http_, {.variables = variables}, clock_);
    return deliver(aws, settings);
  }
  Status deliver_as(const std::string& user, const std::string& action,
                    const SinkSettings& settings) {
    return deliver_with(add_user(user, action), settings);
  }

  SystemClock clock_;
  http::CurlClient http_;
};

TEST_F(MotoSinksTest, SnsPassesTheEventOnToThoseWhoHaveSubscribed) {
  const Receiver receiver;
  const std::string topic =
      sns("CreateTopic", {{"Name", "gpus"}}).text_at("CreateTopicResult/TopicArn");
  sns("Subscribe", {{"TopicArn", topic}, {"Protocol", "http"}, {"Endpoint", receiver.url()}});

  const auto said = deliver_as("publisher", "sns:Publish", of_kind("sns", topic));

  ASSERT_TRUE(said) << said.error().message;
  ASSERT_TRUE(support::wait_until([&] { return !receiver.requests().empty(); }, "the message"));
  EXPECT_EQ(receiver.events()[0]["Subject"], "gpu-01:broken");
  const auto message = parse_json(receiver.events()[0]["Message"].get<std::string>());
  ASSERT_TRUE(message);
  EXPECT_EQ((*message)["node_name"], "gpu-01");
}

// AWS calls the right cloudwatch:PutMetricData, moto by the name that requests are signed with.
TEST_F(MotoSinksTest, CloudWatchHasTheMetricAfterwards) {
  const auto said =
      deliver_as("counter", "monitoring:PutMetricData", of_kind("cloudwatch", "gpuward"));

  ASSERT_TRUE(said) << said.error().message;
  const auto metrics = moto->admin().query({.service = aws::kCloudWatch,
                                            .action = "ListMetrics",
                                            .version = "2010-08-01",
                                            .parameters = {{"Namespace", "gpuward"}}});
  ASSERT_TRUE(metrics) << metrics.error().message;
  EXPECT_EQ(metrics->text_at("ListMetricsResult/Metrics/member/MetricName"), "GPUErrorByType");
}

TEST_F(MotoSinksTest, CloudWatchLogsMakesItsStreamAndNotTheGroup) {
  const auto logs = [](const std::string& action, const Json& body) {
    const auto answer =
        moto->admin().call({.service = aws::kCloudWatchLogs,
                            .what = action,
                            .headers = {{"Content-Type", "application/x-amz-json-1.1"},
                                        {"X-Amz-Target", "Logs_20140328." + action}},
                            .body = dump_json(body)});
    EXPECT_TRUE(answer) << answer.error().message;
    return answer ? parse_json(answer->body).value_or(Json()) : Json();
  };
  const auto logger = add_user("logger", R"(logs:PutLogEvents","logs:CreateLogStream)");
  const auto to_group = [&] { return deliver_with(logger, of_kind("cloudwatch_logs", "gpus")); };

  const auto early = to_group();
  ASSERT_FALSE(early);
  EXPECT_EQ(early.error().kind, ErrorKind::kNotFound);
  EXPECT_THAT(early.error().message, HasSubstr("log group"));

  logs("CreateLogGroup", {{"logGroupName", "gpus"}});
  for (int i = 0; i < 2; ++i) {
    const auto said = to_group();
    ASSERT_TRUE(said) << said.error().message;
  }
  const Json there = logs(
      "GetLogEvents",
      {{"logGroupName", "gpus"}, {"logStreamName", "gpuward-remediator"}, {"startFromHead", true}});
  ASSERT_EQ(there["events"].size(), 2U);
  EXPECT_THAT(there["events"][0]["message"].get<std::string>(), HasSubstr("XID_CRITICAL_79"));
}

TEST_F(MotoSinksTest, ARightThatIsMissingIsOneClearError) {
  const auto said = deliver_as("stranger", "ec2:DescribeInstances", of_kind("lambda", "gpus"));

  ASSERT_FALSE(said);
  EXPECT_EQ(said.error().kind, ErrorKind::kForbidden);
  EXPECT_THAT(said.error().message, HasSubstr("is not authorized to perform: lambda:Invoke"));
}

TEST_F(MotoSinksTest, AFunctionThatIsNotThereIsOneClearError) {
  const auto said = deliver_as("caller", "lambda:Invoke", of_kind("lambda", "gpus"));

  ASSERT_FALSE(said);
  EXPECT_EQ(said.error().kind, ErrorKind::kNotFound);
  EXPECT_THAT(said.error().message, HasSubstr("gpus"));
}

}  // namespace
}  // namespace gpuward::remediator
