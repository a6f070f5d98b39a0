// A whole remediation by the real program on the fake API server: the order of its steps, the
// causes that delay it, and the commands of operators.
#include <gmock/gmock.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "tests/unit/remediator/fake_hands.h"
#include "tests/unit/remediator/remediation_stage.h"

namespace gpuward::remediator {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;

constexpr const char* kWithApproval =
    "[taint, cordon, drain, wait: {approval: true}, reboot, verify: {soak: 0s}, "
    "return-to-service]";
constexpr const char* kStageBudgets = "/apis/policy/v1/namespaces/default/poddisruptionbudgets";

class WholeRemediation : public ::testing::Test {
 protected:
  void set(StageOptions options = {}) {
    stage_ = std::make_unique<RemediationStage>(hands_, std::move(options));
  }
  void begin(StageOptions options = {}) {
    set(std::move(options));
    stage_->start();
  }
  ::testing::AssertionResult comes_to(const std::string& phase) {
    if (stage_->play_until([&] { return stage_->phase() == phase; }))
      return ::testing::AssertionSuccess();
    return ::testing::AssertionFailure() << "phase " << stage_->phase() << " of rule "
                                         << stage_->rule() << ": " << stage_->message() << "\n"
                                         << stage_->log();
  }
  ::testing::AssertionResult says(const std::string& words) {
    if (stage_->play_until([&] { return stage_->message().find(words) != std::string::npos; }))
      return ::testing::AssertionSuccess();
    return ::testing::AssertionFailure() << "it says: " << stage_->message() << "\n"
                                         << stage_->log();
  }
  // All pods share a budget that allows no eviction.
  void forbid_evictions() {
    hands_.kube().create(kStageBudgets, fakes::budget("work-pdb", {{"app", "work"}}));
    allow_evictions(0);
  }
  void allow_evictions(int count) {
    hands_.kube().patch_status(std::string(kStageBudgets) + "/work-pdb",
                               fakes::budget_status(count, 3, 3 - count));
  }
  std::vector<Json> bodies(std::string_view method, std::string_view path,
                           std::string_view end = {}) {
    std::vector<Json> found;
    for (const auto& request : hands_.kube().requests(method, path)) {
      if (request.path.ends_with(end)) found.push_back(parse_json(request.body).value_or(Json()));
    }
    return found;
  }
  std::size_t evictions() { return bodies("POST", kStagePods, "/eviction").size(); }
  std::size_t lists_of_pods() { return hands_.kube().requests("GET", "/api/v1/pods").size(); }
  std::string token() {
    const Json status = stage_->status();
    return string_at(member_at(status, "approval"), "token");
  }

