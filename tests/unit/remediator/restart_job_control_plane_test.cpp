// Jobs of every kind restarted on a real kube-apiserver by the remediator's own account, under
// manifests/remediator-restart-job-rbac.yaml. The test plays the kinds' controllers.
#include <gmock/gmock.h>

#include <string>

#include "core/kube/connection.h"
#include "remediator/act/restart/job_restarter.h"
#include "tests/support/permits.h"
#include "tests/support/require.h"
#include "tests/support/rights.h"
#include "tests/support/wait.h"
#include "tests/unit/remediator/act/restart/torn_jobs.h"
#include "tests/unit/remediator/plane_hands.h"

namespace gpuward::remediator {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;

const std::string kMark = "gpu-01-ab-1/0123456789";
constexpr const char* kPods = "/api/v1/namespaces/default/pods";

class RestartJobOnControlPlane : public ::testing::Test {
 protected:
  void SetUp() override {
    GPUWARD_REQUIRE_IN(kLanding, support::ControlPlane::why_unavailable());
    support::ControlPlaneOptions options;
    options.apiserver_flags = audit_.apiserver_flags();
    hands_ = std::make_unique<PlaneHands>(std::move(options));
    run_kubectl({"apply", "-f", GPUWARD_SOURCE_DIR "/manifests/remediator-restart-job-rbac.yaml"});
    run_kubectl({"create", "clusterrolebinding", "gpuward-remediator-restart-job",
                 "--clusterrole=gpuward-remediator-restart-job",
                 "--serviceaccount=gpuward:gpuward-remediator"});
    ASSERT_TRUE(support::is_soon_allowed(hands_->plane(), {.user = kRemediatorUser,
                                                           .verb = "patch",
                                                           .group = "batch",
                                                           .resource = "jobs",
                                                           .subresource = "",
                                                           .ns = "default",
                                                           .name = "train"}));
    auto config = kube::find_cluster(hands_->kubeconfig(), "");
    ASSERT_TRUE(config) << config.error().message;
    connection_ =
        std::make_unique<kube::Connection>(std::move(*config), "gpuward-tests", lasting_clock());
    api_ = connection_->make_api({});
  }
  void run_kubectl(const std::vector<std::string>& words) {
    const auto ran = hands_->plane().kubectl(words);
    if (!ran || ran->exit_code != 0) throw std::runtime_error("kubectl " + words[0]);
  }
  void define(const KindOfJob& kind) {
    if (kind.group == "batch") return;
    hands_->create(fakes::kDefinitions, fakes::custom_definition({.group = kind.group,
                                                                  .version = kind.version,
                                                                  .kind = kind.kind,
                                                                  .plural = kind.plural,
                                                                  .namespaced = true}));
    run_kubectl({"wait", "--for=condition=Established", "--timeout=30s",
                 "crd/" + kind.plural + "." + kind.group});
  }
  // Makes the job and one pod of it.
  void make(const KindOfJob& kind) {
    define(kind);
    Json job = {{"apiVersion", kind.group + "/" + kind.version},
                {"kind", kind.kind},
                {"metadata", {{"name", "train"}}},
                {"spec", Json::object()}};
    if (kind.group == "batch") {
      job["spec"]["template"] = {{"spec", fakes::pod("x", "")["spec"]}};
      job["spec"]["template"]["spec"]["restartPolicy"] = "Never";
    }
    hands_->create(TornJobs::collection(kind), job);
    if (!kind.pod_label.empty())
      hands_->create(kPods, fakes::pod(pod_of(kind), "", {{kind.pod_label, "train"}}));
  }
  static std::string pod_of(const KindOfJob& kind) { return "pod-" + kind.plural + kind.version; }
  void end_pod_of(const KindOfJob& kind) {
    hands_->remove(std::string(kPods) + "/" + pod_of(kind));
  }
  JobProgress look(const KindOfJob& kind, const std::string& known) {
    const auto now = lasting_clock().wall();
    return restarter().advance(
        kind.word + " default/train", known,
        {.mark = kMark, .drained_at = now + std::chrono::minutes(1), .now = now}, support::given);
  }
  JobRestarter restarter() { return JobRestarter(*api_); }
  // The first look records the intent, and the second acts.
  JobProgress begin(const KindOfJob& kind) {
    const auto intended = look(kind, "");
    EXPECT_EQ(intended.words, "is about to be restarted") << kind.kind;
    return look(kind, intended.known);
  }
  bool is_suspended(const KindOfJob& kind) {
    const Json job = hands_->get(TornJobs::path(kind));
    const Json::json_pointer field(kind.suspend);
    return job.contains(field) && job.at(field) == true;
  }
  void expect_restart(const KindOfJob& kind) {
    make(kind);
    const auto begun = begin(kind);
    EXPECT_EQ(begun.words, "suspended") << kind.kind;
    EXPECT_TRUE(is_suspended(kind)) << kind.kind;
    EXPECT_THAT(look(kind, begun.known).words, HasSubstr("waiting for 1 pod")) << kind.kind;
    end_pod_of(kind);
    EXPECT_EQ(look(kind, begun.known).words, "restarted") << kind.kind;
    EXPECT_FALSE(is_suspended(kind)) << kind.kind;
  }

