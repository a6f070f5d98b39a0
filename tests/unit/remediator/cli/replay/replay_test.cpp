#include "remediator/cli/replay/replay.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "core/runtime/json.h"
#include "remediator/cli/replay/replay_text.h"

namespace gpuward::remediator {
namespace {

using std::chrono::hours;
using std::chrono::minutes;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

const WallTime kBegin = WallTime(std::chrono::sys_days(std::chrono::year(2026) / 11 / 2));

class ReplayTest : public ::testing::Test {
 protected:
  ReplayTest() {
    policy.mode = Mode::kFull;
    plan(Severity::kReboot,
         {Step::kTaint, Step::kCordon, Step::kDrain, Step::kReboot, Step::kVerify, Step::kReturn});
    plan(Severity::kIsolate, {Step::kTaint, Step::kCordon, Step::kDrain, Step::kTerminate});
    policy.return_to_service.enabled = true;
    fleet(20);
  }
  void plan(Severity severity, const std::vector<Step>& steps) {
    policy.steps[severity].clear();
    for (const Step step : steps) policy.steps[severity].push_back(planned(step));
  }
  void fleet(int size) {
    nodes.clear();
    for (int i = 1; i <= size; ++i) {
      kube::Node node;
      node.meta.name = "gpu-" + std::to_string(i);
      node.meta.uid = "uid-" + std::to_string(i);
      node.resources = {"nvidia.com/gpu"};
      kube::Taint taint;
      taint.key = "somebody/else";
      taint.effect = "NoSchedule";
      node.taints = {taint};
      nodes.push_back(node);
    }
  }
  // Adds an alert about the node, which begins `after` the start of the replay.
  void fires(int node, const std::string& severity, minutes after, minutes lasts,
             const std::string& label = "remediation") {
    AlertEpisode episode;
    episode.alert.labels = {
        {"alertname", "Bad"}, {"node", "gpu-" + std::to_string(node)}, {label, severity}};
    episode.alert.fingerprint = fingerprint_of(episode.alert.labels);
    episode.alert.starts_at = kBegin + after;
    episode.last = kBegin + after + lasts;
    history.push_back(episode);
  }
  ReplayResult run() {
    std::ranges::sort(history, {}, &AlertEpisode::starts_at);
    return replay(std::make_shared<const Policy>(policy), nodes, history, options);
  }
  static std::vector<std::string> told(const ReplayResult& result, const std::string& node) {
    std::vector<std::string> lines;
    for (const ReplayEvent& event : result.events) {
      if (event.node != node) continue;
      lines.push_back(std::string(to_string(event.kind)) + " " +
                      (event.kind == ReplayEvent::Kind::kWait ? event.rule : event.text));
    }
    return lines;
  }

