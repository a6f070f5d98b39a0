// Each link of the chain from a finding to its Remediation, broken one at a time, as doctor and
// status name it.
#include "remediator/cli/commands/doctor.h"

#include "core/runtime/json.h"
#include "remediator/inbox/connection_watch.h"
#include "remediator/tell/texts/connection_links.h"
#include "tests/unit/remediator/act/cluster_fixture.h"

namespace gpuward::remediator {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::Each;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr const char* kConfigMaps = "/api/v1/namespaces/default/configmaps";

class Doctor : public ClusterTest {
 protected:
  Doctor() {
    flags_.state_namespace = "default";
    facts_ = {.replica = "gpuward-remediator-a",
              .at = clock_.wall(),
              .calls = {.any = call(40), .heartbeat = call(40)},
              .prometheus = PrometheusFacts{.targets = 2,
                                            .up = 2,
                                            .reads_remediator = true,
                                            .heartbeat_fires = true,
                                            .alertmanagers = 1},
              .alertmanager = AlertmanagerFacts{}};
  }
  WebhookCall call(int seconds_ago) {
    return {clock_.wall() - std::chrono::seconds(seconds_ago), "gpuward", "http://am:9093"};
  }
  void publish() {
    kube_.create(kConfigMaps, {{"metadata", {{"name", kSourcesMap}}},
                               {"data", {{facts_.replica, dump_json(to_json(facts_))}}}});
  }
  Diagnosis diagnose(const std::string& node = "") {
    flags_.node = node;
    const auto diagnosis = run_doctor(flags_, api_, clock_);
    EXPECT_TRUE(diagnosis) << diagnosis.error().message;
    return diagnosis.value_or(Diagnosis{});
  }
  // Expects the link to be the first broken one, for the fleet and for the node if it concerns the
  // node.
  void expect_broken(const std::string& link, const std::string& text, const std::string& next) {
    publish();
    for (const char* node : {"", "gpu-01"}) {
      const Diagnosis diagnosis = diagnose(node);
      EXPECT_FALSE(diagnosis.is_connected);
      EXPECT_THAT(diagnosis.text,
                  HasSubstr("NOT CONNECTED: the first broken link is " + link + "."));
      EXPECT_THAT(diagnosis.text, AllOf(HasSubstr(text), HasSubstr(next)));
    }
  }
  std::vector<std::string> lines() {
    std::vector<std::string> lines;
    for (const Link& source : sources({.ns = "default", .now = clock_.wall(), .facts = facts_}))
      lines.push_back(source_text(source));
    return lines;
  }

