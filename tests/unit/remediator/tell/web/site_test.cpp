// The pages as the server sends them, from the view and the answers of the fake API server.
#include "remediator/tell/web/site.h"

#include <algorithm>

#include "remediator/cluster/exclusion_store.h"
#include "remediator/cluster/exclusions_json.h"
#include "remediator/cluster/gates/switch_position.h"
#include "remediator/decide/budgets/ledger_store.h"
#include "remediator/inbox/connection_watch.h"
#include "tests/unit/remediator/act/cluster_fixture.h"

namespace gpuward::remediator {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::UnorderedElementsAre;
using namespace std::chrono_literals;

constexpr const char* kMaps = "/api/v1/namespaces/default/configmaps";
constexpr const char* kLeases = "/apis/coordination.k8s.io/v1/namespaces/default/leases";

http::Request request_for(std::string path) {
  http::Request request;
  request.method = "GET";
  request.path = std::move(path);
  return request;
}

NodeFinding xid_79(WallTime at = {}) {
  NodeFinding finding;
  finding.first_seen = finding.last_seen = at;
  finding.check = "xid";
  finding.code = "79";
  finding.severity = "reboot";
  finding.gpu = "3";
  return finding;
}

class SiteTest : public ClusterTest {
 protected:
  SiteTest() {
    kube_.create(kMaps, {{"metadata", {{"name", kSwitchName}}}, {"data", {{"stop", "false"}}}});
    EXPECT_TRUE(ledger_.begin([]() -> Result<Ledger> { return Ledger(); }));
    has_gpus("gpu-01");
  }

  void has_gpus(const std::string& node) {
    kube_.patch_status("/api/v1/nodes/" + node,
                       {{"status", {{"capacity", {{"nvidia.com/gpu", "8"}}}}}});
    catch_up(*replica_);
  }
  Remediation one_of(const std::string& node, Severity severity = Severity::kReboot) {
    Remediation one;
    one.name = node + "-1";
    one.node = node;
    one.severity = severity;
    one.created = clock_.wall();
    AlertEvidence alert;
    alert.alertname = "GpuNodeNeedsReboot";
    alert.severity = severity;
    alert.starts_at = clock_.wall();
    one.alerts.push_back(alert);
    one.status.phase = Phase::kQuarantined;
    return one;
  }
  // Writes the exporter's result: the label, and the condition that it repeats every five minutes.
  void report(const std::string& node, const char* severity) {
    const bool is_broken = std::string_view(severity) != "PASS";
    Json labels{{"gpuward.dev/status", is_broken ? "fail" : "pass"},
                {"gpuward.dev/severity", severity}};
    Json change{{"metadata", {{"labels", labels}}}};
    if (is_broken) {
      change["metadata"]["annotations"] = {
          {kFindingsAnnotation, node_findings_text({xid_79(clock_.wall())})}};
    }
    kube_.patch("/api/v1/nodes/" + node, change);
    const Json condition{{"type", "GPUProblem"},
                         {"status", is_broken ? "True" : "False"},
                         {"lastHeartbeatTime", to_rfc3339(clock_.wall())}};
    kube_.patch_status("/api/v1/nodes/" + node,
                       {{"status", {{"conditions", Json::array({condition})}}}});
    catch_up(*replica_);
  }
  Remediation cancelled(const std::string& node) {
    Remediation one = one_of(node);
    one.status.phase = Phase::kCancelled;
    one.status.closed_at = clock_.wall();
    one.wish.cancel = true;
    one.wish.last_command = to_rfc3339(clock_.wall()) + " cancel by alice";
    return one;
  }
  void exclude(const std::string& name, const std::string& reason) {
    const ExclusionList list{
        {name,
         {.since = clock_.wall(), .until = clock_.wall() + 1h, .reason = reason, .by = "alice"}}};
    kube_.create(kMaps,
                 {{"metadata", {{"name", kExclusionMap}}}, {"data", encode_exclusions(list)}});
  }
  void connect(WallTime called) {
    const Connections facts{
        .replica = "a",
        .at = clock_.wall(),
        .calls = {.any = WebhookCall{called, {}, {}}, .heartbeat = WebhookCall{called, {}, {}}},
        .prometheus = PrometheusFacts{
            .targets = 1, .up = 1, .reads_remediator = true, .heartbeat_fires = true}};
    kube_.create(kMaps, {{"metadata", {{"name", kSourcesMap}}},
                         {"data", {{"a", dump_json(to_json(facts))}}}});
  }
  void put(Remediation one) { replica_->view.put_remediation(std::move(one)); }

  http::Response get(const std::string& path) {
    for (const http::Route& route : site_.routes()) {
      const bool is_it =
          route.match == http::Match::kExact ? path == route.path : path.starts_with(route.path);
      if (is_it) return route.handler(request_for(path));
    }
    ADD_FAILURE() << "no route for " << path;
    return {};
  }
  std::string page(const std::string& path) { return *get(path).body; }

