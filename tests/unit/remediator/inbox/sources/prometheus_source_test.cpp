#include "remediator/inbox/sources/prometheus_source.h"

#include <gmock/gmock.h>

#include "tests/fakes/fake_clock.h"
#include "tests/unit/remediator/inbox/sources/source_fakes.h"

namespace gpuward::remediator {
namespace {

using std::chrono::minutes;
using std::chrono::seconds;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;

constexpr const char* kStarted =
    R"({"metric":{"__name__":"ALERTS_FOR_STATE","alertname":"Bad","node":"gpu-01","remediation":"reboot"},"value":[1790000100,"1790000000"]})";

std::string series(const std::string& samples, const std::string& more = "") {
  return R"({"status":"success",)" + more + R"("data":{"resultType":"vector","result":[)" +
         samples + "]}}";
}

class PrometheusSourceTest : public ::testing::Test {
 protected:
  PrometheusSourceTest() : policy(Policy{}) {}
  // Records the alert in the cluster.
  void remember() {
    const auto found = source.look();
    ASSERT_TRUE(found.has_value() && found->signals.size() == 1);
    known.all = found->signals;
  }
  std::vector<AlertSignal> signals() {
    const auto found = source.look();
    EXPECT_TRUE(found.has_value());
    return found ? found->signals : std::vector<AlertSignal>();
  }
  void ask_for_four_minutes() {
    for (int passed = 0; passed < 4; ++passed) {
      EXPECT_THAT(signals(), IsEmpty());
      clock.advance(minutes(1));
    }
  }
  fakes::FakeClock clock;
  AnsweringClient client;
  CurrentPolicy policy;
  ListedEvidence known;
  PrometheusSource source{{.url = "http://prometheus:9090/"}, client, policy, known, clock};
};

TEST_F(PrometheusSourceTest, TakesWhatFiresWithItsStartAndTheNameThatAlertmanagerGivesIt) {
  client.say(200, series(kStarted));

  const auto found = source.look();

  ASSERT_TRUE(found.has_value());
  ASSERT_THAT(found->signals, SizeIs(1));
  const AlertSignal& signal = found->signals[0];
  EXPECT_EQ(signal.node, "gpu-01");
  EXPECT_EQ(signal.severity, Severity::kReboot);
  EXPECT_EQ(signal.starts_at, WallTime(seconds(1790000000)));
  EXPECT_EQ(without_origin(signal.fingerprint),
            fingerprint_of({{"alertname", "Bad"}, {"node", "gpu-01"}, {"remediation", "reboot"}}));
  EXPECT_THAT(client.requests[0].url, HasSubstr("http://prometheus:9090/api/v1/query?query="));
  EXPECT_THAT(client.requests[0].url, HasSubstr("remediation%21%3D"));
}

TEST_F(PrometheusSourceTest, TakesAlertsOfItsClusterAndThoseThatNameNone) {
  Policy next;
  next.cluster = "east";
  policy.set(next);
  const auto of_cluster = [](const std::string& cluster, const std::string& node) {
    return R"({"metric":{"__name__":"ALERTS_FOR_STATE","alertname":"Bad",)" + cluster +
           R"("node":")" + node + R"(","remediation":"reboot"},"value":[1,"1"]})";
  };
  client.say(200,
             series(of_cluster(R"("cluster":"east",)", "gpu-01") + "," +
                    of_cluster(R"("cluster":"west",)", "gpu-02") + "," + of_cluster("", "gpu-03")));

  const auto found = source.look();

  ASSERT_TRUE(found.has_value());
  ASSERT_THAT(found->signals, SizeIs(2));
  EXPECT_EQ(found->signals[0].node, "gpu-01");
  EXPECT_EQ(found->signals[1].node, "gpu-03");
  EXPECT_FALSE(found->complaint);
  EXPECT_THAT(client.requests[0].url, HasSubstr("cluster%3D~%22%7Ceast%22"));
}

TEST_F(PrometheusSourceTest, SaysThatAlertsNameAClusterAndThePolicyNone) {
  client.say(
      200,
      series(
          R"({"metric":{"__name__":"ALERTS_FOR_STATE","alertname":"Bad","cluster":"west","node":"gpu-01","remediation":"reboot"},"value":[1,"1"]})"));

  const auto found = source.look();

  ASSERT_TRUE(found.has_value());
  EXPECT_THAT(found->signals, IsEmpty());
  ASSERT_TRUE(found->complaint);
  EXPECT_THAT(found->complaint->message, HasSubstr("set `cluster`"));
}

TEST_F(PrometheusSourceTest, AsksForAllIfThePolicyKnowsForeignAlerts) {
  Policy next;
  next.foreign_alerts = {{.match = {{"alertname", "Down"}}, .severity = Severity::kReset}};
  policy.set(next);
  client.say(
      200,
      series(
          R"({"metric":{"__name__":"ALERTS_FOR_STATE","alertname":"Down","node":"n"},"value":[1,"1"]})"));

  const auto found = signals();

  ASSERT_THAT(found, SizeIs(1));
  EXPECT_TRUE(found[0].foreign);
  EXPECT_THAT(client.requests[0].url, Not(HasSubstr("remediation")));
}

TEST_F(PrometheusSourceTest, SaysThatAnAlertHasEndedOnlyAfterItWasGoneForAWhile) {
  client.say(200, series(kStarted));
  remember();
  client.say(200, series(""));

  for (const int passed : {0, 2, 2}) {
    clock.advance(minutes(passed));
    EXPECT_THAT(signals(), IsEmpty());
  }
  clock.advance(minutes(1));
  const auto ended = signals();

  ASSERT_THAT(ended, SizeIs(1));
  EXPECT_FALSE(ended[0].firing);
  EXPECT_EQ(ended[0].node, "gpu-01");
}

TEST_F(PrometheusSourceTest, CountsTheAbsenceAnewOnceAnAlertWasBack) {
  client.say(200, series(kStarted));
  remember();
  client.say(200, series(""));
  ask_for_four_minutes();
  client.say(200, series(kStarted));
  (void)signals();
  client.say(200, series(""));
  ask_for_four_minutes();

  EXPECT_THAT(signals(), IsEmpty());
}

TEST_F(PrometheusSourceTest, EndsNothingOnAnAnswerThatMayLackAPart) {
  client.say(200, series(kStarted));
  remember();
  client.say(200, series("", R"("warnings":["a store did not answer"],)"));

  ask_for_four_minutes();
  ask_for_four_minutes();

  EXPECT_THAT(signals(), IsEmpty());
}

TEST_F(PrometheusSourceTest, EndsOnlyWhatIsItsOwn) {
  known.all = {a_signal("gpu-01", "ab12")};
  client.say(200, series(""));

  ask_for_four_minutes();
  ask_for_four_minutes();

  EXPECT_THAT(signals(), IsEmpty());
}

TEST_F(PrometheusSourceTest, ComplainsOfAlertsWithoutAStartAndTakesTheOthers) {
  client.say(
      200,
      series(
          std::string(kStarted) +
          R"(,{"metric":{"__name__":"ALERTS","alertname":"X","alertstate":"firing"},"value":[1,"1"]})"));

  const auto found = source.look();

  ASSERT_TRUE(found.has_value());
  EXPECT_THAT(found->signals, SizeIs(1));
  ASSERT_TRUE(found->complaint.has_value());
  EXPECT_THAT(found->complaint->message,
              HasSubstr("1 ignored for lack of a matching ALERTS_FOR_STATE"));
}

TEST_F(PrometheusSourceTest, FailsWithoutAUsableAnswer) {
  EXPECT_FALSE(source.look());
  client.say(503, "");
  EXPECT_FALSE(source.look());
  client.say(200, R"({"status":"error"})");
  EXPECT_FALSE(source.look());
  client.say(200, series(R"({"metric":{"node":7},"value":[1,"1"]})"));
  EXPECT_FALSE(source.look());
}

}  // namespace
}  // namespace gpuward::remediator
