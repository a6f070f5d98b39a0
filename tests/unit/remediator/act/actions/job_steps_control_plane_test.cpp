// The Jobs of the steps on a real kube-apiserver with the real Job controller, under the rights of
// manifests/remediator-rbac.yaml and remediator-jobs-rbac.yaml alone. The test plays the kubelet.
#include <gmock/gmock.h>

#include "core/kube/connection.h"
#include "core/runtime/clock.h"
#include "core/runtime/json.h"
#include "remediator/act/actions/collect_evidence_action.h"
#include "remediator/act/actions/gpu_reset_action.h"
#include "remediator/act/actions/job_template.h"
#include "remediator/act/actions/pair_jobs.h"
#include "remediator/act/actions/quarantine_job_action.h"
#include "tests/fakes/kube_objects.h"
#include "tests/places.inc"
#include "tests/support/control_plane.h"
#include "tests/support/require.h"
#include "tests/support/rights.h"
#include "tests/support/wait.h"
#include "tests/unit/remediator/act/actions/intended_step.h"

namespace gpuward::remediator {
namespace {

using support::wait_until;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr const char* kJobsToken = "remediator-token-of-the-jobs";
constexpr const char* kJobsUser = "system:serviceaccount:gpuward:gpuward-remediator";
constexpr const char* kPodsPath = "/api/v1/namespaces/gpu-healthcheck/pods";

class JobsOnControlPlane : public ::testing::Test {
 protected:
  void SetUp() override {
    GPUWARD_REQUIRE_IN(kLanding, support::ControlPlane::why_unavailable());
    GPUWARD_REQUIRE_IN(kAll, support::ControlPlane::why_no_controllers());
    support::ControlPlaneOptions options;
    options.controller_manager = true;
    options.apiserver_flags = audit_.apiserver_flags();
    options.users.push_back(
        {kJobsToken, kJobsUser, {"system:serviceaccounts", "system:serviceaccounts:gpuward"}});
    auto plane = support::ControlPlane::start(std::move(options));
    ASSERT_TRUE(plane) << plane.error().message;
    plane_ = std::move(*plane);
    for (const char* file :
         {"exporter-rbac.yaml", "remediator-rbac.yaml", "remediator-jobs-rbac.yaml"}) {
      const auto applied = plane_->apply(std::string(GPUWARD_SOURCE_DIR "/manifests/") + file);
      ASSERT_TRUE(applied) << applied.error().message;
    }
    must("PATCH", "/api/v1/namespaces/gpu-healthcheck/configmaps/gpuward-job-values",
         {{"data", {{"image", "here/gpuward:1"}}}});
    ASSERT_TRUE(support::is_soon_allowed(*plane_, {.user = kJobsUser,
                                                   .verb = "create",
                                                   .group = "batch",
                                                   .resource = "jobs",
                                                   .subresource = "",
                                                   .ns = "gpu-healthcheck",
                                                   .name = ""}));
    must("POST", "/api/v1/nodes", fakes::ready_node("gpu-01"));
    const Json taint = {
        {"key", "gpuward.dev/remediation"}, {"value", "reset"}, {"effect", "NoSchedule"}};
    must("PATCH", "/api/v1/nodes/gpu-01",
         {{"spec", {{"unschedulable", true}, {"taints", Json::array({taint})}}}});
    auto config = kube::find_cluster(plane_->kubeconfig_for(kJobsToken).string(), "");
    ASSERT_TRUE(config) << config.error().message;
    connection_ = std::make_unique<kube::Connection>(*std::move(config), "test", clock_);
    api_ = connection_->make_api(
        {.request = support::kGenerousRequest, .with_retries = support::kGenerous});
    begin_with_a_node();
  }
  void begin_with_a_node() {
    node_.meta.name = "gpu-01";
    node_.resources = {"nvidia.com/gpu"};
    remediation_.name = "gpu-01-ab-1";
    remediation_.uid = "0aa8ee8c-2b0e-4a2c-8f0e-5f0f7a3c5a11";
    remediation_.node = "gpu-01";
    remediation_.severity = Severity::kReset;
    Policy policy;
    policy.jobs.image = "here/gpuward:1";
    policy_.set(policy);
  }

  Json must(const std::string& method, const std::string& path, const Json& body = nullptr) {
    const auto answer =
        plane_->request(method, path, body.is_null() ? std::string() : dump_json(body));
    EXPECT_TRUE(answer) << answer.error().message;
    if (!answer) return nullptr;
    EXPECT_LT(answer->status, 300) << answer->body;
    return parse_json(answer->body).value_or(Json());
  }
  // The pod that the Job controller made; null before that.
  Json pod_of(const std::string& job) {
    const Json pods = must("GET", std::string(kPodsPath) + "?labelSelector=job-name%3D" + job);
    return pods["items"].empty() ? Json() : pods["items"][0];
  }
  void end_pod(const Json& pod, int code, const char* words) {
    const Json end = {{"exitCode", code}, {"reason", "Error"}, {"message", words}};
    const Json container = {{"name", pod["spec"]["containers"][0]["name"]},
                            {"image", "i"},
                            {"imageID", ""},
                            {"ready", false},
                            {"restartCount", 0},
                            {"state", {{"terminated", end}}}};
    must("PATCH", kPodsPath + ("/" + pod["metadata"]["name"].get<std::string>()) + "/status",
         {{"status",
           {{"phase", code == 0 ? "Succeeded" : "Failed"},
            {"containerStatuses", Json::array({container})}}}});
  }

