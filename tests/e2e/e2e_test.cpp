// The whole flow with only real parts: kernel log, gpuward-exporter, Prometheus, two Alertmanagers,
// gpuward-remediator with its own RBAC, kube-apiserver. All tests share one Stack; each checks
// another node.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <iostream>
#include <regex>

#include "core/runtime/files.h"
#include "core/runtime/json.h"
#include "tests/alerts/alert_rules.h"
#include "tests/e2e/part_config.h"
#include "tests/e2e/scenario.h"
#include "tests/e2e/scene.h"
#include "tests/places.inc"
#include "tests/support/http_get.h"
#include "tests/support/quickest.h"
#include "tests/support/require.h"
#include "tests/support/wait.h"

namespace gpuward::e2e {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using support::wait_until;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::IsSupersetOf;
using ::testing::Key;
using ::testing::Not;
using ::testing::Pair;
using ::testing::StartsWith;

// Debian's Prometheus and Alertmanagers, or newer ones in a second entry of ctest.
std::string neighbours() {
  const char* const given = std::getenv("GPUWARD_NEIGHBOURS");
  return given == nullptr ? support::kDebians : given;
}

class Flow : public ::testing::Test {
 protected:
  void SetUp() override {
    GPUWARD_REQUIRE_IN(support::tier_of(neighbours()), Scene::why_impossible(neighbours()));
    if (!scene_) play();
  }
  static void TearDownTestSuite() {
    if (scene_) {
      EXPECT_THAT(scene_->stack().stop(), IsEmpty()) << "did not end, or not with exit code 0";
    }
    scene_.reset();
  }
  static void play() {
    scene_.reset();
    auto scene = Scene::set(neighbours());
    ASSERT_TRUE(scene) << scene.error().message;
    scene_ = *std::move(scene);
  }
  void TearDown() override {
    if (HasFailure() && scene_) std::cout << scene_->stack().logs();
  }

  // Waits until the Remediation of the broken node is done.
  static RemediationView settled_remediation() {
    EXPECT_TRUE(wait_until(
        [] {
          const auto all = scene_->watch().remediations_of(kBroken);
          return all.size() == 1 && all[0].phase == "Quarantined";
        },
        "one Remediation of the broken node, in phase Quarantined"));
    const auto all = scene_->watch().remediations_of(kBroken);
    return all.empty() ? RemediationView{} : all[0];
  }

