// A sweep with the sweeper's own rights on a real kube-apiserver, and the manifests that start
// sweep and quarantine.
#include <gmock/gmock.h>

#include <future>
#include <thread>

#include "core/kube/connection.h"
#include "core/runtime/files.h"
#include "core/runtime/json.h"
#include "exporter/commands/sweep.h"
#include "exporter/publish/node/node_keys.h"
#include "tests/fakes/kube_objects.h"
#include "tests/places.inc"
#include "tests/support/control_plane.h"
#include "tests/support/require.h"
#include "tests/support/rights.h"
#include "tests/support/wait.h"

namespace gpuward::exporter {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr const char* kToken = "token-of-the-sweeper";
constexpr const char* kSweeper = "system:serviceaccount:gpu-healthcheck:gpu-healthcheck-sweeper";
constexpr const char* kJobs = "/apis/batch/v1/namespaces/gpu-healthcheck/jobs";
constexpr const char* kPods = "/api/v1/namespaces/gpu-healthcheck/pods";
constexpr const char* kManifests = GPUWARD_SOURCE_DIR "/manifests/";

class SweepOnControlPlane : public ::testing::Test {
 protected:
  void SetUp() override {
    GPUWARD_REQUIRE_IN(kLanding, support::ControlPlane::why_unavailable());
    support::ControlPlaneOptions options;
    options.apiserver_flags = audit_.apiserver_flags();
    options.users.push_back({kToken, kSweeper, {"system:serviceaccounts"}});
    auto plane = support::ControlPlane::start(std::move(options));
    ASSERT_TRUE(plane) << plane.error().message;
    plane_ = std::move(*plane);
    for (const char* file :
         {"exporter-rbac.yaml", "exporter-admission.yaml", "exporter-sweep.yaml"}) {
      const auto applied = plane_->apply(std::string(kManifests) + file);
      ASSERT_TRUE(applied) << applied.error().message;
    }
    must("POST", "/api/v1/nodes", fakes::ready_node("gpu-01"));
    must("PATCH", "/api/v1/nodes/gpu-01", {{"spec", {{"taints", nullptr}}}});
  }

  Json must(const std::string& method, const std::string& path, const Json& body = nullptr) {
    const auto answer =
        plane_->request(method, path, body.is_null() ? std::string() : dump_json(body));
    EXPECT_TRUE(answer) << answer.error().message;
    if (!answer) return nullptr;
    EXPECT_LT(answer->status, 300) << answer->body;
    return parse_json(answer->body).value_or(Json());
  }
  std::vector<std::string> taint_keys() {
    const Json node = must("GET", "/api/v1/nodes/gpu-01");
    std::vector<std::string> keys;
    for (const Json& taint : member_at(member_at(node, "spec"), "taints"))
      keys.push_back(string_at(taint, "key"));
    return keys;
  }
  std::string the_job() {
    const Json jobs = must("GET", kJobs);
    return jobs["items"].empty() ? "" : std::string(jobs["items"][0]["metadata"]["name"]);
  }
  // Writes the end of a Job as a job controller and a kubelet would.
  void end_job(const std::string& name, const std::string& verdict) {
    must("POST", kPods, fakes::pod(name, "", {{"job-name", name}}));
    const Json end = {{"exitCode", 1}, {"reason", "Error"}, {"message", verdict}};
    const Json container = {{"name", "main"},    {"image", "i"},
                            {"imageID", "i"},    {"ready", false},
                            {"restartCount", 0}, {"state", {{"terminated", end}}}};
    must("PATCH", std::string(kPods) + "/" + name + "/status",
         {{"status", {{"phase", "Failed"}, {"containerStatuses", Json::array({container})}}}});
    Json target = {
        {"type", "FailureTarget"}, {"status", "True"}, {"reason", "BackoffLimitExceeded"}};
    Json failed = target;
    failed["type"] = "Failed";
    must(
        "PATCH", std::string(kJobs) + "/" + name + "/status",
        {{"status",
          {{"startTime", "2026-01-01T00:00:00Z"}, {"conditions", Json::array({target, failed})}}}});
  }

