#include "remediator/inbox/sources/alertmanager_alerts.h"

#include <gmock/gmock.h>

#include "core/runtime/clock.h"
#include "core/runtime/files.h"
#include "core/runtime/json.h"
#include "tests/places.inc"

namespace gpuward::remediator {
namespace {

using ::testing::HasSubstr;
using ::testing::SizeIs;

std::string golden(const std::string& name) {
  return *read_file(std::string(GPUWARD_SOURCE_DIR "/tests/testdata/alertmanager/") + name);
}

struct Decoded : Notification {
  std::vector<Alert> alerts;
};

Result<Decoded> decode_notification(std::string_view body, const PayloadLimits& limits = {}) {
  Decoded decoded;
  const auto notification = remediator::decode_notification(
      body, limits, [&decoded](Alert alert) { decoded.alerts.push_back(std::move(alert)); });
  if (!notification) return std::unexpected(notification.error());
  static_cast<Notification&>(decoded) = *notification;
  return decoded;
}

Json minimal() { return *parse_json(golden("v0.25.json")); }

Error error_of(const Json& payload) {
  const auto decoded = decode_notification(dump_json(payload));
  return decoded ? Error{ErrorKind::kInternal, "was taken", {}} : decoded.error();
}

TEST(AlertmanagerPayload, ReadsEveryShapeThatReleasesSend) {
  for (const char* name : {"v0.25.json", "v0.28.json", "v0.32.json", "v0.34.json"}) {
    const auto decoded = decode_notification(golden(name));
    ASSERT_TRUE(decoded) << name << ": " << decoded.error().message;
    EXPECT_FALSE(decoded->alerts.empty());
    EXPECT_TRUE(decoded->alerts[0].firing);
    EXPECT_FALSE(decoded->alerts[0].labels.at("node").empty());
  }
}

// Grafana does not repeat a refused notification.
TEST(AlertmanagerPayload, ReadsThatOfGrafana) {
  Json payload = minimal();
  payload.merge_patch({{"version", "1"},
                       {"orgId", 1},
                       {"title", "[FIRING:1] GpuFallenOffBus"},
                       {"state", "alerting"},
                       {"message", "**Firing**"}});
  payload["alerts"][0]["values"] = nullptr;
  payload["alerts"][0]["valueString"] = "";
  payload["alerts"][0]["silenceURL"] = "http://grafana/alerting/silence/new";

  const auto decoded = decode_notification(dump_json(payload));

  ASSERT_TRUE(decoded) << decoded.error().message;
  EXPECT_EQ(decoded->alerts.size(), payload["alerts"].size());
  EXPECT_EQ(to_signals(decoded->alerts).signals.size(), payload["alerts"].size());
}

TEST(AlertmanagerPayload, KeepsWhatMatters) {
  const auto decoded = decode_notification(golden("v0.28.json"));

  ASSERT_TRUE(decoded);
  ASSERT_THAT(decoded->alerts, SizeIs(2));
  EXPECT_EQ(decoded->alerts[0].fingerprint, "5ef77f1f8a3ecfbb");
  EXPECT_EQ(decoded->alerts[0].labels.at("remediation"), "reboot");
  EXPECT_EQ(decoded->alerts[0].starts_at, parse_rfc3339("2026-11-21T08:04:56.123456789Z"));
  EXPECT_FALSE(decoded->alerts[1].firing);
  EXPECT_EQ(decoded->alerts[1].ends_at, parse_rfc3339("2026-11-21T08:10:00Z"));
}

TEST(AlertmanagerPayload, ReadsTheNumberOfTruncatedAlerts) {
  EXPECT_EQ(decode_notification(golden("v0.32.json"))->truncated_alerts, 2U);
}

TEST(AlertmanagerPayload, JudgesEachAlertByItsOwnStatusNotTheGroups) {
  Json payload = minimal();
  payload["status"] = "firing";
  payload["alerts"][0]["status"] = "resolved";
  payload["alerts"][0]["endsAt"] = "2026-11-21T09:00:00Z";

  EXPECT_FALSE(decode_notification(dump_json(payload))->alerts[0].firing);
}

TEST(AlertmanagerPayload, SaysWhereAFaultIs) {
  struct Row {
    const char* pointer;
    Json value;
    const char* says;
  };
  const Row rows[] = {
      {"/version", "3", "version: only payload versions \"4\""},
      {"/version", 4, "version: expected the string"},
      {"/alerts", nullptr, "alerts: expected an array"},
      {"/alerts", Json::object(), "alerts: expected an array"},
      {"/alerts/0", 7, "alerts[0]: expected an object"},
      {"/alerts/0/labels", Json::array(), "alerts[0].labels: expected an object"},
      {"/alerts/0/labels/node", 5, "alerts[0].labels.node: expected a string"},
      {"/alerts/0/labels/node", nullptr, "alerts[0].labels.node: expected a string"},
      {"/alerts/0/status", "fireing", "alerts[0].status: expected firing or resolved"},
      {"/alerts/0/status", nullptr, "alerts[0].status"},
      {"/alerts/0/startsAt", "yesterday", "alerts[0].startsAt: expected an RFC 3339 time"},
      {"/alerts/0/startsAt", nullptr, "alerts[0].startsAt"},
      {"/alerts/0/fingerprint", 12, "alerts[0].fingerprint: expected a string"},
      {"/alerts/0/fingerprint", "../x", "alerts[0].fingerprint: expected at most 64"},
      {"/truncatedAlerts", "2", "truncatedAlerts: expected a non-negative whole number"},
      {"/truncatedAlerts", -1, "truncatedAlerts: expected a non-negative whole number"},
      {"/groupKey", 1, "groupKey: expected a string"},
  };
  for (const Row& row : rows) {
    Json payload = minimal();
    payload[Json::json_pointer(row.pointer)] = row.value;
    const Error error = error_of(payload);
    EXPECT_EQ(error.kind, ErrorKind::kInvalid) << row.pointer;
    EXPECT_THAT(error.message, HasSubstr(row.says));
  }
}

TEST(AlertmanagerPayload, DoesNotRepeatTheSendersValues) {
  Json payload = minimal();
  payload["alerts"][0]["status"] = "a-secret-value";
  EXPECT_THAT(error_of(payload).message, ::testing::Not(HasSubstr("a-secret-value")));
}

TEST(AlertmanagerPayload, RefusesWhatIsNoJsonObject) {
  for (const char* body : {"", "null", "[]", "\"4\"", "{", "{}", "{\"version\":\"4\"}", "\xff\xfe",
                           R"({"version":"4","version":"4","alerts":[]})"}) {
    EXPECT_FALSE(decode_notification(body)) << body;
  }
}

TEST(AlertmanagerPayload, RefusesDepthCountAndSizeOverTheCaps) {
  const std::string deep = R"({"version":"4","alerts":[],"x":)" + std::string(10'000, '[') +
                           std::string(10'000, ']') + "}";
  EXPECT_FALSE(decode_notification(deep));
  Json many = {{"version", "4"}, {"alerts", Json::array()}};
  for (int i = 0; i <= 10'000; ++i) many["alerts"].push_back(nullptr);
  EXPECT_THAT(error_of(many).message, HasSubstr("alerts: more than 10000 alerts"));
  Json wide = minimal();
  for (int i = 0; i < 65; ++i) wide["alerts"][0]["labels"]["l" + std::to_string(i)] = "x";
  EXPECT_THAT(error_of(wide).message, HasSubstr("alerts[0].labels: more than 64"));
  Json longer = minimal();
  longer["alerts"][0]["labels"]["node"] = std::string(4097, 'a');
  EXPECT_THAT(error_of(longer).message, HasSubstr("alerts[0].labels.node: longer than 4096"));
  EXPECT_FALSE(decode_notification(golden("v0.25.json"), {.max_bytes = 100}));
}

TEST(AlertmanagerPayload, TakesAsManyAlertsAsTheCapAllows) {
  PayloadLimits limits;
  limits.max_alerts = 3;
  Json many = minimal();
  while (many["alerts"].size() < 3) many["alerts"].push_back(many["alerts"][0]);
  EXPECT_THAT(decode_notification(dump_json(many), limits)->alerts, SizeIs(3));
  many["alerts"].push_back(many["alerts"][0]);
  EXPECT_FALSE(decode_notification(dump_json(many), limits));
}

TEST(AlertmanagerPayload, CountsWhatItDoesNotRead) {
  const auto refusal_with = [](const std::string& member) {
    const auto decoded = decode_notification(R"({"version":"4","alerts":[],)" + member + "}");
    return decoded ? "was taken" : decoded.error().message;
  };
  std::string members = R"("commonAnnotations":{)";
  for (int i = 0; i < 1'000; ++i) members += "\"a" + std::to_string(i) + "\":\"\",";
  EXPECT_THAT(refusal_with(members + R"("b":""})"), HasSubstr("more than 1000 members"));
  members.pop_back();
  EXPECT_EQ(refusal_with(members + "}"), "was taken");
  const std::string text((1U << 20U) + 1, 'a');
  EXPECT_THAT(refusal_with(R"("externalURL":")" + text + "\""), HasSubstr("longer than 1048576"));
  EXPECT_EQ(refusal_with(R"("externalURL":")" + text.substr(1) + "\""), "was taken");
  std::string values = "0";
  while (values.size() < 4'000'000) values += ",0";
  EXPECT_THAT(refusal_with("\"x\":[" + values + "]"), HasSubstr("more than 2000000 values"));
}

TEST(AlertmanagerPayload, NamesAVersionThatIsNotUnderstoodBeforeFaultsOfAlerts) {
  const auto message = [](std::string_view body) {
    return decode_notification(body).error().message;
  };
  EXPECT_THAT(message(R"({"alerts":[{"labels":3}],"version":"5"})"), HasSubstr("version: only"));
  EXPECT_THAT(message(R"({"alerts":[{"labels":3}],"version":"4","truncatedAlerts":"2"})"),
              HasSubstr("truncatedAlerts: expected"));
  EXPECT_THAT(message(R"({"alerts":[{"labels":3},{}],"version":"4","x":})"),
              HasSubstr("JSON rejected at byte"));
  EXPECT_THAT(message(R"({"alerts":[{"labels":3},7],"version":"4"})"),
              HasSubstr("alerts[0].labels"));
}

TEST(AlertmanagerPayload, HandsOverNoAlertBehindAFault) {
  Json payload = minimal();
  const Json alert = payload["alerts"][0];
  payload["alerts"] = {alert, alert, Json::object(), alert};
  int handed_over = 0;

  const auto notification = remediator::decode_notification(
      dump_json(payload), {}, [&handed_over](const Alert&) { ++handed_over; });

  ASSERT_FALSE(notification);
  EXPECT_THAT(notification.error().message, HasSubstr("alerts[2].labels"));
  EXPECT_EQ(handed_over, 2);
}

TEST(AlertmanagerPayload, MakesAFingerprintFromTheLabelsIfThereIsNone) {
  Json payload = minimal();
  payload["alerts"][0].erase("fingerprint");
  const auto first = decode_notification(dump_json(payload));
  payload["alerts"][0]["startsAt"] = "2026-11-22T00:00:00Z";
  const auto later = decode_notification(dump_json(payload));
  payload["alerts"][0]["labels"]["node"] = "gpu-02";
  const auto other = decode_notification(dump_json(payload));

  EXPECT_THAT(first->alerts[0].fingerprint, SizeIs(16));
  EXPECT_EQ(first->alerts[0].fingerprint, later->alerts[0].fingerprint);
  EXPECT_NE(first->alerts[0].fingerprint, other->alerts[0].fingerprint);
}

TEST(AlertmanagerPayload, ReadsTheAnswerOfTheAlertsApi) {
  const auto alerts = decode_active_alerts(
      R"([{"annotations":{},"endsAt":"2026-11-21T09:00:00.000Z","fingerprint":"ab12",
          "receivers":[{"name":"gpuward"}],"startsAt":"2026-11-21T08:00:00.000Z",
          "status":{"inhibitedBy":[],"silencedBy":[],"state":"active"},
          "updatedAt":"2026-11-21T08:00:05.000Z",
          "labels":{"alertname":"A","node":"gpu-03","remediation":"reset"}}])");

  ASSERT_TRUE(alerts) << alerts.error().message;
  ASSERT_THAT(*alerts, SizeIs(1));
  EXPECT_TRUE((*alerts)[0].firing);
  EXPECT_EQ((*alerts)[0].labels.at("node"), "gpu-03");
}

}  // namespace
}  // namespace gpuward::remediator