  PrometheusFacts& prometheus() { return *facts_.prometheus; }
  CommandFlags flags_;
  Connections facts_;
};

TEST_F(Doctor, FindsNothingBrokenInAWholeChain) {
  publish();
  const Diagnosis diagnosis = diagnose();
  EXPECT_TRUE(diagnosis.is_connected);
  EXPECT_THAT(diagnosis.text,
              AllOf(HasSubstr("No link is broken."), Not(HasSubstr("BROKEN")),
                    HasSubstr("last sent the heartbeat 40s ago from http://am:9093")));
  EXPECT_THAT(diagnose("gpu-01").text, HasSubstr("No link is broken."));
}

TEST_F(Doctor, NamesARemediatorThatHasNeverLooked) {
  const Diagnosis diagnosis = diagnose();
  EXPECT_FALSE(diagnosis.is_connected);
  EXPECT_THAT(diagnosis.text,
              HasSubstr("Next: kubectl -n default logs -l app.kubernetes.io/component=controller"));
}

TEST_F(Doctor, NamesARemediatorThatLooksNoMore) {
  facts_.at -= std::chrono::minutes(6);
  expect_broken("remediator", "No replica has checked the connections since", "get pods");
}

TEST_F(Doctor, NamesAMissingPrometheus) {
  facts_.prometheus.reset();
  expect_broken("target", "No Prometheus is configured", "remediator.prometheusURL");
}

TEST_F(Doctor, NamesAPrometheusThatDoesNotAnswer) {
  prometheus().error = "connection refused";
  expect_broken("target", "connection refused", "remediator.prometheusURL");
}

TEST_F(Doctor, NamesMissingTargets) {
  prometheus().targets = prometheus().up = 0;
  expect_broken("target", "Prometheus scrapes no exporter", "prometheusOperator.monitors=true");
}

TEST_F(Doctor, NamesTargetsThatNoRuleCounts) {
  prometheus().targets = 0;
  prometheus().unnamed = 2;
  expect_broken("target", "without a `node` label", "relabelings");
}

TEST_F(Doctor, NamesAnotherJob) {
  prometheus().targets = 0;
  prometheus().other_jobs = 2;
  expect_broken("target", "use only job=\"gpuward-exporter\"", "name the scrape job");
}

TEST_F(Doctor, NamesANodeWithoutATarget) {
  prometheus().without_target.add("gpu-01");
  expect_broken("target", "no target for the exporter", "spec.nodeName=gpu-01");
}

TEST_F(Doctor, NamesANodeWhoseExporterIsDown) {
  prometheus().down.add("gpu-01");
  expect_broken("target", "cannot scrape the exporter", "spec.nodeName=gpu-01");
}

TEST_F(Doctor, NamesAnExporterWithoutASeverity) {
  prometheus().without_series.add("gpu-01");
  expect_broken("series", "reports no severity", "gpuwardctl runbook");
}

TEST_F(Doctor, NamesMissingRules) {
  prometheus().heartbeat_fires = false;
  facts_.calls = {};
  expect_broken("alert", "rules are not loaded", "prometheusOperator.rules=true");
}

TEST_F(Doctor, NamesARemediatorThatPrometheusDoesNotRead) {
  prometheus().heartbeat_fires = prometheus().reads_remediator = false;
  facts_.calls = {};
  expect_broken("alert", "does not scrape the remediator's metrics", "monitors=true");
}

TEST_F(Doctor, NamesAFindingWithoutAnAlert) {
  prometheus().unalerted.add("gpu-01");
  expect_broken("alert", "no alert for at least 3 minutes", "Rules page");
}

TEST_F(Doctor, NamesAPrometheusWithoutAnAlertmanager) {
  prometheus().alertmanagers = 0;
  facts_.calls = {};
  expect_broken("route", "does not send alerts to any Alertmanager", "`alerting`");
}

TEST_F(Doctor, NamesAnAlertmanagerThatDoesNotAnswer) {
  facts_.alertmanager->error = "connection refused";
  expect_broken("route", "connection refused", "alertmanagerURL");
}

TEST_F(Doctor, NamesAWebhookThatWasNeverCalled) {
  facts_.calls = {};
  facts_.alertmanager.reset();
  expect_broken("webhook", "has not called the webhook", "alertmanagerConfig=true");
}

TEST_F(Doctor, NamesAWrongTokenAsTheReason) {
  facts_.calls = {};
  facts_.alertmanager.reset();
  facts_.refused = RefusedCall{clock_.wall() - std::chrono::seconds(3), 401};
  expect_broken("webhook", "refused with HTTP 401 3s ago", "get secret gpuward-webhook");
}

TEST_F(Doctor, NamesAWebhookThatTheHeartbeatReachesNoMore) {
  facts_.calls = {.any = call(3600), .heartbeat = call(3600)};
  facts_.alertmanager.reset();
  expect_broken("webhook", "last called the webhook 60m ago", "alertmanagerConfig=true");
}

TEST_F(Doctor, NamesAnAlertWithoutARemediation) {
  prometheus().unrecorded.add("gpu-01");
  expect_broken("record", "without a Remediation", "kubectl -n default logs");
}

TEST_F(Doctor, NeedsNoWebhookIfAlertsAreReadFromPrometheus) {
  facts_.calls = {};
  facts_.reads_alerts = true;
  prometheus().alertmanagers = 0;
  publish();
  EXPECT_TRUE(diagnose().is_connected);
}

// A prober without a token must not make a connected webhook look broken.
TEST_F(Doctor, TrustsACallThatWasAcceptedMoreThanOneThatWasRefused) {
  facts_.refused = RefusedCall{clock_.wall(), 401};
  publish();
  EXPECT_TRUE(diagnose().is_connected);
}

TEST_F(Doctor, LeavesOtherNodesFaultsOut) {
  prometheus().down.add("gpu-02");
  publish();
  EXPECT_TRUE(diagnose("gpu-01").is_connected);
  EXPECT_THAT(diagnose().text, HasSubstr("gpu-02"));
}

TEST_F(Doctor, KnowsTheNodesOpenRemediation) {
  prometheus().unrecorded.add("gpu-01");
  publish();
  ASSERT_TRUE(take({signal()}));
  kube_.patch("/api/v1/nodes/gpu-01",
              {{"metadata", {{"labels", {{"gpuward.dev/status", "fail"}}}}}});
  EXPECT_THAT(diagnose("gpu-01").text,
              AllOf(HasSubstr("Remediation " + remediation().name + " is"),
                    HasSubstr("The status label is fail, but the node's exporter is not checked")));
}

TEST_F(Doctor, RefusesANodeThatDoesNotExist) {
  publish();
  flags_.node = "gpu-99";
  EXPECT_EQ(run_doctor(flags_, api_, clock_).error().kind, ErrorKind::kNotFound);
}

TEST_F(Doctor, LooksAgainUntilItsWaitIsOver) {
  flags_.wait = std::chrono::seconds(12);
  const auto begun = clock_.steady();
  std::jthread time([this](const std::stop_token& stop) {
    while (!stop.stop_requested()) {
      if (clock_.sleepers() > 0) clock_.advance(std::chrono::seconds(1));
      std::this_thread::yield();
    }
  });
  EXPECT_FALSE(diagnose().is_connected);
  EXPECT_GE(clock_.steady() - begun, flags_.wait);
  EXPECT_GE(kube_.requests().size(), 2U);
}

TEST_F(Doctor, AnswersProgramsInJson) {
  facts_.calls = {};
  facts_.alertmanager.reset();
  publish();
  flags_.output = OutputFormat::kJson;
  const Json json = *parse_json(diagnose().text);
  EXPECT_EQ(json["firstBroken"], "webhook");
  EXPECT_EQ(json["links"][0]["link"], "remediator");
}

TEST_F(Doctor, SaysInThreeLinesWhetherTheSourcesAreConnected) {
  EXPECT_THAT(lines(), Each(Not(HasSubstr("NOT CONNECTED"))));
  EXPECT_THAT(lines(), Contains("Alertmanager: it answers"));
  facts_.alertmanager.reset();
  EXPECT_THAT(lines(), Contains(HasSubstr("Alertmanager: not configured")));
  facts_.calls = {};
  EXPECT_THAT(lines(), Contains(HasSubstr("Webhook: NOT CONNECTED: Alertmanager has not called")));
  prometheus().heartbeat_fires = false;
  EXPECT_THAT(lines(), Contains(HasSubstr("Prometheus: NOT CONNECTED: ")));
}

// ---- Situations in which no link is broken, or seems to be

TEST_F(Doctor, TakesOnlyTheHeartbeatOfThisClusterForAProof) {
  facts_.alertmanager.reset();
  facts_.calls = {.any = call(5), .foreign_heartbeat = call(5)};
  expect_broken("webhook", "its label `cluster` does not match", "set the policy's `cluster`");
}

// Routes of an earlier version lack the heartbeat, and work.
TEST_F(Doctor, DoesNotKnowAWebhookThatIsCalledWithoutTheHeartbeat) {
  facts_.alertmanager.reset();
  facts_.calls = {.any = call(5)};
  publish();
  EXPECT_TRUE(diagnose().is_connected);
  EXPECT_THAT(diagnose().text, HasSubstr("add the route of GpuwardDeadMansSwitch"));
}

TEST_F(Doctor, NeedsNoWebhookWhileAlertmanagerIsRead) {
  facts_.calls = {};
  publish();
  EXPECT_TRUE(diagnose().is_connected);
}

TEST_F(Doctor, TakesTheHeartbeatForAProofOfRulesThatAreEvaluatedElsewhere) {
  prometheus().heartbeat_fires = false;
  prometheus().alertmanagers = 0;
  publish();
  EXPECT_TRUE(diagnose().is_connected);
  EXPECT_THAT(diagnose().text, HasSubstr("evaluated elsewhere"));
}

TEST_F(Doctor, NamesAnAlertmanagerThatIsDeadThoughAlertsAreReadFromPrometheus) {
  facts_.reads_alerts = true;
  facts_.alertmanager->error = "connection refused";
  expect_broken("route", "connection refused", "alertmanagerURL");
}

TEST_F(Doctor, DoesNotCallAFleetBrokenForAFewNodes) {
  prometheus().targets = 100;
  for (const char* node : {"gpu-01", "gpu-02", "gpu-03"}) prometheus().down.add(node);
  publish();
  EXPECT_TRUE(diagnose().is_connected);
  EXPECT_THAT(diagnose().text, HasSubstr("It works, except for 3 GPU nodes"));
  EXPECT_FALSE(diagnose("gpu-01").is_connected);
}

TEST_F(Doctor, DoesNotKnowANodeThatALongListMayLack) {
  for (int i = 0; i < 200; ++i) prometheus().down.add("node-" + std::to_string(i));
  publish();
  EXPECT_THAT(diagnose("gpu-01").text, HasSubstr("too many to list: "));
}

TEST_F(Doctor, DoesNotJudgeANodeThatNoReplicaJudges) {
  publish();
  add_node("gpu-02");
  EXPECT_THAT(diagnose("gpu-02").text, HasSubstr("Not checked: the node is younger"));
}

TEST_F(Doctor, DoesNotCallASilencedAlertLost) {
  facts_.alertmanager.reset();
  prometheus().unrecorded.add("gpu-01");
  publish();
  EXPECT_TRUE(diagnose().is_connected);
  EXPECT_THAT(diagnose().text, HasSubstr("The alert may be silenced"));
}

}  // namespace
}  // namespace gpuward::remediator
