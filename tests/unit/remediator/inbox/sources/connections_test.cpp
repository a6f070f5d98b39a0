// The facts of one replica about its sources, to text and back, and the answers of Prometheus.
#include "remediator/inbox/sources/connections.h"

#include <gmock/gmock.h>

#include "core/runtime/json.h"
#include "remediator/inbox/sources/connection_probe.h"
#include "tests/unit/remediator/inbox/sources/source_fakes.h"

namespace gpuward::remediator {
namespace {

using std::chrono::seconds;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::SizeIs;

const WallTime kNow = *parse_rfc3339("2026-11-21T08:00:00Z");

NamedNodes named(std::initializer_list<std::string_view> names) {
  NamedNodes nodes;
  for (const auto name : names) nodes.add(name);
  return nodes;
}

Connections all_facts() {
  return {.replica = "gpuward-remediator-a",
          .at = kNow,
          .calls = {.any = WebhookCall{kNow - seconds(5), "gpuward-remediator", "http://am:9093"},
                    .heartbeat = WebhookCall{kNow - seconds(6), {}, {}},
                    .foreign_heartbeat = WebhookCall{kNow - seconds(8), {}, {}}},
          .refused = RefusedCall{kNow - seconds(7), 401},
          .reads_alerts = true,
          .prometheus = PrometheusFacts{.error = "late",
                                        .targets = 7,
                                        .up = 6,
                                        .unnamed = 1,
                                        .other_jobs = 2,
                                        .reads_remediator = true,
                                        .heartbeat_fires = true,
                                        .alertmanagers = 3,
                                        .without_target = named({"a"}),
                                        .down = named({"b"}),
                                        .without_series = named({"c"}),
                                        .unalerted = named({"d"}),
                                        .unrecorded = named({"f", "e"})},
          .alertmanager = AlertmanagerFacts{"refused"}};
}

TEST(ConnectionFacts, ComeBackAsTheyWereWritten) {
  const Json written = to_json(all_facts());
  EXPECT_EQ(dump_json(to_json(connections_of(written))), dump_json(written));
  EXPECT_THAT(connections_of(written).prometheus->unrecorded.names, ElementsAre("e", "f"));
  EXPECT_EQ(connections_of(written).calls.any->at, kNow - seconds(5));
}

TEST(ConnectionFacts, OfAnotherShapeSayNothing) {
  const Connections facts = connections_of(
      *parse_json(R"({"at":7,"called":[],"prometheus":{"targets":"x","down":{"names":[1]}}})"));
  EXPECT_EQ(facts.at, WallTime{});
  EXPECT_FALSE(facts.calls.any);
  EXPECT_EQ(facts.prometheus->targets, 0U);
  EXPECT_EQ(facts.prometheus->down.count, 0U);
}

TEST(ConnectionFacts, NameAtMostSoManyNodes) {
  NamedNodes nodes;
  for (int i = 0; i < 700; ++i) nodes.add("gpu-" + std::to_string(i));
  EXPECT_EQ(nodes.count, 700U);
  EXPECT_THAT(nodes.names, SizeIs(NamedNodes::kMostNamed));
  EXPECT_TRUE(nodes.has("gpu-0"));
  EXPECT_TRUE(nodes.is_cut());
}

TEST(ConnectionFacts, OfSeveralReplicasAreTheNewestWithTheLastCallOfAny) {
  Connections older = all_facts(), newer = all_facts();
  older.calls.any->at = kNow + seconds(2);
  older.refused.reset();
  newer.replica = "gpuward-remediator-b";
  newer.at = kNow + seconds(9);
  newer.calls = {};

  const auto newest = newest_of({{"a", dump_json(to_json(older))},
                                 {"b", dump_json(to_json(newer))},
                                 {"c", "no JSON"},
                                 {"d", "[]"}},
                                kNow + seconds(10));

  ASSERT_TRUE(newest);
  EXPECT_EQ(newest->replica, "gpuward-remediator-b");
  EXPECT_EQ(newest->calls.any->at, kNow + seconds(2));
  EXPECT_EQ(newest->refused->status, 401);
  EXPECT_FALSE(newest_of({{"c", "no JSON"}}, kNow));
}

TEST(ConnectionFacts, LeaveOutAClockThatIsAhead) {
  Connections ahead = all_facts(), now = all_facts();
  ahead.at = kNow + std::chrono::hours(48);
  ahead.replica = "ahead";
  const auto newest =
      newest_of({{"a", dump_json(to_json(ahead))}, {"b", dump_json(to_json(now))}}, kNow);
  EXPECT_EQ(newest->replica, now.replica);
}

TEST(ConnectionFacts, AreThoseOfAReplicaWhosePrometheusAnswers) {
  Connections deaf = all_facts(), hears = all_facts();
  deaf.at = kNow;
  hears.at = kNow - seconds(20);
  hears.replica = "hears";
  hears.prometheus->error.clear();
  const auto newest =
      newest_of({{"a", dump_json(to_json(deaf))}, {"b", dump_json(to_json(hears))}}, kNow);
  EXPECT_EQ(newest->replica, "hears");
}

std::string sample(const std::string& what, const std::string& node, const std::string& value) {
  const std::string label = node.empty() ? "" : R"("node":")" + node + R"(",)";
  return R"({"metric":{)" + label + R"("what":")" + what + R"("},"value":[1763712300.1,")" + value +
         R"("]})";
}

