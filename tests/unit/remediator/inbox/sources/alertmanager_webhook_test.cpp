#include "remediator/inbox/sources/alertmanager_webhook.h"

#include <gmock/gmock.h>

#include <functional>
#include <utility>

#include "core/runtime/clock.h"
#include "core/runtime/files.h"
#include "core/runtime/json.h"
#include "tests/fakes/fake_clock.h"
#include "tests/places.inc"
#include "tests/unit/remediator/inbox/sources/source_fakes.h"

namespace gpuward::remediator {
namespace {

using ::testing::HasSubstr;
using ::testing::SizeIs;

class RecordingIntake final : public Intake {
 public:
  Result<IntakeCounts> take(std::span<const AlertSignal> signals, Clock::Steady deadline) override {
    taken.insert(taken.end(), signals.begin(), signals.end());
    last_deadline = deadline;
    if (const auto once = std::exchange(during, nullptr)) once();
    if (error) return std::unexpected(*error);
    return IntakeCounts{.accepted = signals.size()};
  }
  std::vector<AlertSignal> taken;
  Clock::Steady last_deadline;
  std::optional<Error> error;
  std::function<void()> during;
};

class FixedAlerts final : public FiringAlerts {
 public:
  Result<std::vector<Alert>> read(std::chrono::milliseconds) override {
    ++reads;
    return answer;
  }
  int reads = 0;
  Result<std::vector<Alert>> answer = std::vector<Alert>();
};

class RecordingObserver final : public WebhookObserver {
 public:
  void on_notification(const WebhookOutcome& outcome) override { outcomes.push_back(outcome); }
  std::vector<WebhookOutcome> outcomes;
};

class Webhook : public ::testing::Test {
 protected:
  static std::string golden(const std::string& name) {
    return *read_file(std::string(GPUWARD_SOURCE_DIR "/tests/testdata/alertmanager/") + name);
  }
  static http::Request request(std::string body, std::string type = "application/json") {
    http::Request made;
    made.method = "POST";
    made.path = "/api/v1/alerts";
    made.headers.emplace_back("Content-Type", std::move(type));
    made.body = std::move(body);
    return made;
  }
  Json answer(const http::Response& response) { return *parse_json(*response.body); }

