// The fleet at a glance, and the stop switch, against the fake API server.
#include "remediator/cli/commands/fleet_status.h"

#include "core/runtime/json.h"
#include "remediator/cli/commands/operator_commands.h"
#include "remediator/cli/commands/switch_commands.h"
#include "remediator/cluster/exclusion_store.h"
#include "remediator/cluster/gates/switch_position.h"
#include "remediator/decide/budgets/breaker.h"
#include "remediator/decide/budgets/ledger_store.h"
#include "tests/unit/remediator/act/cluster_fixture.h"

namespace gpuward::remediator {
namespace {

using ::testing::AllOf;
using ::testing::ContainsRegex;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr const char* kMaps = "/api/v1/namespaces/default/configmaps";

class FleetStatusTest : public ClusterTest {
 protected:
  FleetStatusTest() {
    flags_.state_namespace = "default";
    kube_.create(kMaps, {{"metadata", {{"name", kSwitchName}}}, {"data", {{"stop", "false"}}}});
    kube_.create(kMaps, {{"metadata", {{"name", "gpuward-remediator"}}},
                         {"data", {{"policy.yaml", "budgets: {cluster: {nodes: 3}}\n"}}}});
    lead("gpuward-remediator-a", 0);
    kube_.patch_status("/api/v1/nodes/gpu-01",
                       {{"status", {{"capacity", {{"nvidia.com/gpu", "8"}}}}}});
    EXPECT_TRUE(store_.begin([]() -> Result<Ledger> { return Ledger(); }));
  }

  void lead(const std::string& holder, int seconds_ago) {
    const std::string renewed = to_rfc3339(clock_.wall() - std::chrono::seconds(seconds_ago));
    kube_.create(
        "/apis/coordination.k8s.io/v1/namespaces/default/leases",
        {{"metadata", {{"name", "gpuward-remediator"}}},
         {"spec",
          {{"holderIdentity", holder}, {"leaseDurationSeconds", 15}, {"renewTime", renewed}}}});
  }
  // gpu-01 waits for the approval of its drain.
  void wait_for_approval() {
    clock_.advance(std::chrono::minutes(15));
    Policy policy;
    policy.mode = Mode::kFull;
    policy.steps[Severity::kReboot] = {planned(Step::kTaint), planned(Step::kCordon),
                                       planned(Step::kDrain)};
    policy.steps[Severity::kReboot][2].before.approval = true;
    policy_.set(policy);
    ASSERT_TRUE(take({signal()}));
    ASSERT_TRUE(reconcile());
    reports_.answer = report_of(Severity::kReboot);
    ASSERT_TRUE(reconcile());
    ASSERT_EQ(remediation().status.rule, "guard.approval");
  }
  void forbid(const std::string& path) {
    kube_.add_fault({.kind = fakes::FaultKind::kForbidden, .path = path, .times = -1});
  }
  std::string status(OutputFormat output = OutputFormat::kTable) {
    flags_.output = output;
    const auto text = show_status(flags_, api_, clock_);
    EXPECT_TRUE(text) << text.error().message;
    return text ? text->text : "";
  }

