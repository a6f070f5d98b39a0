// A whole remediation by the real program on a real kube-apiserver, under exactly the shipped
// rights: all are needed, none is missing. Also kill -9 while it waits, drains, restarts and
// verifies.
#include <gmock/gmock.h>

#include <algorithm>
#include <stdexcept>
#include <string>
#include <vector>

#include "tests/fakes/kube_objects.h"
#include "tests/support/require.h"
#include "tests/support/rights.h"
#include "tests/unit/remediator/plane_hands.h"
#include "tests/unit/remediator/remediation_stage.h"

namespace gpuward::remediator {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;

constexpr const char* kPlaneBudgets = "/apis/policy/v1/namespaces/default/poddisruptionbudgets";
constexpr const char* kApprovedPlan =
    "[taint, cordon, wait: {approval: true}, drain, reboot, verify: {soak: 1s}, "
    "return-to-service]";

class WholeOnControlPlane : public ::testing::Test {
 protected:
  void SetUp() override {
    GPUWARD_REQUIRE_IN(kLanding, support::ControlPlane::why_unavailable());
    support::ControlPlaneOptions options;
    options.apiserver_flags = audit_.apiserver_flags();
    hands_ = std::make_unique<PlaneHands>(std::move(options));
  }
  void begin(const StageOptions& options = {}) {
    stage_ = std::make_unique<RemediationStage>(*hands_, options);
    hands_->create(kPlaneBudgets, fakes::budget("work-pdb", {{"app", "work"}}));
    allow_evictions(0);
    stage_->start();
  }
  void allow_evictions(int count) {
    hands_->patch_status(std::string(kPlaneBudgets) + "/work-pdb",
                         fakes::budget_status(count, 3, 3 - count));
  }
  ::testing::AssertionResult comes_to(const std::string& phase) {
    if (stage_->play_until([&] { return stage_->phase() == phase; }))
      return ::testing::AssertionSuccess();
    return ::testing::AssertionFailure()
           << "phase " << stage_->phase() << ": " << stage_->message() << "\n"
           << stage_->log();
  }
  ::testing::AssertionResult says(const std::string& words) {
    if (stage_->play_until([&] { return stage_->message().find(words) != std::string::npos; }))
      return ::testing::AssertionSuccess();
    return ::testing::AssertionFailure() << "it says: " << stage_->message() << "\n"
                                         << stage_->log();
  }
  void approve() {
    const Json status = stage_->status();
    const auto said =
        stage_->say({"approve", kStageNode, string_at(member_at(status, "approval"), "token")});
    ASSERT_EQ(said.exit_code, 0) << said.error_output;
    EXPECT_THAT(said.output, HasSubstr(std::string(kHuman) + " has approved"));
  }
  // Runs status with the remediator's own account, which also knows its policy.
  void expect_status_in_its_pod() {
    hands_->create("/api/v1/namespaces/gpuward/configmaps",
                   {{"metadata", {{"name", "gpuward-remediator"}}},
                    {"data", {{"policy.yaml", "mode: full"}}}});
    const auto said = support::Process::run({.argv = {GPUWARD_BIN_DIR "/gpuwardctl", "status",
                                                      "--kubeconfig=" + hands_->kubeconfig()}});
    ASSERT_TRUE(said) << said.error().message;
    EXPECT_EQ(said->exit_code, 0) << said->error_output;
    EXPECT_THAT(said->output, Not(HasSubstr("may not"))) << said->output;
  }
  void die_and_come_back() {
    stage_->kill_process();
    stage_->start_anew();
  }
  void expect_returned() {
    EXPECT_FALSE(stage_->is_cordoned());
    EXPECT_FALSE(stage_->is_tainted());
    EXPECT_EQ(stage_->lost_foreign_state(), "");
    EXPECT_THAT(stage_->pods(), IsEmpty());
    EXPECT_THAT(stage_->pods_at_first_call(), IsEmpty());
    EXPECT_THAT(stage_->calls(), SizeIs(1));
    EXPECT_TRUE(stage_->play_until([&] { return stage_->slots_held() == 0; }));
  }

  // Adds a Remediation that was closed so long ago that gpuward deletes it.
  void leave_an_old_remediation() {
    const std::string all = "/apis/gpuward.dev/v1alpha1/remediations";
    (void)hands_->create(
        all,
        {{"apiVersion", "gpuward.dev/v1alpha1"},
         {"kind", "Remediation"},
         {"metadata", {{"name", "long-ago"}}},
         {"spec", {{"nodeName", "gone"}, {"nodeUID", "uid-of-gone"}, {"severity", "reboot"}}}});
    (void)hands_->patch_status(
        all + "/long-ago",
        {{"status", {{"phase", "Released"}, {"closedAt", "2020-01-01T00:00:00Z"}}}});
  }
  bool kubectl_waits_for(const std::string& condition, const std::string& limit) {
    const auto waited = hands_->plane().kubectl(
        {"wait", "--for=condition=" + condition, "--timeout=" + limit,
         "remediation/" + string_at(stage_->remediation()["metadata"], "name")});
    return waited && waited->exit_code == 0;
  }