  LedgerStore ledger_{api_, {.ns = "default"}, clock_};
  Site site_{replica_->view, policy_, api_, "default", clock_};
};

TEST_F(SiteTest, SaysWhichSourceIsNotConnected) {
  EXPECT_THAT(page("/"), HasSubstr("Remediator: NOT CONNECTED: No replica has written"));
  connect(clock_.wall() - 1h);
  clock_.advance(3s);
  EXPECT_THAT(page("/"),
              HasSubstr("Webhook: NOT CONNECTED: Alertmanager last called the webhook 60m ago"));
}

TEST_F(SiteTest, ShowsAQuietFleet) {
  report("gpu-01", "PASS");
  connect(clock_.wall());
  kube_.create(kLeases, {{"metadata", {{"name", "gpuward-remediator"}}},
                         {"spec",
                          {{"holderIdentity", "gpuward-remediator-a"},
                           {"leaseDurationSeconds", 15},
                           {"renewTime", to_rfc3339(clock_.wall())}}}});
  EXPECT_THAT(page("/"),
              AllOf(HasSubstr("<dt>GPU nodes</dt><dd>1</dd>"),
                    HasSubstr("✓ No exporter finds a fault, and every exporter reports."),
                    HasSubstr("No open remediations and no known findings."),
                    HasSubstr("<dt>Leader</dt><dd>gpuward-remediator-a</dd>"),
                    HasSubstr("<dt>Steps</dt><dd>allowed</dd>"),
                    HasSubstr("<dt>Circuit breaker</dt><dd>closed</dd>"),
                    HasSubstr("budget.cluster"), Not(HasSubstr("alarm"))));
}

TEST_F(SiteTest, SaysThatNobodyLeadsAndThatStepsAreStopped) {
  kube_.patch(std::string(kMaps) + "/" + kSwitchName, {{"data", {{"stop", "true"}}}});
  EXPECT_THAT(page("/"), AllOf(HasSubstr("▲ not known: "), HasSubstr("▲ STOPPED")));
}

TEST_F(SiteTest, ShowsWhatBrokeWhereItStandsAndSinceWhen) {
  Remediation one = one_of("gpu-01");
  one.status.findings.push_back(xid_79());
  one.status.message = "waits for <budget>";
  put(one);
  clock_.advance(5min);
  EXPECT_THAT(page("/"),
              AllOf(HasSubstr("<a href=\"nodes/gpu-01\">gpu-01</a>"), HasSubstr("▲ reboot"),
                    HasSubstr("xid 79 on GPU 3"), HasSubstr("waits for &lt;budget&gt;"),
                    HasSubstr("<a href=\"remediations/gpu-01-1\">Quarantined</a>"),
                    HasSubstr(">5 min</time>"), HasSubstr("<dt>open remediations</dt><dd>1</dd>")));
}

// A node whose Remediation an operator has cancelled is still broken.
TEST_F(SiteTest, CountsAndShowsABrokenNodeWhoseRemediationWasCancelled) {
  report("gpu-01", "REBOOT");
  put(cancelled("gpu-01"));
  clock_.advance(5min);
  EXPECT_THAT(
      page("/"),
      AllOf(HasSubstr("▲ Unhealthy: 1 of 1 GPU nodes, 1 without an open remediation."),
            HasSubstr("<dt>unhealthy: reboot</dt><dd>1</dd>"),
            HasSubstr("<dt>open remediations</dt><dd>0</dd>"),
            HasSubstr(">unhealthy; cancelled by alice 5m ago</td>"), HasSubstr("xid 79 on GPU 3"),
            HasSubstr(">Cancelled</a>"), Not(HasSubstr("✓"))));
  EXPECT_THAT(page("/nodes/gpu-01"),
              AllOf(HasSubstr("▲ reboot</span>; cancelled by alice 5m ago"), Not(HasSubstr("✓"))));
}

TEST_F(SiteTest, ShowsABrokenNodeWithoutAnyRemediation) {
  report("gpu-01", "RESET");
  EXPECT_THAT(page("/"), AllOf(HasSubstr(">unhealthy; no remediation is open</td>"),
                               HasSubstr("<dt>unhealthy: reset</dt><dd>1</dd>")));
}

// Without labels of the exporter, the alerts are all that gpuward knows.
TEST_F(SiteTest, CountsTheAlertsThatFiredAtTheCancel) {
  put(cancelled("gpu-01"));
  EXPECT_THAT(page("/"), HasSubstr("<dt>unhealthy: reboot</dt><dd>1</dd>"));
  report("gpu-01", "PASS");
  EXPECT_THAT(page("/"), AllOf(HasSubstr("<dt>unhealthy: reboot</dt><dd>0</dd>"), HasSubstr("✓")));
}

TEST_F(SiteTest, DoesNotKnowANodeWhoseExporterDoesNotReport) {
  const auto is_not_known = AllOf(
      HasSubstr("Not known: 1 of 1 GPU nodes, whose exporters have not reported for 15 minutes "
                "or longer."),
      HasSubstr("<dt>not known</dt><dd>1</dd>"), Not(HasSubstr("✓")),
      Not(HasSubstr("reset</dt><dd>1")));
  EXPECT_THAT(page("/"), is_not_known) << "it never has";
  report("gpu-01", "PASS");
  EXPECT_THAT(page("/"), Not(HasSubstr("Not known: ")));
  clock_.advance(16min);
  EXPECT_THAT(page("/"), is_not_known) << "it did";
  EXPECT_THAT(page("/nodes/gpu-01"),
              AllOf(HasSubstr("<dt>Health</dt><dd>not known: its exporter has not reported"),
                    Not(HasSubstr("Its exporter has found nothing."))));
}

TEST_F(SiteTest, IsNotGreenWhileSomethingIsOpen) {
  report("gpu-01", "PASS");
  put(one_of("gpu-01"));
  EXPECT_THAT(page("/"),
              AllOf(HasSubstr("The exporters find no fault any more."),
                    HasSubstr("<dt>open remediations</dt><dd>1</dd>"), Not(HasSubstr("✓"))));
}

TEST_F(SiteTest, ShowsExclusionsOnTheFleetAndOnTheNode) {
  exclude("gpu-01", "firmware <2>");
  const std::string until = to_rfc3339(clock_.wall() + 1h);
  EXPECT_THAT(page("/"),
              AllOf(HasSubstr("<h2>Excluded nodes</h2>"), HasSubstr("firmware &lt;2&gt;"),
                    HasSubstr("<td data-head=\"Until\">" + until), HasSubstr(">alice</td>")));
  EXPECT_THAT(page("/nodes/gpu-01"),
              HasSubstr("▲ gpu-01 is excluded until " + until + " by alice: firmware &lt;2&gt;"));
  EXPECT_THAT(page("/nodes/gpu-02"), Not(HasSubstr("excluded")));
}

TEST_F(SiteTest, ShowsNodesThatTheirLabelExcludes) {
  EXPECT_THAT(page("/"), Not(HasSubstr("Excluded nodes")));
  kube_.patch("/api/v1/nodes/gpu-01", {{"metadata", {{"labels", {{kManagedLabel, "false"}}}}}});
  catch_up(*replica_);
  EXPECT_THAT(page("/"), AllOf(HasSubstr("<h2>Excluded nodes</h2>"), HasSubstr(">no end</td>")));
  EXPECT_THAT(page("/nodes/gpu-01"), HasSubstr("<dt>Excluded</dt>"));
}

TEST_F(SiteTest, NamesClusterAndNodeInTitleAndHeading) {
  put(one_of("gpu-01"));
  const auto expect_name = [&](const std::string& path, const std::string& name) {
    EXPECT_THAT(page(path), AllOf(HasSubstr("<title>" + name + " - gpuward</title>"),
                                  HasSubstr("<h1>" + name + "</h1>")));
  };
  expect_name("/", "Fleet");
  expect_name("/nodes/gpu-01", "Node gpu-01");
  Policy policy;
  policy.notifications.cluster = "events";
  policy_.set(policy);
  expect_name("/", "Fleet in events");
  policy.cluster = "prod-eu";
  policy_.set(policy);
  expect_name("/", "Fleet in prod-eu");
  expect_name("/nodes/gpu-01", "Node gpu-01 in prod-eu");
  expect_name("/remediations/gpu-01-1", "Remediation gpu-01-1 of node gpu-01 in prod-eu");
  expect_name("/policy", "Policy in force in prod-eu");
}

TEST_F(SiteTest, PutsFirstWhatNeedsAnOperatorThenTheWorst) {
  put(one_of("gpu-01", Severity::kMonitor));
  put(one_of("gpu-02", Severity::kIsolate));
  Remediation held = one_of("gpu-03", Severity::kReset);
  held.status.phase = Phase::kHeld;
  put(held);
  Remediation closed = one_of("gpu-04");
  closed.status.phase = Phase::kReleased;
  closed.status.closed_at = clock_.wall();
  put(closed);
  const std::string text = page("/");
  std::vector<std::size_t> places;
  for (const char* node : {"gpu-03", "gpu-02", "gpu-01", "Recently closed", "gpu-04"})
    places.push_back(text.find(node));
  EXPECT_TRUE(std::ranges::is_sorted(places)) << text;
  EXPECT_THAT(text, HasSubstr("<dt>held for an operator</dt><dd>1</dd>"));
}

TEST_F(SiteTest, StaysSmallInAStorm) {
  for (int i = 0; i < 300; ++i) {
    Remediation one = one_of("ip-10-0-" + std::to_string(i) + "-200.eu-central-1.compute.internal");
    one.status.message = std::string(120, 'm');
    put(std::move(one));
  }
  const std::string text = page("/");
  EXPECT_THAT(text, HasSubstr("and 100 more: "));
  EXPECT_LT(text.size(), 150'000U);
}

TEST_F(SiteTest, TellsTheStoryOfARemediationWithTheCommandsThatHelp) {
  Remediation one = one_of("gpu-01");
  one.status.phase = Phase::kWaiting;
  one.status.rule = "guard.approval";
  one.status.approval = ApprovalRecord{.step = Step::kReboot,
                                       .token = "ab12",
                                       .requested_at = clock_.wall(),
                                       .by = "",
                                       .seen_at = std::nullopt};
  put(one);
  EXPECT_THAT(
      page("/remediations/gpu-01-1"),
      AllOf(HasSubstr("<code class=\"command\">gpuwardctl approve gpu-01 ab12</code>"),
            HasSubstr("gpuwardctl pause gpu-01"), HasSubstr("gpuwardctl cancel gpu-01"),
            HasSubstr("href=\"../runbooks/GpuNodeNeedsReboot\""),
            HasSubstr("approval requested: reboot"), HasSubstr("href=\"../nodes/gpu-01\"")));
  EXPECT_THAT(page("/"), HasSubstr("<dt>awaiting approval</dt><dd>1</dd>"));
}

TEST_F(SiteTest, ShowsANodeWithItsGpusAndItsHistory) {
  kube_.patch(
      "/api/v1/nodes/gpu-01",
      {{"spec", {{"unschedulable", true}}},
       {"metadata", {{"annotations", {{kFindingsAnnotation, node_findings_text({xid_79()})}}}}}});
  catch_up(*replica_);
  put(one_of("gpu-01"));
  EXPECT_THAT(page("/nodes/gpu-01"),
              AllOf(HasSubstr("no: cordoned"), HasSubstr("<strong>GPU 3</strong>"),
                    HasSubstr("href=\"../remediations/gpu-01-1\"")));
}

TEST_F(SiteTest, KnowsTheHistoryOfANodeThatIsGone) {
  put(one_of("gpu-77"));
  EXPECT_THAT(page("/nodes/gpu-77"), AllOf(HasSubstr("There is currently no node with this name."),
                                           HasSubstr("gpu-77-1")));
}

TEST_F(SiteTest, SaysWhatItDoesNotKnow) {
  for (const char* path : {"/nodes/<b>", "/remediations/none"}) {
    const auto response = get(path);
    EXPECT_EQ(response.status, 404);
    EXPECT_THAT(*response.body, AllOf(HasSubstr("was not found"), Not(HasSubstr("<b>"))));
  }
}

TEST_F(SiteTest, ShowsThePolicyInForce) {
  set_policy(Mode::kFull);
  EXPECT_THAT(page("/policy"),
              AllOf(HasSubstr("<dt>Mode</dt><dd>full</dd>"), HasSubstr("isolate")));
}

TEST_F(SiteTest, SaysThatNothingWasReadYet) {
  ClusterView empty;
  Site site(empty, policy_, api_, "gpuward", clock_);
  const auto routes = site.routes();
  const auto fleet = std::ranges::find(routes, "/", &http::Route::path);
  const auto response = fleet->handler(request_for("/"));
  EXPECT_EQ(response.status, 503);
  EXPECT_THAT(*response.body,
              HasSubstr("kubectl -n gpuward logs -l app.kubernetes.io/name=gpuward-remediator"));
}

TEST_F(SiteTest, ChangesNothing) {
  for (const http::Route& route : site_.routes())
    EXPECT_THAT(route.methods, ::testing::ElementsAre("GET")) << route.path;
  put(one_of("gpu-01"));
  kube_.clear_requests();
  for (const char* path : {"/", "/nodes/gpu-01", "/remediations/gpu-01-1", "/policy"}) get(path);
  EXPECT_EQ(writes(), 0U);
}

// The number of readers does not matter.
TEST_F(SiteTest, AsksTheApiServerAtMostEachTwoSeconds) {
  kube_.clear_requests();
  for (int i = 0; i < 5; ++i) (void)page("/");
  EXPECT_EQ(kube_.requests().size(), 5U);
  clock_.advance(3s);
  (void)page("/");
  EXPECT_EQ(kube_.requests().size(), 10U);
}

}  // namespace
}  // namespace gpuward::remediator
