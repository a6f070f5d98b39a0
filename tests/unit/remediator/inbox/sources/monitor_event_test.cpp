#include "remediator/inbox/sources/monitor_event.h"

#include <gmock/gmock.h>

#include "core/runtime/json.h"
#include "tests/fakes/fake_clock.h"
#include "tests/unit/remediator/inbox/sources/source_fakes.h"

namespace gpuward::remediator {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

const WallTime kNow{std::chrono::seconds(1'790'000'000)};

Json event(const std::string& error_class, const std::string& node = "gpu-01") {
  return {{"timestamp", to_rfc3339(kNow - std::chrono::minutes(1))},
          {"error_type", error_class},
          {"node_name", node},
          {"instance_id", "i-0123"},
          {"error_details", "XID 79"},
          {"cluster_name", "prod"}};
}

Result<std::optional<AlertSignal>> read(const Json& json) {
  return signal_of_event(dump_json(json), kNow);
}

TEST(MonitorEvent, IsForeignEvidenceOfItsClassAndNode) {
  const auto signal = read(event("XID_CRITICAL_79"));

  ASSERT_TRUE(signal && *signal);
  EXPECT_EQ((*signal)->node, "gpu-01");
  EXPECT_EQ((*signal)->severity, Severity::kReset);
  EXPECT_EQ((*signal)->alertname, "event XID_CRITICAL_79");
  EXPECT_EQ((*signal)->error_class, "XID_CRITICAL_79");
  EXPECT_EQ((*signal)->starts_at, kNow - std::chrono::minutes(1));
  EXPECT_TRUE((*signal)->foreign);
  EXPECT_TRUE((*signal)->fingerprint.starts_with(kMonitorEventOrigin));
}

TEST(MonitorEvent, IsAsBadAsItsClassSays) {
  for (const char* broken :
       {"XID_CRITICAL_74", "XID_CRITICAL_UNKNOWN", "ECC_ERROR", "GPU_HEALTH_ERROR"}) {
    EXPECT_EQ((*read(event(broken)))->severity, Severity::kReset) << broken;
  }
  for (const char* odd :
       {"XID_WARNING_31", "XID_WARNING_UNKNOWN", "XID_ERROR", "GPU_HEALTH_WARNING"}) {
    EXPECT_EQ((*read(event(odd)))->severity, Severity::kMonitor) << odd;
  }
  EXPECT_EQ(*read(event("HEALTHY")), std::nullopt);
}

TEST(MonitorEvent, NamesTheMemberThatIsWrong) {
  const auto fault = [](const Json& json) {
    const auto signal = read(json);
    return signal ? "none" : signal.error().message;
  };
  EXPECT_THAT(fault(event("XID_CRITICAL_")), HasSubstr("error_type"));
  EXPECT_THAT(fault(event("XID_CRITICAL_79; rm")), HasSubstr("error_type"));
  EXPECT_THAT(fault(event("XID_CRITICAL_" + std::string(2000, '0') + "79")),
              HasSubstr("error_type"));
  EXPECT_THAT(fault(event("ECC_ERROR", "../pods")), HasSubstr("node_name"));
  EXPECT_THAT(fault(Json::array()), HasSubstr("object"));
  EXPECT_FALSE(signal_of_event("{", kNow));
}

// Node names repeat from cluster to cluster.
TEST(MonitorEvent, OfAnotherClusterThanThePolicysIsIgnored) {
  const auto of_policy = [](const Json& json, std::string_view cluster) {
    return signal_of_event(dump_json(json), kNow, cluster);
  };
  EXPECT_TRUE(*of_policy(event("ECC_ERROR"), "prod"));
  EXPECT_EQ(*of_policy(event("ECC_ERROR"), "prod-east"), std::nullopt);
  Json one = event("ECC_ERROR");
  one.erase("cluster_name");
  const auto nameless = of_policy(one, "prod");
  ASSERT_FALSE(nameless);
  EXPECT_THAT(nameless.error().message, HasSubstr("cluster_name: missing"));
  EXPECT_TRUE(*of_policy(one, ""));
}

TEST(MonitorEvent, WithoutATimeOrOfTheFutureIsOfNow) {
  Json one = event("ECC_ERROR");
  for (const char* time : {"", "yesterday", "2090-01-01T00:00:00Z"}) {
    one["timestamp"] = time;
    EXPECT_EQ((*read(one))->starts_at, kNow) << time;
  }
}

TEST(MonitorEventSource, EndsWhatNoEventHasRepeated) {
  fakes::FakeClock clock;
  CurrentPolicy policy{Policy{}};
  ListedEvidence known;
  MonitorEventSource source(policy, known, clock);
  known.all = {a_signal("gpu-01", "event.ab"), a_signal("gpu-02", "loki.cd")};
  for (AlertSignal& signal : known.all) signal.starts_at = clock.wall();

  EXPECT_THAT(source.look()->signals, IsEmpty());
  clock.advance(policy.get()->loki.quiet_for);

  const auto signals = source.look()->signals;
  ASSERT_THAT(signals, SizeIs(1));
  EXPECT_EQ(signals[0].node, "gpu-01");
  EXPECT_FALSE(signals[0].firing);
}

}  // namespace
}  // namespace gpuward::remediator