  void intend(Step step, const StepAction& action) {
    step_ = planned(step);
    remediation_.status.steps = {
        intended_step(step, Severity::kReset, clock_.wall(), action.facts_before(node_))};
  }
  StepRequest request() {
    return {.remediation = remediation_,
            .node = node_,
            .step = step_,
            .facts = remediation_.status.steps[0].facts,
            .permit = [] { return Status(); },
            .now = clock_.wall()};
  }
  // Begins the step, ends its pod with `code` and `words`, and watches the Job to its end.
  StepProgress run(StepAction& action, Step step, int code, const char* words) {
    intend(step, action);
    auto progress = action.begin(request());
    EXPECT_TRUE(progress) << progress.error().message;
    if (!progress) return {};
    remediation_.status.steps[0].result = progress->result;
    remediation_.status.steps[0].facts = progress->facts;
    Json pod;
    const auto has_pod = [&] { return !(pod = pod_of(job_name(request()))).is_null(); };
    EXPECT_TRUE(wait_until(has_pod, "the pod")) << progress->message;
    if (pod.is_null()) return *progress;
    EXPECT_EQ(pod["spec"]["nodeName"], "gpu-01");
    end_pod(pod, code, words);
    const auto is_over = [&] {
      progress = action.watch(request());
      return progress && progress->result != StepResult::kRunning;
    };
    EXPECT_TRUE(wait_until(is_over, "the Job's end"));
    return progress.value_or(StepProgress{});
  }

  SystemClock clock_;
  support::RightsAudit audit_{{kJobsUser}};
  std::unique_ptr<support::ControlPlane> plane_;
  std::unique_ptr<kube::Connection> connection_;
  std::unique_ptr<kube::Api> api_;
  CurrentPolicy policy_{Policy{}};
  kube::Node node_;
  Remediation remediation_;
  PlannedStep step_ = planned(Step::kGpuReset);
};

TEST_F(JobsOnControlPlane, RunOnATaintedAndCordonedNodeToTheirEnd) {
  CollectEvidenceAction evidence(*api_, policy_);
  GpuResetAction reset(*api_, policy_);
  QuarantineJobAction quarantine(*api_, policy_);

  const auto collected = run(evidence, Step::kCollectEvidence, 0, "in the file");
  EXPECT_EQ(collected.result, StepResult::kDone) << collected.message;
  const auto busy = run(reset, Step::kGpuReset, 255, "GPU 0: In use by another client");
  EXPECT_EQ(busy.result, StepResult::kFailed);
  EXPECT_THAT(busy.message, HasSubstr("a process holds a GPU"));
  const auto tested = run(quarantine, Step::kQuarantineJob, 0, "");
  EXPECT_EQ(tested.result, StepResult::kDone) << tested.message;
  const auto added_up = run(quarantine, Step::kNcclTest, 1, "");
  EXPECT_EQ(added_up.result, StepResult::kFailed) << added_up.message;

  EXPECT_TRUE(quarantine.abandon(request()));
  EXPECT_THAT(audit_.refused(), IsEmpty());
  const auto needless = support::needless_verbs(
      *plane_,
      "/apis/rbac.authorization.k8s.io/v1/namespaces/gpu-healthcheck/roles/gpuward-remediator-jobs",
      audit_.asked());
  ASSERT_TRUE(needless) << needless.error().message;
  EXPECT_THAT(*needless, IsEmpty());
}

TEST_F(JobsOnControlPlane, TestTwoNodesTogetherByAJobOnEach) {
  must("POST", "/api/v1/nodes", fakes::ready_node("gpu-02"));
  kube::Node second;
  second.meta.name = "gpu-02";
  intend(Step::kNcclPairs, QuarantineJobAction(*api_, policy_));
  PairJobs jobs(*api_, policy_);
  PairTest test{.first = "gpu-01", .second = "gpu-02", .since = clock_.wall(), .token = "t1"};
  for (int i = 0; i < 2; ++i) {  // the second time as after a crash
    ASSERT_TRUE(jobs.make(request(), test, node_, "10.0.0.1"));
    ASSERT_TRUE(jobs.make(request(), test, second, "10.0.0.1"));
  }
  Json pods;
  const auto has_pods = [&] {
    pods = must("GET", std::string(kPodsPath) + "?labelSelector=gpuward.dev/step%3Dnccl-pairs");
    return pods["items"].size() == 2;
  };
  ASSERT_TRUE(wait_until(has_pods, "the pods"));
  for (const Json& pod : pods["items"]) end_pod(pod, 0, "");

  const auto has_passed = [&] {
    const auto watched = jobs.watch(request(), test);
    return watched && watched->result == PairResult::kPassed;
  };
  EXPECT_TRUE(wait_until(has_passed, "the end of both"));

  test.token = "t2";
  ASSERT_TRUE(jobs.make(request(), test, node_, "10.0.0.1"));
  ASSERT_TRUE(jobs.end(request(), test));
  const auto watched = jobs.watch(request(), test);
  ASSERT_TRUE(watched) << watched.error().message;
  EXPECT_EQ(watched->result, PairResult::kUnknown);
  EXPECT_THAT(watched->words, HasSubstr("no longer exists, and this step did not delete it"));
  EXPECT_THAT(audit_.refused(), IsEmpty());
}

}  // namespace
}  // namespace gpuward::remediator