std::string result(const std::string& samples) {
  return R"({"status":"success","data":{"resultType":"vector","result":[)" + samples + "]}}";
}

TEST(ConnectionProbe, ReadsWhatPrometheusHasOfEachNode) {
  const auto series = decode_fleet_series(
      result(sample("up", "gpu-01", "1") + "," + sample("up", "gpu-02", "0") + "," +
             sample("mute", "gpu-03", "1") + "," + sample("severity", "gpu-01", "3") + "," +
             sample("alert", "gpu-01", "2") + "," + sample("unnamed", "", "4") + "," +
             sample("other_jobs", "", "5") + "," + sample("remediator", "", "2") + "," +
             sample("heartbeat", "", "1")));

  ASSERT_TRUE(series) << series.error().message;
  EXPECT_TRUE(series->nodes.at("gpu-01").is_up);
  EXPECT_EQ(series->nodes.at("gpu-01").severity, Severity::kReboot);
  EXPECT_TRUE(series->nodes.at("gpu-01").has_alert);
  EXPECT_TRUE(series->nodes.at("gpu-02").has_target);
  EXPECT_FALSE(series->nodes.at("gpu-02").is_up);
  EXPECT_TRUE(series->nodes.at("gpu-03").lacks_series);
  EXPECT_EQ(series->unnamed, 4U);
  EXPECT_EQ(series->other_jobs, 5U);
  EXPECT_TRUE(series->reads_remediator);
  EXPECT_TRUE(series->heartbeat_fires);
}

TEST(ConnectionProbe, RefusesWhatIsNoResult) {
  EXPECT_FALSE(decode_fleet_series("{}"));
  EXPECT_FALSE(decode_fleet_series("no JSON"));
  EXPECT_FALSE(decode_fleet_series(result(sample("up", "gpu-01", "NaN"))));
}

TEST(ConnectionProbe, CountsAlertmanagersOnlyIfPrometheusNamesThem) {
  EXPECT_EQ(decode_alertmanagers(
                R"({"status":"success","data":{"activeAlertmanagers":[{"url":"http://a"}]}})"),
            1U);
  EXPECT_EQ(decode_alertmanagers(R"({"status":"success","data":{}})"), std::nullopt);
  EXPECT_EQ(decode_alertmanagers("404"), std::nullopt);
}

TEST(ConnectionProbe, AsksOnlyForItsOwnCluster) {
  EXPECT_THAT(fleet_series_query("east"), HasSubstr("cluster=~\"|east\""));
}

TEST(ConnectionProbe, SaysWhoDoesNotAnswer) {
  AnsweringClient client;
  CurrentPolicy policy{Policy{}};
  ConnectionProbe probe("http://prometheus:9090/", &client, "http://am:9093", &client, policy);
  EXPECT_FALSE(probe.ask_prometheus());
  client.say(503, "later");
  EXPECT_THAT(probe.ask_alertmanager().error().message, HasSubstr("it answered 503"));
  client.say(200, R"([{"labels":{"node":"gpu-01"}},{"labels":{}}])");
  EXPECT_THAT(*probe.ask_alertmanager(), ElementsAre("gpu-01"));
  client.say(200, "{}");
  EXPECT_FALSE(probe.ask_alertmanager());
  EXPECT_FALSE(ConnectionProbe("", &client, "", &client, policy).has_prometheus());
}

}  // namespace
}  // namespace gpuward::remediator