  Policy policy;
  std::vector<kube::Node> nodes;
  std::vector<AlertEpisode> history;
  ReplayOptions options;
};

TEST_F(ReplayTest, TakesTheWholeRoadOfAReboot) {
  fires(1, "reboot", minutes(5), hours(3));

  const ReplayResult result = run();

  EXPECT_THAT(told(result, "gpu-1"),
              ElementsAre("alert Bad fires, severity reboot", HasSubstr("act taint, cordon: "),
                          "begin drain", "done drain", "begin reboot", "done reboot",
                          "begin verify", "done verify", HasSubstr("end Released: ")));
  EXPECT_EQ(result.events.front().at, kBegin + minutes(5));
  EXPECT_EQ(result.events.back().at, kBegin + minutes(5 + 10 + 10 + 10))
      << "a drain, a restart and the soak";
  const ReplaySummary summary = summary_of(result);
  EXPECT_EQ(summary.nodes_by_step.at(Step::kReboot), 1U);
  EXPECT_EQ(summary.most_out, 1U);
  EXPECT_EQ(summary.still_open, 0U);
  EXPECT_THAT(summary.waits, IsEmpty());
}

TEST_F(ReplayTest, TakesTheRecoveryOfANodeThatWouldBeHeld) {
  plan(Severity::kIsolate, {Step::kTaint, Step::kCordon, Step::kDrain});
  policy.recovery[Severity::kIsolate] = {planned(Step::kQuarantineJob), planned(Step::kNcclPairs),
                                         planned(Step::kVerify), planned(Step::kReturn)};
  fires(1, "isolate", minutes(0), minutes(20));

  const auto lines = told(run(), "gpu-1");

  EXPECT_THAT(lines, Contains("done quarantine-job"));
  EXPECT_THAT(lines, Contains("done nccl-pairs"));
  EXPECT_THAT(lines, Contains("done verify"));
  EXPECT_THAT(lines.back(), HasSubstr("end Released"));
}

TEST_F(ReplayTest, SaysWhenABudgetWouldHaveStoppedIt) {
  policy.budgets.storm.share.percent = 100;
  for (int node = 1; node <= 3; ++node) fires(node, "reboot", minutes(node), hours(6));

  const ReplaySummary summary = summary_of(run());

  ASSERT_EQ(summary.waits.size(), 1U);
  EXPECT_THAT(summary.waits.begin()->first, HasSubstr("budget."));
  EXPECT_GT(summary.waits.begin()->second.longest, minutes(20));
  EXPECT_EQ(summary.nodes_by_step.at(Step::kReboot), 3U) << "one after the other";
}

TEST_F(ReplayTest, SaysWhereAHumanWouldHaveBeenAsked) {
  fires(1, "isolate", minutes(0), hours(6));

  const ReplayResult asked = run();

  EXPECT_THAT(told(asked, "gpu-1"), Contains("wait guard.approval"));
  EXPECT_GE(summary_of(asked).waits.at("guard.approval").longest, hours(5));
  EXPECT_EQ(summary_of(asked).nodes_by_step.count(Step::kTerminate), 0U);
  EXPECT_THAT(replay_table(asked), Not(HasSubstr("gpuwardctl approve")));

  options.approves_all = true;
  const ReplayResult approved = run();

  EXPECT_THAT(told(approved, "gpu-1").back(), HasSubstr("end Replaced"));
  EXPECT_EQ(summary_of(approved).nodes_by_step.at(Step::kTerminate), 1U);
}

TEST_F(ReplayTest, WaitsForTheReplacementOfAMachine) {
  policy.steps[Severity::kIsolate].push_back(planned(Step::kVerify));
  options.approves_all = true;
  fires(1, "isolate", minutes(0), hours(3));

  const auto lines = told(run(), "gpu-1");

  EXPECT_THAT(lines, Contains("done terminate"));
  EXPECT_THAT(lines, Contains("begin verify"));
  EXPECT_EQ(lines.back(), "end Replaced: replaced by node gpu-1-replacement-1");
}

TEST_F(ReplayTest, GoesBackToServiceIfTheAlertEndsBeforeAnythingIsTaken) {
  policy.mode = Mode::kCordon;
  fires(1, "reboot", minutes(0), minutes(30));

  const ReplayResult result = run();

  EXPECT_THAT(told(result, "gpu-1").back(), HasSubstr("end Released"));
  EXPECT_GE(result.events.back().at, kBegin + minutes(30));
}

TEST_F(ReplayTest, TakesWhatAPrometheusOfItsClusterKeepsWithoutTheLabelAndNotAnothersAlerts) {
  policy.cluster = "east";
  fires(1, "reboot", minutes(0), minutes(30));
  fires(2, "reboot", minutes(0), minutes(30));
  history.back().alert.labels["cluster"] = "west";

  const ReplayResult result = run();

  EXPECT_EQ(result.not_for_us, 1U);
  EXPECT_THAT(told(result, "gpu-1"), Not(IsEmpty()));
  EXPECT_THAT(told(result, "gpu-2"), IsEmpty());
}

TEST_F(ReplayTest, SaysWhatIsOpenAtTheEnd) {
  policy.return_to_service.enabled = false;
  policy.mode = Mode::kCordon;
  fires(1, "reboot", minutes(0), minutes(30));

  EXPECT_EQ(summary_of(run()).still_open, 1U);
}

TEST_F(ReplayTest, TakesForeignAlertsNoFurtherThanTheCordon) {
  policy.foreign_alerts = {{.match = {{"alertname", "Bad"}, {"err_code", "79"}},
                            .node_label = "node",
                            .severity = Severity::kReboot}};
  fires(1, "79", minutes(0), hours(1), "err_code");

  const ReplayResult result = run();

  EXPECT_EQ(summary_of(result).nodes_by_step.count(Step::kDrain), 0U);
  EXPECT_THAT(told(result, "gpu-1"), Contains("wait guard.evidence"));
}

TEST_F(ReplayTest, StopsAtAStorm) {
  for (int node = 1; node <= 5; ++node) fires(node, "reboot", minutes(0), hours(1));

  ReplaySummary summary = summary_of(run());

  EXPECT_LE(summary.nodes_by_step[Step::kTaint], 2U) << "before it was one";
  EXPECT_EQ(summary.nodes_by_step.count(Step::kDrain), 0U);
  EXPECT_EQ(summary.waits.count("budget.storm"), 1U);
}

TEST_F(ReplayTest, EscalatesIfTheSameComesBackWithinAWeek) {
  fires(1, "reboot", minutes(0), minutes(10));
  fires(1, "reboot", hours(48), hours(1));

  EXPECT_EQ(summary_of(run()).nodes_by_step.at(Step::kReboot), 1U);
  EXPECT_THAT(told(run(), "gpu-1"), Contains("wait guard.approval")) << "to terminate it";
}

TEST_F(ReplayTest, OnlyObservesIfThePolicyDoes) {
  policy.mode = Mode::kObserve;
  fires(1, "reboot", minutes(0), minutes(10));

  const ReplayResult result = run();

  EXPECT_THAT(summary_of(result).nodes_by_step, IsEmpty());
  EXPECT_THAT(replay_table(result), HasSubstr("would run taint, cordon, drain"));
}

TEST_F(ReplayTest, SaysWhatItLeftOut) {
  fires(1, "reboot", minutes(0), minutes(10), "other");
  fires(77, "reboot", minutes(0), minutes(10));

  const std::string table = replay_table(run());

  EXPECT_THAT(table, HasSubstr("2 alerts on a cluster of 20 nodes"));
  EXPECT_THAT(table, HasSubstr("ignored: 1 alert meant only for people"));
  EXPECT_THAT(table, HasSubstr("ignored: 1 alert about unknown nodes"));
}

TEST_F(ReplayTest, MakesDoWithTheNodesThatAlertsNameAndSaysSo) {
  nodes.clear();
  fires(1, "reboot", minutes(0), minutes(10));

  const ReplayResult result = run();

  EXPECT_EQ(result.made_up_nodes, 1U);
  EXPECT_THAT(replay_table(result), HasSubstr("use --nodes to add all"));
  EXPECT_EQ(summary_of(result).nodes_by_step.at(Step::kReboot), 1U);
}

TEST_F(ReplayTest, IsEmptyWithoutAHistory) {
  EXPECT_EQ(replay_table(run()), "0 alerts on a cluster of 20 nodes\n");
}

TEST_F(ReplayTest, SpeaksToProgramsAsWell) {
  fires(1, "reboot", minutes(0), minutes(10));

  const auto json = parse_json(replay_json(run()));

  ASSERT_TRUE(json);
  EXPECT_EQ(json->at("summary").at("nodesByStep").at("reboot"), 1);
  EXPECT_EQ(json->at("summary").at("ends").at("Released"), 1);
  EXPECT_EQ(json->at("events").front().at("at"), "2026-11-02T00:00:00.000Z");
  EXPECT_EQ(json->at("events").at(1).at("steps"), Json({"taint", "cordon"}));
}

TEST_F(ReplayTest, TaintsNoMoreThanTheBudgetAllowsAndSaysWhatIsLeftInService) {
  policy.budgets.storm.share = {1000, 0};
  for (int node = 1; node <= 10; ++node) fires(node, "reboot", minutes(node), hours(5));
  const ReplayResult result = run();
  EXPECT_THAT(told(result, "gpu-4"), Not(Contains("wait budget.taint")));  // 4 of 20
  for (int node = 5; node <= 10; ++node)
    EXPECT_THAT(told(result, "gpu-" + std::to_string(node)), Contains("wait budget.taint")) << node;
}

}  // namespace
}  // namespace gpuward::remediator