  FakeHands hands_;
  std::unique_ptr<RemediationStage> stage_;
};

TEST_F(WholeRemediation, TaintsCordonsDrainsRebootsVerifiesAndReturnsANode) {
  set();
  std::vector<std::string> uids;
  for (const std::string& pod : stage_->pods())
    uids.push_back(hands_.get(std::string(kStagePods) + "/" + pod)["metadata"]["uid"]);

  stage_->start();

  ASSERT_TRUE(comes_to("Released"));
  const auto patches = bodies("PATCH", kStageNodePath);
  ASSERT_THAT(patches, SizeIs(2));
  EXPECT_EQ(patches[0]["spec"]["unschedulable"], true);
  EXPECT_THAT(dump_json(patches[0]["spec"]["taints"]), HasSubstr("gpuward.dev/remediation"));
  EXPECT_NE(patches[1]["spec"]["unschedulable"], true);
  EXPECT_TRUE(patches[1]["spec"].contains("unschedulable"));
  EXPECT_THAT(dump_json(patches[1]["spec"]["taints"]), Not(HasSubstr("gpuward.dev/remediation")));
  std::vector<std::string> evicted;
  for (const Json& eviction : bodies("POST", kStagePods, "/eviction"))
    evicted.push_back(eviction["deleteOptions"]["preconditions"]["uid"]);
  EXPECT_THAT(evicted, ::testing::UnorderedElementsAreArray(uids));
  EXPECT_THAT(stage_->pods_at_first_call(), IsEmpty());
  ASSERT_THAT(stage_->calls(), SizeIs(1));
  EXPECT_EQ(stage_->calls()[0]["node"], kStageNode);
  EXPECT_EQ(stage_->calls()[0]["bootID"], "boot-gpu-01");
  EXPECT_FALSE(stage_->is_cordoned());
  EXPECT_FALSE(stage_->is_tainted());
  EXPECT_EQ(stage_->lost_foreign_state(), "");
  EXPECT_TRUE(stage_->play_until([&] { return stage_->slots_held() == 0; }));
}

TEST_F(WholeRemediation, EvictsNothingBeforeTaintAndCordonStand) {
  begin();
  ASSERT_TRUE(comes_to("Released"));

  std::vector<std::string> order;
  for (const auto& request : hands_.kube().requests()) {
    if (request.method == "PATCH" && request.path == kStageNodePath) order.emplace_back("node");
    if (request.method == "POST" && request.path.ends_with("/eviction")) order.emplace_back("pod");
  }

  EXPECT_THAT(order, ElementsAre("node", "pod", "pod", "pod", "node"));
}

TEST_F(WholeRemediation, WaitsForADisruptionBudgetAndNamesIt) {
  set();
  forbid_evictions();
  stage_->start();
  ASSERT_TRUE(says("work-pdb"));
  EXPECT_EQ(stage_->phase(), "Draining");
  EXPECT_THAT(stage_->pods(), SizeIs(3));
  EXPECT_THAT(stage_->calls(), IsEmpty());

  allow_evictions(3);

  ASSERT_TRUE(comes_to("Released"));
  EXPECT_THAT(stage_->pods_at_first_call(), IsEmpty());
  EXPECT_THAT(stage_->calls(), SizeIs(1));
}

TEST_F(WholeRemediation, RestartsNothingWhilePodsAreTerminating) {
  set();
  stage_->let_kubelet_work(false);
  stage_->start();
  ASSERT_TRUE(says("3 terminating"));
  const std::size_t looks = lists_of_pods();
  ASSERT_TRUE(stage_->play_until([&] { return lists_of_pods() > looks + 2; }));
  EXPECT_THAT(stage_->calls(), IsEmpty());

  stage_->let_kubelet_work(true);

  EXPECT_TRUE(comes_to("Released"));
}

TEST_F(WholeRemediation, WaitsForAnApprovalAndTakesItFromTheCommandLine) {
  begin({.plan = kWithApproval});
  ASSERT_TRUE(says("waits for approval"));
  EXPECT_THAT(stage_->pods(), IsEmpty());
  EXPECT_THAT(stage_->calls(), IsEmpty());
  EXPECT_THAT(stage_->say({"list"}).output, HasSubstr("approve gpu-01 " + token()));
  EXPECT_THAT(
      stage_->say({"explain", kStageNode}).output,
      HasSubstr("to let it reboot: gpuwardctl approve " + std::string(kStageNode) + " " + token()));
  const auto wrong = stage_->say({"approve", kStageNode, "0123456789"});
  EXPECT_NE(wrong.exit_code, 0);
  EXPECT_THAT(wrong.error_output, HasSubstr("the token does not match"));

  const auto said = stage_->say({"approve", kStageNode, token()});

  EXPECT_EQ(said.exit_code, 0) << said.error_output;
  EXPECT_THAT(said.output, HasSubstr("anonymous-admin has approved reboot of node gpu-01"));
  ASSERT_TRUE(comes_to("Released"));
  EXPECT_THAT(stage_->calls(), SizeIs(1));
}

TEST_F(WholeRemediation, StopsIfAHumanPausesAndGoesOnIfHeResumes) {
  set();
  forbid_evictions();
  stage_->start();
  ASSERT_TRUE(says("work-pdb"));

  EXPECT_EQ(stage_->say({"pause", kStageNode}).exit_code, 0);

  ASSERT_TRUE(comes_to("Paused"));
  allow_evictions(3);
  EXPECT_THAT(stage_->pods(), SizeIs(3));
  EXPECT_TRUE(stage_->is_cordoned());
  EXPECT_EQ(stage_->say({"resume", kStageNode}).exit_code, 0);
  ASSERT_TRUE(comes_to("Released"));
  EXPECT_THAT(stage_->calls(), SizeIs(1));
}

TEST_F(WholeRemediation, TakesItsMarksOffIfAHumanCancels) {
  set();
  forbid_evictions();
  stage_->start();
  ASSERT_TRUE(says("work-pdb"));

  EXPECT_EQ(stage_->say({"cancel", kStageNode, "--yes"}).exit_code, 0);

  ASSERT_TRUE(comes_to("Cancelled"));
  EXPECT_FALSE(stage_->is_cordoned());
  EXPECT_FALSE(stage_->is_tainted());
  EXPECT_THAT(stage_->pods(), SizeIs(3));
  EXPECT_THAT(stage_->calls(), IsEmpty());
  EXPECT_EQ(stage_->lost_foreign_state(), "");
}

TEST_F(WholeRemediation, HoldsTheDrainWhileTheBreakerIsOpenUntilAHumanClosesIt) {
  begin({.more_policy = "budgets: {breaker: {nodes: 0, percent: 0, window: 10m}}\n"});
  ASSERT_TRUE(says("breaker"));
  // The message is written with the intent, before the taint is set.
  EXPECT_TRUE(stage_->play_until([&] { return stage_->is_tainted(); }));
  EXPECT_THAT(stage_->pods(), SizeIs(3));
  EXPECT_THAT(stage_->say({"breaker"}).output,
              HasSubstr("The circuit breaker has been open since"));

  const auto said = stage_->say({"breaker", "close", "--yes"});

  EXPECT_THAT(said.output, HasSubstr("anonymous-admin closed it")) << said.error_output;
  ASSERT_TRUE(comes_to("Released"));
  EXPECT_THAT(stage_->calls(), SizeIs(1));
}

TEST_F(WholeRemediation, RestartsNothingOnceTheEvidenceIsGone) {
  set();
  stage_->let_kubelet_work(false);
  stage_->start();
  ASSERT_TRUE(says("3 terminating"));

  stage_->report_severity(0);  // healthy by itself, while the alert still fires
  stage_->let_kubelet_work(true);

  ASSERT_TRUE(says("reboot needs fresh evidence: the report has severity none"));
  EXPECT_EQ(stage_->rule(), "guard.evidence");
  EXPECT_THAT(stage_->calls(), IsEmpty());
  EXPECT_TRUE(stage_->is_cordoned());
  stage_->report_severity(3);
  ASSERT_TRUE(comes_to("Released"));
  EXPECT_THAT(stage_->calls(), SizeIs(1));
}

// A refusal of the program says nothing about the machine. gpuward calls the program again minutes
// later, a few times (calls_test).
TEST_F(WholeRemediation, TakesNothingWorseIfTheMachinesProgramRefuses) {
  begin({.machine = "echo 'no such chassis' >&2; exit 3", .machine_restarts = false});

  ASSERT_TRUE(says("retry at"));
  EXPECT_THAT(stage_->message(), HasSubstr("the restart was refused: "));
  EXPECT_THAT(stage_->message(), HasSubstr("no such chassis"));
  EXPECT_FALSE(stage_->status().contains("escalatedTo"));
  EXPECT_THAT(stage_->calls(), SizeIs(1));
  EXPECT_TRUE(stage_->is_cordoned());
  EXPECT_TRUE(stage_->is_tainted());
}

TEST_F(WholeRemediation, SendsNoMoreEvictionsOnceTheSwitchSaysStop) {
  begin({.more_policy = "evictions: {per_second: 0.5, burst: 1, most_in_flight: 1}\n", .pods = 4});
  ASSERT_TRUE(stage_->play_until([&] { return evictions() >= 1; }));

  stage_->set_stop("true");

  ASSERT_TRUE(says("stop"));
  const std::size_t sent = evictions();
  EXPECT_LT(sent, 4U);
  const std::size_t looks = lists_of_pods();
  ASSERT_TRUE(stage_->play_until([&] { return lists_of_pods() > looks + 3; }));
  EXPECT_EQ(evictions(), sent);
  EXPECT_THAT(stage_->calls(), IsEmpty());
  stage_->set_stop("false");
  ASSERT_TRUE(comes_to("Released"));
}

TEST_F(WholeRemediation, WaitsForTheReplacementOfAMachineThoughItIsKilledMeanwhile) {
  set({.plan = "[taint, cordon, drain, wait: {approval: false}, terminate, verify: {soak: 15s}]",
       .severity = "isolate",
       .more_policy = "  terminate: [/bin/true]\n  is_gone: [/bin/true]\n"});
  stage_->start();
  ASSERT_TRUE(says("waiting for the Node to be deleted"));
  Json node = fakes::ready_node("gpu-02");
  node["status"]["nodeInfo"]["bootID"] = "boot-gpu-01";  // the boot ID in the reports of all nodes
  hands_.create("/api/v1/nodes", node);
  stage_->report_severity(0);
  hands_.remove(kStageNodePath);
  ASSERT_TRUE(says("node gpu-02 has joined"));
  EXPECT_EQ(stage_->phase(), "Verifying");
  EXPECT_EQ(stage_->slots_held(), 1U) << "its capacity is still missing";
  stage_->kill_process();

  stage_->start_anew();

  ASSERT_TRUE(comes_to("Replaced"));
  EXPECT_EQ(stage_->message(), "replaced by node gpu-02");
  EXPECT_EQ(stage_->step("verify")["attempts"], 1);
  EXPECT_TRUE(stage_->play_until([&] { return stage_->slots_held() == 0; }));
}

}  // namespace
}  // namespace gpuward::remediator