  fakes::FakeClock clock_;
  RecordingIntake intake_;
  RecordingObserver observer_;
  FixedAlerts firing_;
  AlertmanagerWebhook webhook_{WebhookOptions{}, intake_, nullptr, observer_, clock_};
};

TEST_F(Webhook, Answers200OnceAllIsDurableAndSaysWhatBecameOfIt) {
  const auto response = webhook_.handle(request(golden("v0.28.json")));

  EXPECT_EQ(response.status, 200);
  EXPECT_EQ(answer(response)["accepted"], 2);
  EXPECT_THAT(intake_.taken, SizeIs(2));
  ASSERT_THAT(observer_.outcomes, SizeIs(1));
  EXPECT_EQ(observer_.outcomes[0].accepted, 2U);
}

TEST_F(Webhook, RemembersItsLastCallerOnlyOnceItHasAccepted) {
  Json payload = *parse_json(golden("v0.28.json"));
  intake_.error = Error{ErrorKind::kUnavailable, "no API server"};
  (void)webhook_.handle(request(dump_json(payload)));
  EXPECT_FALSE(webhook_.calls().any);
  intake_.error.reset();
  (void)webhook_.handle(request(dump_json(payload)));
  const auto call = webhook_.calls().any;
  ASSERT_TRUE(call);
  EXPECT_EQ(call->sender, "http://alertmanager:9093");
  EXPECT_EQ(call->receiver, "gpuward\\.remediator");
  EXPECT_EQ(call->at, clock_.wall());
  EXPECT_FALSE(webhook_.calls().heartbeat);

  payload["externalURL"] = "http://user:secret@alertmanager:9093";
  (void)webhook_.handle(request(dump_json(payload)));
  EXPECT_EQ(webhook_.calls().any->sender, "");
}

// `helm test` sends such a probe.
TEST_F(Webhook, TakesAProbeForNoCaller) {
  EXPECT_EQ(webhook_.handle(request(R"({"version":"4","alerts":[]})")).status, 200);
  EXPECT_FALSE(webhook_.calls().any);
}

TEST_F(Webhook, KnowsTheHeartbeatOfItsOwnCluster) {
  Json payload = *parse_json(golden("v0.25.json"));
  Json& labels = payload["alerts"][0]["labels"];
  labels = {{"alertname", "GpuwardDeadMansSwitch"}, {"cluster", "east"}};
  (void)webhook_.handle(request(dump_json(payload)));
  EXPECT_FALSE(webhook_.calls().heartbeat);
  EXPECT_TRUE(webhook_.calls().foreign_heartbeat);
  labels.erase("cluster");
  (void)webhook_.handle(request(dump_json(payload)));
  EXPECT_TRUE(webhook_.calls().heartbeat);
}

TEST_F(Webhook, NamesBadAlertsAndTakesTheOthers) {
  Json payload = *parse_json(golden("v0.28.json"));
  payload["alerts"][1]["labels"]["node"] = "../../pods";

  const auto response = webhook_.handle(request(dump_json(payload)));

  EXPECT_EQ(response.status, 200);
  EXPECT_EQ(answer(response)["accepted"], 1);
  EXPECT_EQ(answer(response)["rejected"], 1);
  EXPECT_THAT(*response.body, HasSubstr("alerts[1]: label node"));
  EXPECT_THAT(*response.body, ::testing::Not(HasSubstr("pods")));
  EXPECT_THAT(observer_.outcomes[0].problem, HasSubstr("label node"));
}

TEST_F(Webhook, KeepsItsAnswerShortHoweverMuchIsWrong) {
  Json payload = *parse_json(golden("v0.25.json"));
  payload["alerts"][0]["labels"].erase("node");
  while (payload["alerts"].size() < 500) payload["alerts"].push_back(payload["alerts"][0]);

  const auto response = webhook_.handle(request(dump_json(payload)));

  EXPECT_EQ(answer(response)["rejected"], 500);
  EXPECT_LT(response.body->size(), 1024U);
}

TEST_F(Webhook, Answers400WithThePlaceOfTheFault) {
  const auto response = webhook_.handle(request(R"({"version":"4","alerts":[{"labels":3}]})"));

  EXPECT_EQ(response.status, 400);
  EXPECT_THAT(*response.body, HasSubstr("alerts[0].labels"));
  EXPECT_EQ(observer_.outcomes[0].failure, "bad_request");
}

TEST_F(Webhook, TakesAnEventOfTheMonitorThatIsReplaced) {
  const std::string sick = R"({"error_type": "ECC_ERROR", "node_name": "gpu-01"})";
  const auto taken = webhook_.handle_event(request(sick));

  EXPECT_EQ(taken.status, 200);
  EXPECT_EQ(answer(taken)["accepted"], 1);
  ASSERT_THAT(intake_.taken, SizeIs(1));
  EXPECT_EQ(intake_.taken[0].node, "gpu-01");

  const auto well =
      webhook_.handle_event(request(R"({"error_type": "HEALTHY", "node_name": "gpu-01"})"));
  EXPECT_EQ(well.status, 200);
  EXPECT_EQ(answer(well)["ignored"], 1);
  EXPECT_THAT(intake_.taken, SizeIs(1));

  EXPECT_EQ(webhook_.handle_event(request("{}")).status, 400);
  EXPECT_EQ(webhook_.handle_event(request(sick, "text/plain")).status, 415);
  intake_.error = Error{ErrorKind::kUnavailable, "no", {}};
  EXPECT_EQ(webhook_.handle_event(request(sick)).status, 503);
  webhook_.close();
  EXPECT_EQ(webhook_.handle_event(request(sick)).status, 503);
}

TEST_F(Webhook, IgnoresAnEventOfAnotherCluster) {
  Policy east;
  east.cluster = "east";
  const CurrentPolicy policy{east};
  AlertmanagerWebhook of_east({.policy = &policy}, intake_, nullptr, observer_, clock_);
  const auto event = [](const std::string& cluster) {
    return R"({"error_type": "ECC_ERROR", "node_name": "gpu-01", "cluster_name": ")" + cluster +
           "\"}";
  };

