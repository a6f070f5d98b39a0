// The policies of Jobs that the chart makes from a user's values, on a real kube-apiserver: it
// allows the Jobs that the programs then make, and no others.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/runtime/json.h"
#include "exporter/commands/sweep_job.h"
#include "remediator/act/actions/job_template.h"
#include "remediator/act/actions/step_progress.h"
#include "remediator/model/diagnostics.h"
#include "tests/manifests/plane.h"
#include "tests/manifests/tools.h"
#include "tests/support/temp_dir.h"
#include "tests/support/wait.h"

namespace gpuward::manifests {
namespace {

using remediator::JobsPolicy;
using remediator::Step;
using ::testing::HasSubstr;

constexpr const char* kRemediator = "system:serviceaccount:gpuward:gpuward-remediator";
constexpr const char* kSweeper = "system:serviceaccount:gpu-healthcheck:gpu-healthcheck-sweeper";

// With arguments, a variable of the pod, and placeholders in one word.
constexpr const char* kOwnTemplate = R"json({
  "apiVersion": "batch/v1",
  "kind": "Job",
  "metadata": {"labels": {"team": "gpus"}},
  "spec": {"template": {
    "metadata": {"labels": {"team": "gpus"}, "annotations": {"example.com/of": "gpus"}},
    "spec": {
      "hostPID": true,
      "containers": [{
        "name": "gpu-reset",
        "image": "$(IMAGE)",
        "command": ["sh", "-c", "our-reset \"$0\" \"$MINE\""],
        "args": ["$(NODE_NAME)/$(BOOT_ID)/$(GPU_VENDOR)"],
        "env": [
          {"name": "POD", "valueFrom": {"fieldRef": {"fieldPath": "metadata.name"}}},
          {"name": "MINE", "value": "$(POD) it's \\ [a] \"b\""}
        ],
        "securityContext": {"privileged": true},
        "volumeMounts": [{"name": "tools", "mountPath": "/tools"}]
}],
      "volumes": [{"name": "tools", "configMap": {"name": "tools"}}]
}
}
}
})json";

class OwnJobs : public OnPlane {
 protected:
  void SetUp() override {
    OnPlane::SetUp();
    install({"--set=remediator.grants.jobs=true,exporter.sweep.enabled=true"});
  }
  static std::string answer_to(const std::string& user, const Json& job) {
    const auto made = plane_->kubectl({"create", "--dry-run=server", "-f", "-", "--as=" + user,
                                       "--as-group=system:serviceaccounts"},
                                      dump_json(job));
    EXPECT_TRUE(made);
    return !made || made->exit_code == 0 ? "" : made->error_output;
  }
  // A policy is in force a moment after the server has accepted it.
  static void expect_allowed(const std::string& user, const Json& job) {
    EXPECT_TRUE(support::wait_until([&] { return answer_to(user, job).empty(); }, "the Job"))
        << answer_to(user, job);
  }
  static void expect_refused(const Json& job, const std::string& why) {
    EXPECT_TRUE(support::wait_until([&] { return answer_to(kRemediator, job).contains(why); },
                                    "the refusal"))
        << answer_to(kRemediator, job);
  }
  static Json step_job(Step step, const JobsPolicy& jobs,
                       const std::vector<std::string>& command = {}) {
    remediator::Remediation remediation;
    remediation.name = "gpu-01-ab-1";
    remediation.uid = "0aa8ee8c-2b0e-4a2c-8f0e-5f0f7a3c5a11";
    remediation.node = "gpu-01";
    kube::Node node;
    node.meta.name = "gpu-01";
    node.resources = {"nvidia.com/gpu"};
    remediator::PlannedStep planned = remediator::planned(step);
    planned.job.command = command;
    const auto job = remediator::render_job(
        {.remediation = remediation,
         .node = node,
         .step = planned,
         .facts = {{remediator::kJobBootFact, "5b8ab4b8-1c5c-4b51-9d0c-0e1a1a4d7c11"}},
         .permit = [] { return Status(); },
         .now = WallTime()},
        jobs, "gpu-healthcheck");
    EXPECT_TRUE(job) << job.error().message;
    return parse_json(job.value_or("{}")).value_or(Json());
  }
  static Json sweep_job(const exporter::SweepJobOptions& options) {
    const auto job = exporter::sweep_job(options, "gpu-01", "sweep 1", kAwsSamplesNames);
    EXPECT_TRUE(job) << job.error().message;
    return parse_json(job.value_or("{}")).value_or(Json());
  }
  static JobsPolicy with_image() {
    JobsPolicy jobs;
    jobs.image = "registry.example/exporter:1";
    return jobs;
  }
};

constexpr const char* kJobGrants = "--set=remediator.grants.jobs=true,exporter.sweep.enabled=true";
constexpr const char* kExporterImage =
    "--set=remediator.policy.jobs.image=registry.example/exporter:1";