  support::RightsAudit audit_{{kRemediatorUser}};
  std::unique_ptr<PlaneHands> hands_;
  std::unique_ptr<kube::Connection> connection_;
  std::unique_ptr<kube::Api> api_;
};

TEST_F(RestartJobOnControlPlane, HasTheRightsForEachKindAndNoOthers) {
  expect_restart(kPlainJob);
  expect_restart(kJobSet);
  for (const auto& [kind, plural] : {std::pair{"PyTorchJob", "pytorchjobs"},
                                     {"TFJob", "tfjobs"},
                                     {"XGBoostJob", "xgboostjobs"},
                                     {"PaddleJob", "paddlejobs"},
                                     {"JAXJob", "jaxjobs"}})
    expect_restart(kubeflow_job(kind, plural));
  expect_restart(kubeflow_job("MPIJob", "mpijobs", "v2beta1"));
  make(kTrainJob);
  ASSERT_TRUE(api_->patch_custom({kTrainJob.group, kTrainJob.version, kTrainJob.plural, "default"},
                                 "train", R"({"spec":{"suspend":true}})"));
  ASSERT_TRUE(
      api_->get_custom({kTrainJob.group, kTrainJob.version, kTrainJob.plural, "default"}, "train"));
  define({"", "bus.volcano.sh", "v1alpha1", "Command", "commands", "", ""});
  make(kVolcanoJob);
  EXPECT_EQ(begin(kVolcanoJob).words, "requested a restart from Volcano");

  const auto needless = support::needless_verbs(
      hands_->plane(),
      "/apis/rbac.authorization.k8s.io/v1/clusterroles/gpuward-remediator-restart-job",
      audit_.asked());
  ASSERT_TRUE(needless) << needless.error().message;
  EXPECT_THAT(*needless, IsEmpty());
}

TEST_F(RestartJobOnControlPlane, MayChangeNothingElseOfAJob) {
  const KindOfJob pytorch = kubeflow_job("PyTorchJob", "pytorchjobs");
  for (const KindOfJob& kind : {kPlainJob, kJobSet, pytorch}) make(kind);
  const auto patch = [&](const KindOfJob& kind, const std::string& json) {
    return api_->patch_custom({kind.group, kind.version, kind.plural, "default"}, "train", json);
  };
  // Policies are in force a moment after they were applied.
  ASSERT_TRUE(support::wait_until(
      [&] {
        const auto tried = patch(kJobSet, R"({"metadata":{"labels":{"a":"b"}}})");
        return !tried && tried.error().kind == ErrorKind::kForbidden;
      },
      "the admission policy to be in force"));

  const std::string metadata[] = {
      R"({"metadata":{"labels":{"kueue.x-k8s.io/queue-name":"x"}}})",
      R"({"metadata":{"annotations":{"gpuward.dev/do-not-restart":"false"}}})",
      R"({"metadata":{"finalizers":["a/b"]}})"};
  for (const KindOfJob& kind : {kPlainJob, kJobSet, pytorch}) {
    for (const std::string& json : metadata) {
      const auto answer = patch(kind, json);
      ASSERT_FALSE(answer) << kind.kind << " " << json;
      EXPECT_THAT(answer.error().message, HasSubstr("its own annotations alone"));
    }
  }
  const std::pair<KindOfJob, std::string> specs[] = {
      {kPlainJob, R"({"spec":{"parallelism":7}})"},
      {kPlainJob, R"({"spec":{"activeDeadlineSeconds":7}})"},
      {kJobSet, R"({"spec":{"replicatedJobs":[]}})"},
      {pytorch, R"({"spec":{"runPolicy":{"cleanPodPolicy":"All"}}})"},
      {pytorch, R"({"spec":{"pytorchReplicaSpecs":{}}})"}};
  for (const auto& [kind, json] : specs) {
    const auto answer = patch(kind, json);
    ASSERT_FALSE(answer) << kind.kind << " " << json;
    EXPECT_THAT(answer.error().message, HasSubstr("the field suspend alone"));
  }
  for (const KindOfJob& kind : {kPlainJob, kJobSet, pytorch})
    EXPECT_EQ(begin(kind).words, "suspended") << kind.kind;
}

TEST_F(RestartJobOnControlPlane, MayAskVolcanoForNothingButARestart) {
  define({"", "bus.volcano.sh", "v1alpha1", "Command", "commands", "", ""});
  const auto ask = [&](const std::string& action, const std::string& kind) {
    const Json command = {{"apiVersion", "bus.volcano.sh/v1alpha1"},
                          {"kind", "Command"},
                          {"metadata", {{"generateName", "test-"}}},
                          {"action", action},
                          {"target",
                           {{"apiVersion", "batch.volcano.sh/v1alpha1"},
                            {"kind", kind},
                            {"name", "train"},
                            {"uid", "1"}}}};
    return api_->create_custom({"bus.volcano.sh", "v1alpha1", "commands", "default"},
                               dump_json(command));
  };
  // Policies are in force a moment after they were applied.
  ASSERT_TRUE(support::wait_until(
      [&] {
        const auto tried = ask("AbortJob", "Job");
        return !tried && tried.error().kind == ErrorKind::kForbidden;
      },
      "the admission policy to be in force"));

  const auto other_kind = ask("RestartJob", "Queue");
  ASSERT_FALSE(other_kind);
  EXPECT_THAT(other_kind.error().message, HasSubstr("the restart of a job alone"));
  EXPECT_TRUE(ask("RestartJob", "Job"));
}

}  // namespace
}  // namespace gpuward::remediator