  EXPECT_EQ(answer(of_east.handle_event(request(event("west"))))["ignored"], 1);
  EXPECT_EQ(of_east.handle_event(request(event(""))).status, 400);
  EXPECT_THAT(intake_.taken, SizeIs(0));
  EXPECT_EQ(answer(of_east.handle_event(request(event("east"))))["accepted"], 1);
  EXPECT_THAT(intake_.taken, SizeIs(1));
}

TEST_F(Webhook, Answers415ToOtherMediaTypes) {
  for (const char* type : {"", "text/plain", "application/x-www-form-urlencoded", "json"}) {
    EXPECT_EQ(webhook_.handle(request("{}", type)).status, 415) << type;
  }
  EXPECT_EQ(webhook_.handle(request("{}", "Application/JSON; charset=utf-8")).status, 400);
}

TEST_F(Webhook, Answers503WhateverKeptTheOrdersFromBeingRecorded) {
  for (const ErrorKind kind : {ErrorKind::kUnavailable, ErrorKind::kOverloaded, ErrorKind::kTimeout,
                               ErrorKind::kForbidden, ErrorKind::kInternal, ErrorKind::kInvalid}) {
    intake_.error = Error{kind, "no", {}};
    EXPECT_EQ(webhook_.handle(request(golden("v0.25.json"))).status, 503);
  }
}

// Otherwise it would fire in its record until an operator cancels it.
TEST_F(Webhook, EndsByItsFingerprintAnAlertWhoseRuleIsNoMore) {
  ListedEvidence known;
  known.all = {a_signal("gpu-7", "ab12")};
  AlertmanagerWebhook knowing({.known = &known}, intake_, nullptr, observer_, clock_);
  const auto tell = [&](AlertmanagerWebhook& webhook, const std::string& fingerprint,
                        const std::string& status) {
    intake_.taken.clear();
    const Json alert = {{"status", status},
                        {"labels", {{"alertname", "DcgmGpuLost"}, {"Hostname", "gpu-7"}}},
                        {"startsAt", "2026-01-01T00:00:00Z"},
                        {"endsAt", "2026-01-01T00:05:00Z"},
                        {"fingerprint", fingerprint}};
    const Json body = {{"version", "4"}, {"alerts", Json::array({alert})}};
    return answer(webhook.handle(request(dump_json(body))));
  };

  EXPECT_EQ(tell(knowing, "ab12", "resolved")["accepted"], 1);

  ASSERT_THAT(intake_.taken, SizeIs(1));
  EXPECT_EQ(intake_.taken[0].node, "gpu-7");
  EXPECT_FALSE(intake_.taken[0].firing);
  EXPECT_EQ(intake_.taken[0].ends_at, *parse_rfc3339("2026-01-01T00:05:00Z"));
  for (const auto& [fingerprint, status] :
       {std::pair("ab13", "resolved"), std::pair("ab12", "firing")}) {
    EXPECT_EQ(tell(knowing, fingerprint, status)["ignored"], 1);
    EXPECT_THAT(intake_.taken, SizeIs(0));
  }
}

TEST_F(Webhook, Answers503WhileShuttingDown) {
  webhook_.close();

  EXPECT_EQ(webhook_.handle(request(golden("v0.25.json"))).status, 503);
  EXPECT_THAT(intake_.taken, SizeIs(0));
}

TEST_F(Webhook, Answers503AtOnceIfTooManyAreUnderWay) {
  WebhookOptions options;
  options.max_in_flight = 1;
  AlertmanagerWebhook narrow(options, intake_, nullptr, observer_, clock_);
  int status_of_second = 0;
  intake_.during = [&] { status_of_second = narrow.handle(request(golden("v0.25.json"))).status; };

  EXPECT_EQ(narrow.handle(request(golden("v0.25.json"))).status, 200);
  EXPECT_EQ(status_of_second, 503);
  EXPECT_EQ(narrow.handle(request(golden("v0.25.json"))).status, 200);
}

TEST_F(Webhook, GivesTheDurablePartLessThanASecond) {
  (void)webhook_.handle(request(golden("v0.25.json")));

  EXPECT_LT(intake_.last_deadline - clock_.steady(), std::chrono::seconds(1));
  EXPECT_GT(intake_.last_deadline, clock_.steady());
}

TEST_F(Webhook, ReadsTheAlertsThatWereCutOffFromTheAlertmanager) {
  Alert hidden;
  hidden.fingerprint = "cd";
  hidden.labels = {{"node", "gpu-77"}, {"remediation", "isolate"}};
  firing_.answer = std::vector<Alert>{hidden};
  AlertmanagerWebhook webhook({}, intake_, &firing_, observer_, clock_);

  EXPECT_EQ(webhook.handle(request(golden("v0.32.json"))).status, 200);

  ASSERT_THAT(intake_.taken, SizeIs(2));
  EXPECT_EQ(intake_.taken[1].node, "gpu-77");
  EXPECT_EQ(observer_.outcomes[0].truncated, 2U);
}

TEST_F(Webhook, DoesNotAskTheAlertmanagerIfNothingWasCutOff) {
  AlertmanagerWebhook webhook({}, intake_, &firing_, observer_, clock_);

  (void)webhook.handle(request(golden("v0.25.json")));

  EXPECT_EQ(firing_.reads, 0);
}

TEST_F(Webhook, Answers503IfTheCutOffAlertsCannotBeRead) {
  firing_.answer = fail(ErrorKind::kUnavailable, "down");
  AlertmanagerWebhook webhook({}, intake_, &firing_, observer_, clock_);

  EXPECT_EQ(webhook.handle(request(golden("v0.32.json"))).status, 503);
  EXPECT_EQ(observer_.outcomes[0].failure, "alertmanager_api");
}

TEST_F(Webhook, RecordsWhatItWasGivenEvenIfTheCutOffAlertsCannotBeRead) {
  firing_.answer = fail(ErrorKind::kUnavailable, "down");
  AlertmanagerWebhook webhook({}, intake_, &firing_, observer_, clock_);

  EXPECT_EQ(webhook.handle(request(golden("v0.32.json"))).status, 503);

  EXPECT_THAT(intake_.taken, SizeIs(1));
  EXPECT_EQ(observer_.outcomes[0].accepted, 1U);
}

TEST_F(Webhook, TakesWhatIsThereIfNoAlertmanagerIsConfigured) {
  EXPECT_EQ(webhook_.handle(request(golden("v0.32.json"))).status, 200);
  EXPECT_EQ(observer_.outcomes[0].truncated, 2U);
}

}  // namespace
}  // namespace gpuward::remediator