  // Adds a pod of a wave after that of the blocked pods.
  void add_critical_pod(const std::string& name) {
    Json pod = fakes::pod(name, kStageNode, {{"app", name}});
    pod["spec"]["priorityClassName"] = "system-cluster-critical";
    pod["metadata"]["ownerReferences"] = Json::array({{{"apiVersion", "apps/v1"},
                                                       {"kind", "ReplicaSet"},
                                                       {"name", "owner"},
                                                       {"uid", "owner-of-" + name},
                                                       {"controller", true}}});
    hands_->create(kStagePods, pod);
    hands_->patch_status(std::string(kStagePods) + "/" + name, fakes::running_status());
  }
  bool an_event_says(const std::string& words) {
    const Json events = hands_->get("/api/v1/namespaces/default/events");
    return std::ranges::any_of(events["items"], [&](const Json& event) {
      return string_at(event, "message").contains(words);
    });
  }

  // Returns the verbs that the role could lose without any refused request of the program.
  std::vector<std::string> needless(const std::string& role) {
    auto verbs = support::needless_verbs(
        hands_->plane(), "/apis/rbac.authorization.k8s.io/v1/" + role, audit_.asked());
    if (!verbs) throw std::runtime_error(verbs.error().message);
    return *std::move(verbs);
  }

  support::RightsAudit audit_{{kRemediatorUser}};
  std::unique_ptr<PlaneHands> hands_;
  std::unique_ptr<RemediationStage> stage_;
};

TEST_F(WholeOnControlPlane, NeedsEveryRightThatIsShippedAndNoOther) {
  leave_an_old_remediation();
  begin();
  ASSERT_TRUE(says("work-pdb"));
  EXPECT_THAT(stage_->pods(), SizeIs(3));
  allow_evictions(3);

  ASSERT_TRUE(comes_to("Released"));

  expect_returned();
  EXPECT_TRUE(kubectl_waits_for("Closed", "20s"));
  EXPECT_FALSE(kubectl_waits_for("Held", "1s"));
  expect_status_in_its_pod();
  EXPECT_THAT(audit_.refused(), IsEmpty());
  for (const char* role :
       {"clusterroles/gpuward-remediator", "namespaces/default/roles/gpuward-remediator-events",
        "namespaces/gpuward/roles/gpuward-remediator"}) {
    EXPECT_THAT(needless(role), IsEmpty()) << role;
  }
}

TEST_F(WholeOnControlPlane, EvictsLaterWavesBesideABudgetAndSaysWhoWaitsForIt) {
  const std::string who_waits =
      "3 pods left: 3 blocked by disruption budget work-pdb: default/work-1, default/work-2, "
      "default/work-3";
  begin();
  ASSERT_TRUE(says("work-pdb"));
  add_critical_pod("dns");
  EXPECT_TRUE(stage_->play_until([&] { return !hands_->has(std::string(kStagePods) + "/dns"); }));

  ASSERT_TRUE(says(who_waits));
  EXPECT_THAT(stage_->say({"explain", kStageNode}).output, HasSubstr(who_waits));
  EXPECT_TRUE(stage_->play_until(
      [&] { return an_event_says("drain of node gpu-01 waits: " + who_waits); }));
}

TEST_F(WholeOnControlPlane, DeletesPodsOnlyUnderTheRoleThatIsBoundForIt) {
  begin({.plan = "[taint, cordon, drain: {deadline: 1s, on_deadline: delete}]"});
  ASSERT_TRUE(says("cannot delete resource"));
  EXPECT_THAT(stage_->pods(), SizeIs(3));

  const auto bound =
      hands_->plane().kubectl({"create", "clusterrolebinding", "gpuward-remediator-delete-pods",
                               "--clusterrole=gpuward-remediator-delete-pods",
                               "--serviceaccount=gpuward:gpuward-remediator"});

  ASSERT_TRUE(bound && bound->exit_code == 0);
  EXPECT_TRUE(stage_->play_until([&] { return stage_->pods().empty(); })) << stage_->message();
  EXPECT_THAT(needless("clusterroles/gpuward-remediator-delete-pods"), IsEmpty());
}

TEST_F(WholeOnControlPlane, FinishesWhatWasBegunWhereverItIsKilled) {
  begin({.plan = kApprovedPlan});
  stage_->let_kubelet_work(false);
  stage_->let_machine_restart(false);
  allow_evictions(3);
  ASSERT_TRUE(says("waits for approval"));
  die_and_come_back();
  approve();
  ASSERT_TRUE(says("terminating"));

  die_and_come_back();
  stage_->let_kubelet_work(true);
  // The disruption controller counts again: a kill in the middle of an eviction may have used up
  // the budget and left the pod.
  const auto has_restarted = [&] {
    allow_evictions(3);
    return !stage_->calls().empty();
  };
  ASSERT_TRUE(stage_->play_until(has_restarted)) << stage_->message();

  die_and_come_back();
  stage_->let_machine_restart(true);
  ASSERT_TRUE(comes_to("Verifying"));

  die_and_come_back();

  ASSERT_TRUE(comes_to("Released"));
  expect_returned();
}

}  // namespace
}  // namespace gpuward::remediator