TEST_F(OwnJobs, AreComparedWithWhatThePolicySaysOfJobs) {
  JobsPolicy jobs = with_image();
  jobs.service_account = "ours";
  jobs.pair_port = 31000;
  jobs.evidence.upload = "s3://bucket/gpuward";
  jobs.evidence.service_account = "evidence";
  jobs.pause_units = {"nvidia-dcgm.service", "ours.service"};
  install({kJobGrants, kExporterImage, "--set=remediator.policy.jobs.service_account=ours",
           "--set=remediator.policy.jobs.pair_port=31000",
           "--set=remediator.policy.jobs.evidence.upload=s3://bucket/gpuward",
           "--set=remediator.policy.jobs.evidence.service_account=evidence",
           "--set=remediator.policy.jobs.pause_units={nvidia-dcgm.service,ours.service}",
           "--set-json=remediator.policy.severities.reset=[\"taint\",{\"gpu-reset\":{\"command\":["
           "\"our-reset\",\"--all of it\"]}}]"});
  for (const Step step :
       {Step::kCollectEvidence, Step::kGpuReset, Step::kQuarantineJob, Step::kNcclTest})
    expect_allowed(kRemediator, step_job(step, jobs));
  expect_allowed(kRemediator, step_job(Step::kGpuReset, jobs, {"our-reset", "--all of it"}));
  expect_refused(step_job(Step::kGpuReset, jobs, {"our-reset", "--all", "of", "it"}),
                 "not as its template: container.command");
  expect_refused(step_job(Step::kNcclTest, jobs, {"our-reset", "--all of it"}),
                 "not as its template: container.command");
  expect_refused(step_job(Step::kCollectEvidence, with_image()),
                 "not as its template: pod.serviceAccount, pod.serviceAccountName, container.env");
}

TEST_F(OwnJobs, OfTemplatesInTheValuesAreComparedWithThose) {
  support::TempDir folder;
  folder.write("own.json", kOwnTemplate);
  install({kJobGrants, kExporterImage, "--set=remediator.jobTemplates.mount=true",
           "--set-file=remediator.jobTemplates.files.gpu-reset=" + (folder / "own.json").string()});
  JobsPolicy jobs = with_image();
  jobs.templates["gpu-reset"] = kOwnTemplate;
  const Json job = step_job(Step::kGpuReset, jobs);
  expect_allowed(kRemediator, job);
  expect_allowed(kRemediator, step_job(Step::kGpuReset, with_image()));  // for AMD nodes, built-in
  Json other = job;
  other["spec"]["template"]["spec"]["containers"][0]["command"][2] = "id";
  expect_refused(other, "not as its template: ");
  other = job;
  other["spec"]["template"]["spec"]["containers"][0]["args"][0] = "gpu-01/../x";
  expect_refused(other, "container.args");
  const Json mounted = object({"get", "configmap", "gpuward-remediator-jobs", "-n", "gpuward"});
  EXPECT_EQ(parse_json(std::string(mounted["data"]["gpu-reset.json"])).value_or(Json()),
            parse_json(kOwnTemplate).value_or(Json()));
}

TEST_F(OwnJobs, OfTemplatesElsewhereAreLetThroughByTheNameOfTheirStep) {
  JobsPolicy jobs = with_image();
  jobs.image = "ours:1";
  jobs.templates["gpu-reset"] = kOwnTemplate;
  const Json job = step_job(Step::kGpuReset, jobs);
  install({kJobGrants, kExporterImage});
  expect_refused(job, "does not have ours:1");
  install({kJobGrants, kExporterImage, "--set=remediator.jobTemplates.unchecked={gpu-reset}"});
  expect_allowed(kRemediator, job);
  expect_refused(step_job(Step::kNcclTest, jobs), "does not have ours:1");
}

// From a version without the policies to one with them, and back: the programs' Jobs are allowed
// all the time.
TEST_F(OwnJobs, AreAllowedBeforeAnUpgradeAfterItAndAfterARollback) {
  const Json job = step_job(Step::kGpuReset, with_image());
  Json any = job;
  any["spec"]["template"]["spec"]["hostIPC"] = true;
  install({kJobGrants, kExporterImage, "--set=remediator.admission.jobs=false"});
  expect_allowed(kRemediator, any);
  expect_allowed(kRemediator, job);
  install({kJobGrants, kExporterImage});
  expect_refused(any, "not as its template: pod.hostIPC");
  expect_allowed(kRemediator, job);
  const auto back = helm({"rollback", "gpuward", "--namespace=gpuward",
                          "--kubeconfig=" + plane_->kubeconfig().string()});
  EXPECT_EQ(back.exit_code, 0) << back.error_output;
  expect_allowed(kRemediator, any);
  expect_allowed(kRemediator, job);
}

// Each value of the chart that the CronJob passes to the sweep.
TEST_F(OwnJobs, OfSweepsAreThoseOfTheValues) {
  install({kJobGrants, "--set=images.diagnostics.repository=registry.example/diagnostics",
           "--set-string=images.diagnostics.tag=3", "--set=exporter.runtimeClassName=nvidia",
           "--set=exporter.legacyConfigMap=gpu-healthcheck-config",
           "--set-json=images.pullSecrets=[{\"name\":\"registry\"},{\"name\":\"mirror\"}]"});
  exporter::SweepJobOptions options;
  options.image = "registry.example/diagnostics:3";
  options.runtime_class = "nvidia";
  options.pull_secrets = {"registry", "mirror"};
  options.config_map = "gpu-healthcheck-config";
  expect_allowed(kSweeper, sweep_job(options));
  options.pull_secrets = {};
  EXPECT_THAT(answer_to(kSweeper, sweep_job(options)), HasSubstr("pod.imagePullSecrets"));
}

}  // namespace
}  // namespace gpuward::manifests