  std::future<Result<SweepSummary>> start(const std::stop_token& stop) {
    kube::ClusterConfig config;
    config.server = plane_->url();
    config.tls.ca_file = plane_->ca_file();
    config.token = kToken;
    connection_ = std::make_unique<kube::Connection>(config, "gpuward-exporter", clock_);
    api_ = connection_->make_api({});
    SweepOptions options;
    options.job.image = "gpuward-exporter-diagnostics:" GPUWARD_VERSION;  // the policy's
    options.owner = "sweep 1";
    options.poll_interval = std::chrono::milliseconds(50);
    return std::async(std::launch::async, [this, options, stop] {
      return Sweep(options, *api_, clock_, log_).run(stop);
    });
  }

  Result<SweepSummary> sweep_to_the_end() {
    std::stop_source stop;
    auto sweep = start(stop.get_token());
    EXPECT_TRUE(support::wait_until([&] { return !the_job().empty(); }, "the Job"));
    end_job(the_job(),
            R"({"check":"1-dcgm-diag-l2","status":"FAIL","severity":"RESET","details":"memory"})");
    if (sweep.wait_for(support::kGenerous) != std::future_status::ready) stop.request_stop();
    return sweep.get();
  }
  Result<SweepSummary> sweep_and_stop() {
    std::stop_source stop;
    auto sweep = start(stop.get_token());
    EXPECT_TRUE(support::wait_until([&] { return !the_job().empty(); }, "the Job"));
    stop.request_stop();
    return sweep.get();
  }

  support::RightsAudit audit_{{kSweeper}};
  std::unique_ptr<support::ControlPlane> plane_;
  SystemClock clock_;
  Log log_{LogLevel::kError, LogFormat::kLogfmt};
  std::unique_ptr<kube::Connection> connection_;
  std::unique_ptr<kube::Api> api_;
};

TEST_F(SweepOnControlPlane, TaintsRunsItsJobAndMarksTheNodeUnderItsOwnRights) {
  const auto report = sweep_to_the_end();
  ASSERT_TRUE(report) << report.error().message;
  EXPECT_THAT(report->failed, ElementsAre("gpu-01"));
  EXPECT_THAT(taint_keys(), ElementsAre(kGpuwardNames(NodeName::kUnhealthy)));
}

TEST_F(SweepOnControlPlane, AStopDeletesItsJobAndGivesBackTheNode) {
  const auto report = sweep_and_stop();
  ASSERT_TRUE(report) << report.error().message;
  EXPECT_THAT(report->untold, ElementsAre("gpu-01"));
  EXPECT_THAT(taint_keys(), ElementsAre());
  EXPECT_EQ(the_job(), "");
}

TEST_F(SweepOnControlPlane, NeedsEveryRightThatIsShippedAndNoOther) {
  ASSERT_TRUE(sweep_and_stop());
  ASSERT_TRUE(sweep_to_the_end());

  EXPECT_THAT(audit_.refused(), IsEmpty());
  for (const char* role : {"clusterroles/gpu-healthcheck-sweeper",
                           "namespaces/gpu-healthcheck/roles/gpu-healthcheck-sweeper"}) {
    const auto needless = support::needless_verbs(
        *plane_, std::string("/apis/rbac.authorization.k8s.io/v1/") + role, audit_.asked());
    ASSERT_TRUE(needless) << needless.error().message;
    EXPECT_THAT(*needless, IsEmpty()) << role;
  }
}

TEST_F(SweepOnControlPlane, TheManifestsAreTakenWithTheNodesNameInTheTemplate) {
  const auto applied = plane_->apply(std::string(kManifests) + "exporter-sweep.yaml");
  EXPECT_TRUE(applied) << applied.error().message;
  auto job = read_file(std::string(kManifests) + "exporter-quarantine.yaml");
  ASSERT_TRUE(job);
  constexpr std::string_view kPlaceholder = "TARGET_NODE_NAME";
  for (auto at = job->find(kPlaceholder); at != std::string::npos; at = job->find(kPlaceholder))
    job->replace(at, kPlaceholder.size(), "gpu-01");
  const auto quarantine = plane_->apply_text(*job);
  EXPECT_TRUE(quarantine) << quarantine.error().message;
  const Json made = must("GET", std::string(kJobs) + "/gpu-quarantine-gpu-01");
  EXPECT_EQ(made["metadata"]["labels"][kGpuwardNames(NodeName::kTargetNode)], "gpu-01");
}

}  // namespace
}  // namespace gpuward::exporter
