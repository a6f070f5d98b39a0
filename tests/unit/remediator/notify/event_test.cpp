#include "remediator/notify/event.h"

#include <gmock/gmock.h>

#include "core/runtime/clock.h"
#include "core/runtime/json.h"
#include "remediator/notify/slack_sink.h"

namespace gpuward::remediator {
namespace {

using ::testing::StartsWith;

Remediation sick_node() {
  Remediation remediation;
  remediation.name = "gpu-01-abc-1";
  remediation.node = "gpu-01";
  remediation.instance_id = "aws:///eu-1a/i-0123";
  remediation.severity = Severity::kReboot;
  remediation.alerts.push_back({"GpuNodeNeedsReboot",
                                "ab",
                                Severity::kReboot,
                                {},
                                {},
                                std::nullopt,
                                false,
                                "GPU_HEALTH_ERROR"});
  remediation.alerts.push_back(
      {"DcgmXid", "cd", Severity::kIsolate, {}, {}, std::nullopt, true, "XID_CRITICAL_79"});
  return remediation;
}

Notice notice() {
  return {.id = "gpu-01-abc-1-held-1",
          .moment = Moment::kHeld,
          .sinks = {"oncall"},
          .at = Clock::Wall(std::chrono::hours(500'000)),
          .severity = Severity::kReboot,
          .step = "",
          .phase = "Held",
          .mode = "full",
          .message = "drain failed: <!channel>"};
}

TEST(NotificationEvent, HasTheFieldsOfTheMonitorThatIsReplacedAndOurs) {
  const auto event = event_of(sick_node(), notice(), {.cluster = "prod", .sinks = {}});

  EXPECT_EQ(*parse_json(to_event_json(event, "text")),
            Json({{"timestamp", "2027-01-15T08:00:00.000Z"},
                  {"error_type", "XID_CRITICAL_79"},
                  {"node_name", "gpu-01"},
                  {"instance_id", "i-0123"},
                  {"error_details", "GpuNodeNeedsReboot GPU_HEALTH_ERROR, DcgmXid XID_CRITICAL_79"},
                  {"cluster_name", "prod"},
                  {"remediation", "gpu-01-abc-1"},
                  {"severity", "reboot"},
                  {"moment", "held"},
                  {"step", ""},
                  {"phase", "Held"},
                  {"mode", "full"},
                  {"message", "drain failed: <!channel>"},
                  {"runbook", "gpuward-remediator runbook GpuNodeNeedsReboot"},
                  {"id", "gpu-01-abc-1-held-1"},
                  {"dry_run", false},
                  {"text", "text"}}));
}

TEST(NotificationEvent, FillsEveryPlaceholderOfItsText) {
  const auto event = event_of(sick_node(), notice(), {.cluster = "prod", .sinks = {}});

  EXPECT_EQ(text_of(event, "{{severity}} on {{ node_name }}/{{instance_id}}: {{error_type}}"),
            "reboot on gpu-01/i-0123: XID_CRITICAL_79");
}

TEST(NotificationEvent, SaysWhatIsOnlyWatched) {
  Notice watched = notice();
  watched.mode = "observe";

  const auto event = event_of(sick_node(), watched, {});

  EXPECT_TRUE(event.dry_run);
  EXPECT_THAT(text_of(event, "{{message}}"), StartsWith("(observed only) "));
}

TEST(NotificationEvent, LinksNoRunbookForTheRulesOfOthers) {
  Remediation remediation = sick_node();
  remediation.alerts.erase(remediation.alerts.begin());

  EXPECT_EQ(event_of(remediation, notice(), {}).runbook, "");
  EXPECT_EQ(event_of(sick_node(), notice(), {.runbook_url = "https://wiki", .sinks = {}}).runbook,
            "https://wiki/GpuNodeNeedsReboot");
}

TEST(NotificationEvent, CallsNobodyByTheWordsOfAnAlert) {
  EXPECT_EQ(escape_for_slack("<!channel> & <@U1>"), "&lt;!channel&gt; &amp; &lt;@U1&gt;");
}

}  // namespace
}  // namespace gpuward::remediator
