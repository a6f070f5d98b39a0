// The writes of the Cluster Autoscaler and node-problem-detector, taken from their sources, beside
// the real program on a real kube-apiserver: the autoscaler's taints and cordon (utils/taints), the
// detector's conditions and Events (pkg/exporters/k8sexporter, config/kernel-monitor.json).
#include <gmock/gmock.h>

#include "tests/fakes/kube_objects.h"
#include "tests/support/require.h"
#include "tests/unit/remediator/plane_hands.h"
#include "tests/unit/remediator/remediation_stage.h"

namespace gpuward::remediator {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

constexpr const char* kToBeDeleted = "ToBeDeletedByClusterAutoscaler";
constexpr const char* kDeletionCandidate = "DeletionCandidateOfClusterAutoscaler";

class BesideOthers : public ::testing::Test {
 protected:
  void SetUp() override {
    GPUWARD_REQUIRE_IN(kLanding, support::ControlPlane::why_unavailable());
    hands_ = std::make_unique<PlaneHands>();
  }
  void begin(const StageOptions& options) {
    stage_ = std::make_unique<RemediationStage>(*hands_, options);
  }
  // The Cluster Autoscaler writes the whole Node, with the second of the write as the value.
  void add_taint(const std::string& key, const std::string& effect, bool cordons = false) {
    update([&](Json& spec) {
      spec["taints"].push_back({{"key", key}, {"value", "1764150000"}, {"effect", effect}});
      if (cordons) spec["unschedulable"] = true;
    });
  }
  void take_taint(const std::string& key, bool uncordons = false) {
    update([&](Json& spec) {
      Json kept = Json::array();
      for (const Json& taint : spec["taints"]) {
        if (string_at(taint, "key") != key) kept.push_back(taint);
      }
      spec["taints"] = kept;
      if (uncordons) spec["unschedulable"] = false;
    });
  }
  void update(const std::function<void(Json&)>& change) {
    Json spec = stage_->node()["spec"];
    change(spec);
    hands_->patch(kStageNodePath, {{"spec", spec}});
  }
  void kubectl(std::vector<std::string> words, const std::string& input = {}) {
    const auto ran = hands_->plane().kubectl(std::move(words), input);
    if (!ran || ran->exit_code != 0)
      throw std::runtime_error(ran ? ran->error_output : ran.error().message);
  }
  // The condition of the kernel monitor, in the patch that the detector sends every time.
  void detect(const std::string& deadlock, const std::string& reason, const std::string& message) {
    const std::string now = to_rfc3339(lasting_clock().wall());
    const auto condition = [&](const char* type, const std::string& status, const std::string& why,
                               const std::string& what) {
      return Json{{"type", type},  {"status", status},          {"lastHeartbeatTime", now},
                  {"reason", why}, {"lastTransitionTime", now}, {"message", what}};
    };
    const Json conditions =
        Json::array({condition("KernelDeadlock", deadlock, reason, message),
                     condition("XfsShutdown", "False", "XfsHasNotShutDown", "XFS has not shutdown"),
                     condition("CperHardwareErrorFatal", "False", "CperHardwareHasNoFatalError",
                               "UEFI CPER has no fatal error")});
    kubectl({"patch", "node", kStageNode, "--subresource=status", "--type=strategic",
             "--patch=" + dump_json({{"status", {{"conditions", conditions}}}})});
  }
  // A temporary problem: an Event, and no condition.
  void report_event(const std::string& reason, const std::string& message) {
    const std::string now = to_rfc3339(lasting_clock().wall());
    const Json uid = stage_->node()["metadata"]["uid"];
    hands_->create("/api/v1/namespaces/default/events",
                   {{"metadata", {{"generateName", std::string(kStageNode) + "."}}},
                    {"involvedObject",
                     {{"apiVersion", "v1"}, {"kind", "Node"}, {"name", kStageNode}, {"uid", uid}}},
                    {"source", {{"component", "kernel-monitor"}, {"host", kStageNode}}},
                    {"type", "Warning"},
                    {"reason", reason},
                    {"message", message},
                    {"firstTimestamp", now},
                    {"lastTimestamp", now},
                    {"count", 1}});
  }
  ::testing::AssertionResult says(const std::string& words) {
    return is_so([&] { return stage_->message().find(words) != std::string::npos; });
  }
  ::testing::AssertionResult is_so(const std::function<bool()>& condition) {
    if (stage_->play_until(condition)) return ::testing::AssertionSuccess();
    return ::testing::AssertionFailure()
           << stage_->phase() << " by " << stage_->rule() << ": " << stage_->message() << "\n"
           << stage_->log();
  }