  static std::unique_ptr<Scene> scene_;
};

std::unique_ptr<Scene> Flow::scene_;

TEST_F(Flow, StartsFromANodeThatIsInService) {
  EXPECT_FALSE(scene_->before(kBroken).cordoned);
  EXPECT_EQ(scene_->before(kBroken).taint, "");
}

TEST_F(Flow, EndsInATaintACordonAndWhatKubectlShowsOfThem) {
  settled_remediation();
  EXPECT_THAT(scene_->kubectl({"get", "node", kBroken}), HasSubstr("SchedulingDisabled"));
  EXPECT_EQ(scene_->kubectl({"get", "node", kBroken, "-o",
                             "jsonpath={range .spec.taints[?(@.key==\"gpuward.dev/remediation\")]}"
                             "{.key}={.value}:{.effect};{end}"}),
            "gpuward.dev/remediation=reboot:NoSchedule;");
  const std::string remediations = scene_->kubectl({"get", "rem"});
  EXPECT_THAT(remediations, HasSubstr(kBroken));
  EXPECT_THAT(remediations, HasSubstr("reboot"));
  EXPECT_THAT(remediations, HasSubstr("Quarantined"));
  EXPECT_TRUE(wait_until([] { return !scene_->watch().events_about(kBroken).empty(); },
                         "an Event about the node"));
  EXPECT_THAT(scene_->kubectl({"get", "events", "--field-selector",
                               "involvedObject.name=" + std::string(kBroken)}),
              HasSubstr("GpuwardQuarantined"));
}

TEST_F(Flow, KeepsWhatOthersHavePutOnTheNode) {
  const auto node = scene_->watch().node(kBroken);
  ASSERT_TRUE(node);
  for (const std::string& key : scene_->before(kBroken).other_taints) {
    // The scheduler's own taint appears and disappears with the cordon.
    EXPECT_THAT(node->other_taints, Contains(key));
  }
  EXPECT_THAT(node->annotation, HasSubstr(settled_remediation().name));
}

TEST_F(Flow, ShowsMetricAndAlertOfTheFault) {
  const Watch watch = scene_->watch();
  EXPECT_TRUE(watch.exporter_serves(kBroken, kFallenOffTheBusMetric));
  EXPECT_TRUE(watch.exporter_serves(kBroken, "gpuward_node_severity 3"));
  EXPECT_EQ(watch.alert_state("GpuNodeNeedsReboot", kBroken), "firing");
  EXPECT_EQ(watch.alert_state("GpuNodeNeedsIsolation", kBroken), "");
  // increase() counts the first event, because the counter was there at 0.
  EXPECT_TRUE(wait_until(
      [&] {
        return watch.query("increase(gpuward_xid_errors_total{xid=\"79\",node=\"" +
                           std::string(kBroken) + "\",gpu=\"3\"}[5m]) > bool 0") == 1.0;
      },
      "increase() above 0 for the first Xid 79"));
}

TEST_F(Flow, TakesNoLongerThanTheConfiguredIntervalsAndAMoment) {
  const auto intervals = configured_intervals();
  ASSERT_TRUE(intervals) << intervals.error().message;
  const auto& passage = scene_->passage();
  const Json report = {{"line_to_metric_ms", passage.metric.count()},
                       {"line_to_alert_ms", passage.alert.count()},
                       {"line_to_remediation_ms", passage.remediation.count()},
                       {"line_to_cordon_ms", passage.cordon.count()},
                       {"configured_ms", intervals->sum().count()}};
  const auto file = std::filesystem::path(GPUWARD_BIN_DIR).parent_path() / "line_to_cordon.json";
  EXPECT_TRUE(write_file_atomically(file, dump_json(report) + "\n"));
  std::cout << "from line to cordon: " << passage.cordon.count() << " ms (metric "
            << passage.metric.count() << ", alert " << passage.alert.count() << ", Remediation "
            << passage.remediation.count() << "); configured: scrape " << intervals->scrape.count()
            << " + evaluation " << intervals->evaluation.count() << " + for "
            << intervals->wait.count() << " + group_wait " << intervals->group_wait.count() << " = "
            << intervals->sum().count() << " ms\n";
  // The rest is gpuward's own work: reading, judging, recording, patching. It takes less than one
  // interval of gpuward's polls, which deliver an alert too. `./dev bench` measures it.
  const auto limit = intervals->sum() + seconds(10);
  bool is_first = true;
  const auto cordon = [&] {
    if (!is_first) play();
    is_first = false;
    return scene_ ? scene_->passage().cordon : milliseconds::max();
  };
  EXPECT_LT(support::quickest_of(limit, cordon), limit);
}

TEST_F(Flow, LetsTheRemediatorDoNoMoreThanItsManifestSays) {
  const auto may = [](const char* verb, const char* resource) {
    const std::string said = scene_->kubectl(
        {"auth", "can-i", verb, resource, "--as=system:serviceaccount:gpuward:gpuward-remediator"});
    return std::regex_search(said, std::regex("(^|\n)yes\n"));
  };
  EXPECT_TRUE(may("patch", "nodes"));
  for (const char* verb : {"delete", "update", "create"}) EXPECT_FALSE(may(verb, "nodes")) << verb;
  EXPECT_FALSE(may("get", "secrets"));
  EXPECT_FALSE(may("delete", "pods"));
}

TEST_F(Flow, ServesTheMetricsOfTheRemediatorThatTheRulesAskFor) {
  const std::string page =
      "\n" + support::http_get(scene_->stack().telemetry_url() + "/metrics").body;
  int asked = 0;
  for (const std::string& metric : alerts::metrics_in_rules()) {
    if (!metric.starts_with("gpuward_remediator_")) continue;
    // Absent if no step of the policy waits for an approval, and if no reset pauses operands.
    if (metric == "gpuward_remediator_approvals_guarded") continue;
    if (metric == "gpuward_remediator_operands_paused") continue;
    ++asked;
    EXPECT_THAT(page, ::testing::ContainsRegex("\n" + metric + "[ {]"));
  }
  EXPECT_GT(asked, 0);
}

TEST_F(Flow, WritesAnAuditLineForWhatItDid) {
  settled_remediation();
  const auto audit = read_file(scene_->stack().audit_file());
  ASSERT_TRUE(audit) << audit.error().message;
  EXPECT_THAT(*audit, HasSubstr(kBroken));
  EXPECT_THAT(*audit, HasSubstr("GpuNodeNeedsReboot"));
}

bool has_delivered(const std::string& alertmanager_url) {
  const std::string page = support::http_get(alertmanager_url + "/metrics").body;
  // A newer Alertmanager adds the reason and the receiver.
  const auto counts = [&](const std::string& metric, const std::string& number) {
    return std::regex_search(
        page, std::regex("\n" + metric + "[{]integration=\"webhook\"[^}\n]*[}] " + number + "\n"));
  };
  return counts("alertmanager_notifications_total", "[1-9][0-9]*") &&
         counts("alertmanager_notifications_failed_total", "0") &&
         !counts("alertmanager_notifications_failed_total", "[1-9][0-9]*");
}

// The same alert as Alertmanager would send it from another group, with another start.
std::string repeated_notification(const std::string& alertmanager_url) {
  const auto answer =
      support::http_get(alertmanager_url + "/api/v2/alerts?filter=alertname%3DGpuNodeNeedsReboot");
  Json alerts = parse_json(answer.body).value_or(Json::array());
  for (Json& alert : alerts) {
    alert["status"] = "firing";
    alert["endsAt"] = "0001-01-01T00:00:00Z";
  }
  return dump_json({{"version", "4"},
                    {"groupKey", "another group of another Alertmanager"},
                    {"truncatedAlerts", 0},
                    {"status", "firing"},
                    {"receiver", "gpuward-remediator"},
                    {"groupLabels", Json::object()},
                    {"commonLabels", Json::object()},
                    {"commonAnnotations", Json::object()},
                    {"externalURL", "http://another"},
                    {"alerts", std::move(alerts)}});
}

TEST_F(Flow, ChangesNothingForARepeatOrForASecondAlertmanager) {
  const Stack& stack = scene_->stack();
  // Both have delivered before the test reads the versions.
  for (int i = 0; i < 2; ++i) {
    EXPECT_TRUE(
        wait_until([&] { return has_delivered(stack.alertmanager_url(i)); },
                   "Alertmanager " + std::to_string(i + 1) + " has delivered without a failure"));
  }
  const RemediationView before = settled_remediation();
  const std::string node_before = scene_->node_version(kBroken);

  const auto answer = support::http_post(
      stack.webhook_url(), repeated_notification(stack.alertmanager_url(1)),
      {{"Content-Type", "application/json"}, {"Authorization", "Bearer " + stack.webhook_token()}});

  EXPECT_EQ(answer.status, 200) << answer.body;
  const Json counts = parse_json(answer.body).value_or(Json());
  EXPECT_EQ(member_at(counts, "accepted"), 0) << answer.body;
  EXPECT_EQ(member_at(counts, "duplicate"), 1) << answer.body;
  EXPECT_EQ(settled_remediation().resource_version, before.resource_version);
  EXPECT_EQ(scene_->node_version(kBroken), node_before);
}

TEST_F(Flow, ChangesNothingWhenTheRemediatorIsRestarted) {
  const RemediationView before = settled_remediation();
  const std::string node_before = scene_->node_version(kBroken);
  const auto started_at = [] {
    return scene_->watch()
        .query("process_start_time_seconds{job=\"gpuward-remediator\"}")
        .value_or(0);
  };
  const double first_start = started_at();
  const auto restarted = scene_->stack().restart_remediator();
  ASSERT_TRUE(restarted) << restarted.error().message;
  // It was ready before the scrape: it has read the cluster and reconciled each node.
  EXPECT_TRUE(wait_until([&] { return started_at() > first_start && first_start > 0; },
                         "Prometheus has scraped the restarted remediator"));
  EXPECT_EQ(settled_remediation().resource_version, before.resource_version);
  EXPECT_EQ(scene_->node_version(kBroken), node_before);
}

TEST_F(Flow, CountsNothingTwiceWhenTheExporterIsRestarted) {
  const auto restarted = scene_->stack().restart_exporter(kBroken);
  ASSERT_TRUE(restarted) << restarted.error().message;
  // A later line has been read, so any repeated line would have been read too.
  ASSERT_TRUE(scene_->write(kBroken, kApplicationFault));
  EXPECT_TRUE(
      wait_until([] { return scene_->watch().exporter_serves(kBroken, kApplicationFaultMetric); },
                 "the restarted exporter reads on"));
  EXPECT_TRUE(scene_->watch().exporter_serves(kBroken, kFallenOffTheBusMetric));
  EXPECT_TRUE(scene_->watch().exporter_serves(kBroken, "gpuward_node_severity 3"));
}

TEST_F(Flow, CordonsNothingForAnApplicationsXid) {
  EXPECT_TRUE(scene_->watch().exporter_serves(kHarmless, "gpuward_node_severity 1"));
  // It gets as far as a monitor can: alert and record. Only then does "not cordoned" prove
  // something.
  EXPECT_TRUE(wait_until(
      [] {
        const auto all = scene_->watch().remediations_of(kHarmless);
        return all.size() == 1 && all[0].severity == "monitor" && all[0].phase == "Observed";
      },
      "a Remediation of severity monitor, observed"));
  const auto alerts = scene_->watch().alerts_of(kHarmless);
  EXPECT_THAT(alerts, IsSupersetOf({Pair("GpuNodeNeedsAttention", "firing"),
                                    Pair("GpuXidApplication", "firing")}));
  EXPECT_THAT(alerts, Not(Contains(Key(StartsWith("GpuNodeNeedsRe")))));
  EXPECT_THAT(alerts, Not(Contains(Key("GpuNodeNeedsIsolation"))));
  EXPECT_THAT(scene_->kubectl({"get", "node", kHarmless}), Not(HasSubstr("SchedulingDisabled")));
  EXPECT_EQ(scene_->node_version(kHarmless), scene_->before(kHarmless).resource_version);
}

TEST_F(Flow, NeverTakesADeadExporterForABrokenNode) {
  // It fires for operators after a quarter of an hour; the test does not wait for that.
  EXPECT_TRUE(wait_until(
      [] { return scene_->watch().alert_state("GpuExporterDown", kSilent) == "pending"; },
      "GpuExporterDown is pending"));
  EXPECT_THAT(scene_->watch().alerts_of(kSilent), ElementsAre(Key("GpuExporterDown")));
  EXPECT_THAT(scene_->watch().remediations_of(kSilent), IsEmpty());
  EXPECT_EQ(scene_->node_version(kSilent), scene_->before(kSilent).resource_version);
}

TEST_F(Flow, HidesTheLowerAlertsOfANodeBehindItsWorst) {
  const auto inhibited = [] {
    return support::http_get(scene_->stack().alertmanager_url() +
                             "/api/v2/alerts?inhibited=true&active=false&silenced=false")
        .body;
  };
  EXPECT_TRUE(
      wait_until([&] { return inhibited().find("GpuNodeNeedsReset\"") != std::string::npos; },
                 "the reset of the broken node is inhibited"));
  EXPECT_THAT(inhibited(), Not(HasSubstr("GpuNodeNeedsReboot\"")));
}

}  // namespace
}  // namespace gpuward::e2e