  CommandFlags flags_;
  LedgerStore store_{api_, {.ns = "default"}, clock_};
};

TEST_F(FleetStatusTest, NamesLeaderSwitchBreakerAndNodesOfAQuietFleet) {
  const std::string text = status();

  EXPECT_THAT(text, HasSubstr("Leader   gpuward-remediator-a\n"));
  EXPECT_THAT(text, HasSubstr("Steps    allowed\n"));
  EXPECT_THAT(text, HasSubstr("Breaker  closed\n"));
  EXPECT_THAT(text, HasSubstr("Mode     observe, by the policy\n"));
  EXPECT_THAT(text, HasSubstr("1 with GPUs, 0 with an open remediation\n"));
  EXPECT_THAT(text, AllOf(Not(HasSubstr("PHASE")), Not(HasSubstr("Not known"))));
}

TEST_F(FleetStatusTest, NamesAReplicaThatRunsOnANodeWithGpus) {
  constexpr const char* kReplicas = "/api/v1/namespaces/default/pods";
  kube_.create("/api/v1/nodes", {{"metadata", {{"name", "cpu-01"}}}});
  const auto run = [&](const char* name, const char* node) {
    kube_.create(
        kReplicas,
        {{"metadata",
          {{"name", name}, {"labels", {{"app.kubernetes.io/name", "gpuward-remediator"}}}}},
         {"spec",
          {{"nodeName", node}, {"containers", {{{"name", "remediator"}, {"image", "x"}}}}}}});
  };
  run("gpuward-remediator-a", "cpu-01");
  EXPECT_THAT(status(), Not(HasSubstr("which has GPUs")));

  run("gpuward-remediator-b", "gpu-01");
  EXPECT_THAT(status(), HasSubstr("gpuward-remediator-b runs on gpu-01, which has GPUs"));
  EXPECT_EQ(Json::parse(status(OutputFormat::kJson))["replicasOnGpuNodes"],
            Json({{"gpu-01", "gpuward-remediator-b"}}));

  forbid(kReplicas);
  EXPECT_THAT(status(), AllOf(Not(HasSubstr("which has GPUs")), Not(HasSubstr("Not known"))));
}

TEST_F(FleetStatusTest, SaysWhatIsOpenHeldAndToBeApproved) {
  wait_for_approval();
  const std::string text = status();

  EXPECT_THAT(text, HasSubstr("Mode     full\n"));
  EXPECT_THAT(text, HasSubstr("PHASE    NODES  ISOLATE  REBOOT  RESET  MONITOR\n"
                              "Waiting  1      -        1       -      -\n"));
  EXPECT_THAT(text, HasSubstr("1      guard.approval"));
  EXPECT_THAT(text, HasSubstr("gpu-01  drain  gpuwardctl approve gpu-01 " +
                              remediation().status.approval->token + "\n"));
}

TEST_F(FleetStatusTest, CountsTheBudgetsByThePolicyOfTheCluster) {
  const kube::Node counted = node();
  ASSERT_TRUE(store_.change([&](Ledger& ledger) -> Status {
    ledger = with_slot(std::move(ledger), {.remediation = "gpu-01-1",
                                           .node_uid = counted.meta.uid,
                                           .place = {},
                                           .impact = Impact::kDisrupt,
                                           .since = clock_.wall()});
    return {};
  }));

  EXPECT_THAT(status(), ContainsRegex("budget.cluster +the cluster +1 +3\n"));

  forbid(".*/configmaps/gpuward-remediator");
  EXPECT_THAT(status(), AllOf(ContainsRegex("budget.cluster +the cluster +1 +\\?\n"),
                              HasSubstr("Not known: the budget limits: ")));
}

TEST_F(FleetStatusTest, NamesAnOpenBreakerAndWhatClosesIt) {
  ASSERT_TRUE(store_.change([&](Ledger& ledger) -> Status {
    ledger = open_breaker(ledger, "9 nodes", clock_.wall());
    return {};
  }));

  EXPECT_THAT(status(), AllOf(HasSubstr("OPEN since "), HasSubstr("9 nodes"),
                              HasSubstr("gpuwardctl breaker close")));
}

TEST_F(FleetStatusTest, KnowsThatNobodyLeadsOnceTheLeaseIsOver) {
  clock_.advance(std::chrono::seconds(30));

  EXPECT_THAT(status(),
              HasSubstr("Leader   none: no steps are taken; the last was gpuward-remediator-a"));
}

TEST_F(FleetStatusTest, IsOfNoUseInANamespaceWithoutARemediator) {
  flags_.state_namespace = "elsewhere";

  const auto said = show_status(flags_, api_, clock_);

  ASSERT_FALSE(said);
  EXPECT_EQ(said.error().kind, ErrorKind::kNotFound);
  EXPECT_THAT(said.error().message, AllOf(HasSubstr("in namespace elsewhere"), HasSubstr("(-n)")));
}

// The mode was in force when that Remediation closed, and may have changed since.
TEST_F(FleetStatusTest, DoesNotTakeTheModeFromARemediationThatIsClosed) {
  wait_for_approval();
  kube_.patch(std::string(remediation_collection()) + "/" + remediation().name,
              {{"metadata", {{"annotations", {{"gpuward.dev/cancel", "true"}}}}}});
  catch_up(*replica_);
  ASSERT_TRUE(reconcile());
  ASSERT_FALSE(remediation().open());

  EXPECT_THAT(status(), HasSubstr("Mode     observe, by the policy\n"));
}

TEST_F(FleetStatusTest, CountsNodesThatWereCancelledWhileAlertsFired) {
  ASSERT_TRUE(take({signal()}));
  ASSERT_TRUE(reconcile());
  EXPECT_THAT(status(), Not(HasSubstr("cancelled")));
  kube_.patch(std::string(remediation_collection()) + "/" + remediation().name,
              {{"metadata", {{"annotations", {{"gpuward.dev/cancel", "true"}}}}}});
  catch_up(*replica_);
  ASSERT_TRUE(reconcile());
  ASSERT_EQ(remediation().status.phase, Phase::kCancelled);

  EXPECT_THAT(status(),
              HasSubstr("0 with an open remediation, 1 cancelled with alerts still firing"));

  for (const auto& [word, is_counted] : {std::pair("pass", false), std::pair("fail", true)}) {
    kube_.patch("/api/v1/nodes/gpu-01",
                {{"metadata", {{"labels", {{"gpuward.dev/status", word}}}}}});
    EXPECT_EQ(status().contains("cancelled"), is_counted) << word;
  }

  // A new Remediation was opened since, so the cancelled one no longer counts.
  clock_.advance(std::chrono::hours(1));
  AlertSignal anew = signal();
  anew.starts_at = clock_.wall();
  ASSERT_TRUE(take({anew}));
  EXPECT_THAT(status(),
              AllOf(HasSubstr("1 with an open remediation"), Not(HasSubstr("cancelled"))));
}

TEST_F(FleetStatusTest, NamesWhatMayNotBeReadAndShowsTheRest) {
  wait_for_approval();
  for (const char* path : {".*/leases/.*", ".*/configmaps/gpuward-ledger", "/api/v1/nodes",
                           ".*/configmaps/gpuward-remediator-switch"})
    forbid(path);

  const std::string text = status();

  for (const char* what :
       {"who leads", "the stop switch", "the nodes", "the breaker and the budgets"})
    EXPECT_THAT(text, HasSubstr("Not known: " + std::string(what) + ": "));
  EXPECT_THAT(text, AllOf(HasSubstr("Leader   ?\n"), HasSubstr("Waiting  1 ")));
}

TEST_F(FleetStatusTest, GivesUpIfTheServerHasGone) {
  kube_.add_fault({.kind = fakes::FaultKind::kUnavailable, .times = -1});

  EXPECT_EQ(show_status(flags_, api_, clock_).error().kind, ErrorKind::kUnavailable);
}

TEST_F(FleetStatusTest, FitsAScreenUnlessItIsToBeWide) {
  FleetStatus many;
  for (int i = 0; i < 40; ++i)
    many.waiting.push_back(
        {.rule = "rule-" + std::to_string(i), .message = "why", .nodes = {"a", "b"}});

  const std::string text = status_text(many, OutputFormat::kTable);
  EXPECT_THAT(text,
              AllOf(HasSubstr("rule-4 "), Not(HasSubstr("rule-5 ")), HasSubstr("and 35 more")));
  EXPECT_THAT(status_text(many, OutputFormat::kWide),
              AllOf(HasSubstr("rule-39 "), HasSubstr("NAMES"), HasSubstr("a, b\n"),
                    Not(HasSubstr("more"))));
}

// The taint does not count in the budget of cordons, so the node looks as if no step were pending.
TEST_F(FleetStatusTest, SaysWhatATaintedNodeWaitsFor) {
  clock_.advance(std::chrono::minutes(15));
  Policy policy;
  policy.mode = Mode::kCordon;
  policy_.set(policy);
  slots_.answer = SlotRefusal{
      .guard = "budget.cordon", .message = "1 of 1 allowed are cordoned", .has_taint = true};
  ASSERT_TRUE(take({signal()}));
  ASSERT_TRUE(reconcile());
  ASSERT_EQ(remediation().status.phase, Phase::kQuarantined);

  EXPECT_THAT(status(), ContainsRegex("1 +budget.cordon +.*the cordon waits: 1 of 1 allowed"));
}

TEST_F(FleetStatusTest, NamesWhatIsExcluded) {
  kube_.patch("/api/v1/nodes/gpu-01",
              {{"metadata", {{"labels", {{"gpuward.dev/managed", "false"}}}}}});
  ExclusionStore exclusions(api_, "default", clock_);
  ASSERT_TRUE(exclusions.change([&](ExclusionList list) -> Result<ExclusionList> {
    list["gpu-02"] = {.since = clock_.wall(),
                      .until = clock_.wall() + std::chrono::hours(1),
                      .reason = "firmware",
                      .by = "alice"};
    return list;
  }));

  const std::string text = status();
  EXPECT_THAT(text, ContainsRegex("EXCLUDED +UNTIL +BY +REASON"));
  EXPECT_THAT(text, ContainsRegex("gpu-01 +- +- +the node is labelled gpuward.dev/managed=false"));
  EXPECT_THAT(text, ContainsRegex("gpu-02 +2026-01-01T01:00:00Z +alice +firmware"));
  EXPECT_EQ(parse_json(status(OutputFormat::kJson))->at("excluded")[1]["name"], "gpu-02");
  forbid(".*/configmaps/gpuward-exclusions");
  EXPECT_THAT(status(), HasSubstr("Not known: the exclusions: "));
}

TEST_F(FleetStatusTest, ShowsWhoHasPaused) {
  wait_for_approval();
  flags_.node = "gpu-01";
  ASSERT_TRUE(pause_node(flags_, api_, clock_));
  ASSERT_TRUE(reconcile());

  EXPECT_THAT(status(), ContainsRegex("guard.pause +paused by anonymous-admin 0s ago"));
}

TEST_F(FleetStatusTest, IsTheSameForPrograms) {
  wait_for_approval();

  const auto json = parse_json(status(OutputFormat::kJson));

  ASSERT_TRUE(json);
  EXPECT_EQ((*json)["leader"].is_string(), true);
  EXPECT_EQ((*json)["stopped"], false);
  EXPECT_EQ((*json)["breakerOpen"], false);
  EXPECT_EQ((*json)["open"][0], Json({{"phase", "Waiting"}, {"severity", "reboot"}, {"nodes", 1}}));
  EXPECT_EQ((*json)["approvals"][0]["token"], remediation().status.approval->token);
  EXPECT_EQ((*json)["unknown"], Json::array());
}

TEST_F(FleetStatusTest, StopsUnderTheCallersNameAndGoesOn) {
  flags_.reason = "network";
  kube_.patch(std::string(kMaps) + "/" + kSwitchName, {{"metadata", {{"labels", {{"a", "b"}}}}}});
  ASSERT_TRUE(stop_fleet(flags_, api_, clock_));

  const auto stopped = api_.get_config_map("default", kSwitchName);
  EXPECT_FALSE(permission_of({"default", kSwitchName}, stopped));
  EXPECT_EQ(stopped->meta.labels.at("a"), "b");
  EXPECT_THAT(status(),
              AllOf(HasSubstr("STOPPED since 2026-01-01T00:00:00Z by anonymous-admin: network"),
                    HasSubstr("USED includes reserved slots"), HasSubstr("gpuwardctl start")));

  ASSERT_TRUE(start_fleet(flags_, api_, clock_));
  const auto started = api_.get_config_map("default", kSwitchName);
  EXPECT_TRUE(permission_of({"default", kSwitchName}, started));
  EXPECT_FALSE(started->meta.annotations.contains(std::string(kStoppedAnnotation)));
  EXPECT_THAT(status(), AllOf(HasSubstr("Steps    allowed\n"), Not(HasSubstr("USED includes"))));
}

TEST_F(FleetStatusTest, StopsAndStartsOnceHoweverOftenItIsSaid) {
  flags_.reason = "network";
  ASSERT_TRUE(stop_fleet(flags_, api_, clock_));
  flags_.reason = "another";
  EXPECT_THAT(
      *stop_fleet(flags_, api_, clock_),
      HasSubstr("Already stopped since 2026-01-01T00:00:00Z by anonymous-admin: network. To "
                "resume: gpuwardctl start\n"));
  EXPECT_THAT(status(), HasSubstr("network"));
  EXPECT_THAT(*start_fleet(flags_, api_, clock_), HasSubstr("Started: "));
  EXPECT_THAT(*start_fleet(flags_, api_, clock_), HasSubstr("Already started: "));
}

TEST_F(FleetStatusTest, StopsThoughTheServerDoesNotSayWhoWeAre) {
  kube_.add_fault(
      {.kind = fakes::FaultKind::kForbidden, .path = ".*/selfsubjectreviews", .times = -1});
  flags_.context_user = "alice";

  ASSERT_TRUE(stop_fleet(flags_, api_, clock_));

  EXPECT_THAT(status(), HasSubstr(" by alice"));
}

TEST_F(FleetStatusTest, StopsAndStartsIfThereIsNoSwitch) {
  const std::string path = std::string(kMaps) + "/" + kSwitchName;
  kube_.remove(path);
  EXPECT_THAT(status(), HasSubstr("STOPPED: there is no ConfigMap"));
  ASSERT_TRUE(start_fleet(flags_, api_, clock_));
  EXPECT_EQ(kube_.get(path)["data"]["stop"], "false");
  kube_.remove(path);
  ASSERT_TRUE(stop_fleet(flags_, api_, clock_));
  EXPECT_EQ(kube_.get(path)["data"]["stop"], "true");
}

TEST_F(FleetStatusTest, StopsThoughAnotherWritesAtTheSameMoment) {
  kube_.add_fault({.kind = fakes::FaultKind::kConflict, .method = "PUT"});

  ASSERT_TRUE(stop_fleet(flags_, api_, clock_));

  EXPECT_EQ(kube_.get(std::string(kMaps) + "/" + kSwitchName)["data"]["stop"], "true");
}

TEST_F(FleetStatusTest, SaysWhetherTheSourcesAreConnected) {
  EXPECT_THAT(status(), HasSubstr("Remediator: NOT CONNECTED: No replica has written"));
  const Json json = *parse_json(status(OutputFormat::kJson));
  EXPECT_EQ(json["connected"], false);
  EXPECT_EQ(json["sources"][0]["source"], "Remediator");
  EXPECT_EQ(json["sources"][0]["state"], "BROKEN");
  flags_.exit_code = true;
  EXPECT_FALSE(show_status(flags_, api_, clock_)->is_in_order);
  flags_.exit_code = false;
  EXPECT_TRUE(show_status(flags_, api_, clock_)->is_in_order);
}

}  // namespace
}  // namespace gpuward::remediator