  std::unique_ptr<PlaneHands> hands_;
  std::unique_ptr<RemediationStage> stage_;
};

TEST_F(BesideOthers, LeaveANodeToTheClusterAutoscalerFromItsFirstTaintOn) {
  begin({.machine_restarts = false});
  add_taint(kDeletionCandidate, "PreferNoSchedule");
  stage_->start();
  ASSERT_TRUE(says("the Cluster Autoscaler may remove the node (taint " +
                   std::string(kDeletionCandidate) + ")"));
  EXPECT_EQ(stage_->rule(), "guard.other-repairer");
  EXPECT_TRUE(stage_->is_tainted());
  EXPECT_TRUE(stage_->is_cordoned());
  EXPECT_THAT(stage_->pods(), SizeIs(3));

  // The autoscaler removes its taint, because the node is needed.
  take_taint(kDeletionCandidate);
  ASSERT_TRUE(is_so([&] { return stage_->pods().empty() && !stage_->calls().empty(); }));
  const auto calls = stage_->calls().size();

  // After the drain no pod needs the node: the taint, then the end of the instance, then of the
  // Node.
  add_taint(kToBeDeleted, "NoSchedule");
  hands_->remove(kStageNodePath);
  ASSERT_TRUE(is_so([&] { return stage_->phase() == "Superseded"; }));
  EXPECT_TRUE(is_so([&] { return stage_->slots_held() == 0; }));
  EXPECT_THAT(stage_->calls(), SizeIs(calls));
}

TEST_F(BesideOthers, TouchNoNodeThatTheClusterAutoscalerIsRemoving) {
  begin({});
  add_taint(kToBeDeleted, "NoSchedule", true);
  stage_->start();

  ASSERT_TRUE(says("the Cluster Autoscaler is removing the node (taint " +
                   std::string(kToBeDeleted) + ")"));
  EXPECT_THAT(stage_->pods(), SizeIs(3));
  hands_->remove(kStageNodePath);
  EXPECT_TRUE(is_so([&] { return stage_->phase() == "Superseded"; }));
  EXPECT_THAT(stage_->calls(), IsEmpty());
}

// With --cordon-node-before-terminating: if the removal fails, the autoscaler makes the node
// schedulable, even if another program had cordoned it.
TEST_F(BesideOthers, PauseIfTheClusterAutoscalerGivesUpAndTakesTheirCordonOff) {
  begin({});
  add_taint(kToBeDeleted, "NoSchedule");
  stage_->start();
  ASSERT_TRUE(says("the Cluster Autoscaler is removing the node"));

  take_taint(kToBeDeleted, true);

  ASSERT_TRUE(is_so([&] { return stage_->phase() == "Paused"; }));
  EXPECT_EQ(stage_->rule(), "guard.manual-change");
  EXPECT_TRUE(stage_->is_tainted()) << "nothing new comes to the node";
  EXPECT_THAT(stage_->pods(), SizeIs(3));
}

TEST_F(BesideOthers, ReadTheConditionsOfNodeProblemDetectorAndNotItsEvents) {
  begin({.more_policy = "conditions: [{type: KernelDeadlock, severity: reboot, drain: true}]\n"});
  stage_->end_alert();
  stage_->report_severity(0);
  detect("False", "KernelHasNoDeadlock", "kernel has no deadlock");
  stage_->start();
  report_event("TaskHung", "task python:4711 blocked for more than 120 seconds.");
  detect("False", "KernelHasNoDeadlock", "kernel has no deadlock");

  detect("True", "DockerHung", "task docker:1234 blocked for more than 120 seconds.");
  ASSERT_TRUE(is_so([&] { return stage_->pods().empty(); }));

  EXPECT_TRUE(stage_->is_cordoned());
  const Json found = stage_->remediation();
  EXPECT_THAT(dump_json(found), HasSubstr("KernelDeadlock=True"));
  EXPECT_THAT(dump_json(found), ::testing::Not(HasSubstr("TaskHung")));
  ASSERT_TRUE(is_so([&] { return stage_->rule() == "guard.evidence"; }));
  EXPECT_THAT(stage_->calls(), IsEmpty()) << "the condition alone restarts nothing";
}

}  // namespace
}  // namespace gpuward::remediator
