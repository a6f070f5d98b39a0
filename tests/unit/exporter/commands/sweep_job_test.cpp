#include "exporter/commands/sweep_job.h"

#include <gmock/gmock.h>

#include "core/runtime/json.h"

namespace gpuward::exporter {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

SweepJobOptions with_image() { return {.image = "registry.example/gpuward:1"}; }

Json job_for(const std::string& node, const SweepJobOptions& options = with_image()) {
  const auto text = sweep_job(options, node, "sweep 1", kGpuwardNames);
  EXPECT_TRUE(text) << text.error().message;
  return text ? parse_json(*text).value() : Json();
}

// CONTRACTS A: label /target-node on Jobs.
TEST(SweepJob, RunsCheckOneOnTheNode) {
  const Json job = job_for("ip-10-0-0-1.ec2.internal");
  EXPECT_EQ(job["metadata"]["labels"]["gpuward.dev/target-node"], "ip-10-0-0-1.ec2.internal");
  EXPECT_EQ(job["metadata"]["labels"]["app.kubernetes.io/component"], "sweeper");
  EXPECT_EQ(job["metadata"]["namespace"], "gpu-healthcheck");
  EXPECT_EQ(job["spec"]["activeDeadlineSeconds"], 900);
  EXPECT_EQ(job["spec"]["backoffLimit"], 0);
  const Json pod = job["spec"]["template"]["spec"];
  const Json& container = pod["containers"][0];
  const std::string last_words = container["terminationMessagePath"];
  EXPECT_EQ(container["args"],
            Json::array({"check", "--check", "1", "--json", "--termination-log", last_words}));
  EXPECT_EQ(last_words.find("/dev/"), std::string::npos) << "that is the node's own";
  EXPECT_EQ(pod["automountServiceAccountToken"], false);
  EXPECT_EQ(container["securityContext"]["runAsUser"], 0) << "whatever user the image has";
  EXPECT_THAT(dump_json(pod["affinity"]), HasSubstr("ip-10-0-0-1.ec2.internal"));
  for (const NodeNames& names : kAllNodeNames) {
    for (const NodeName taint : {NodeName::kUnhealthy, NodeName::kMaintenance})
      EXPECT_THAT(dump_json(pod["tolerations"]), HasSubstr("\"" + names(taint) + "\""));
  }
}

// Otherwise NVIDIA's runtime would put no driver into the pod, unless it is the node's default.
TEST(SweepJob, HasTheRuntimeClassAndThePullSecretsThatItIsGiven) {
  SweepJobOptions options = with_image();
  options.runtime_class = "nvidia";
  options.pull_secrets = {"registry", "mirror"};
  const Json pod = job_for("gpu-01", options)["spec"]["template"]["spec"];
  EXPECT_EQ(pod["runtimeClassName"], "nvidia");
  EXPECT_EQ(pod["imagePullSecrets"], Json::array({{{"name", "registry"}}, {{"name", "mirror"}}}));
  const Json plain = job_for("gpu-01")["spec"]["template"]["spec"];
  EXPECT_FALSE(plain.contains("runtimeClassName"));
  EXPECT_FALSE(plain.contains("imagePullSecrets"));
}

// The check uses `profile` and `checks` in its own pod.
TEST(SweepJob, MountsTheConfigurationOfTheExporters) {
  const Json pod = job_for("gpu-01")["spec"]["template"]["spec"];
  EXPECT_THAT(dump_json(pod["containers"][0]["volumeMounts"]),
              HasSubstr(R"({"mountPath":"/etc/gpuward","name":"config","readOnly":true})"));
  EXPECT_THAT(dump_json(pod["volumes"]),
              HasSubstr(R"({"configMap":{"name":"gpuward-exporter","optional":true},)"
                        R"("name":"config"})"));
}

// The check uses DCGM_TIMEOUT and instance-profiles.conf in its own pod.
TEST(SweepJob, MountsTheConfigMapOfTheSuiteIfItIsNamed) {
  SweepJobOptions options = with_image();
  options.config_map = "gpu-healthcheck-config";
  const Json pod = job_for("gpu-01", options)["spec"]["template"]["spec"];
  const Json& container = pod["containers"][0];
  EXPECT_EQ(container["args"].back(), "--config.directory=/etc/gpu-healthcheck");
  EXPECT_EQ(container["volumeMounts"].back()["mountPath"], "/etc/gpu-healthcheck");
  EXPECT_EQ(pod["volumes"].back()["name"], container["volumeMounts"].back()["name"]);
  const Json wanted = {{"name", "gpu-healthcheck-config"}, {"optional", true}};
  EXPECT_EQ(pod["volumes"].back()["configMap"], wanted);
}

TEST(SweepJob, HasANameThatKubernetesTakesAndNoOtherSweepHas) {
  const std::string node = std::string(60, 'n') + "." + std::string(60, 'o');
  const std::string name = sweep_job_name(node, "sweep 1");
  EXPECT_LE(name.size(), 63U);
  EXPECT_THAT(name, StartsWith("gpu-sweep-nnn"));
  EXPECT_EQ(name.find('.'), std::string::npos);
  EXPECT_NE(name, sweep_job_name(node, "sweep 2"));
  EXPECT_NE(name, sweep_job_name(node + "x", "sweep 1"));
}

TEST(SweepJob, ATemplatesPlaceholderStandsForTheNodeEverywhere) {
  SweepJobOptions options;
  options.job_template = R"({"apiVersion":"batch/v1","kind":"Job",
      "metadata":{"generateName":"x-","labels":{"team":"gpu"}},
      "spec":{"backoffLimit":3,"template":{"spec":{"nodeName":"TARGET_NODE_NAME",
      "containers":[{"name":"c","image":"i","env":[{"name":"N","value":"on TARGET_NODE_NAME"}]}]}}}})";
  const Json job = job_for("gpu-01", options);
  EXPECT_EQ(job["metadata"]["name"], sweep_job_name("gpu-01", "sweep 1"));
  EXPECT_FALSE(job["metadata"].contains("generateName"));
  EXPECT_EQ(job["metadata"]["labels"]["team"], "gpu");
  EXPECT_EQ(job["spec"]["backoffLimit"], 0);
  EXPECT_EQ(job["spec"]["template"]["spec"]["nodeName"], "gpu-01");
  EXPECT_EQ(job["spec"]["template"]["spec"]["containers"][0]["env"][0]["value"], "on gpu-01");
}

TEST(SweepJob, RefusesATemplateThatIsNoJobAndAMissingImage) {
  SweepJobOptions options;
  EXPECT_THAT(sweep_job(options, "n", "o", kGpuwardNames).error().message,
              HasSubstr("SWEEP_IMAGE"));
  for (const char* text : {"{", "[]", "{}", R"({"kind":"Pod","spec":{}})", R"({"kind":"Job"})"}) {
    options.job_template = text;
    const auto job = sweep_job(options, "n", "o", kGpuwardNames);
    ASSERT_FALSE(job) << text;
    EXPECT_EQ(job.error().kind, ErrorKind::kInvalid);
  }
}

kube::Pod ended(int code, const std::string& message) {
  kube::Pod pod;
  pod.ended.push_back({"check", code, "Error", message});
  return pod;
}

std::string said(const std::string& status, const std::string& severity = {},
                 const std::string& details = {}) {
  return dump_json({{"check", "1-dcgm-diag-l2"},
                    {"status", status},
                    {"severity", severity},
                    {"details", details}});
}

NodeStatus status_after(int code, const std::string& message) {
  return judge_sweep_job({.is_complete = code == 0, .is_failed = code != 0}, {ended(code, message)})
      .status;
}

TEST(SweepResult, TakesTheWorstFailureThatTheCheckHasPrinted) {
  const auto verdict =
      judge_sweep_job({}, {ended(1, "noise\n" + said("FAIL", "RESET", "a") + "\n" +
                                        said("FAIL", "ISOLATE", "b") + "\n" + said("PASS"))});
  EXPECT_EQ(verdict.status, NodeStatus::kFail);
  EXPECT_EQ(verdict.severity, Severity::kIsolate);
  EXPECT_EQ(verdict.why, "b");
}

TEST(SweepResult, AFailureWithoutASeverityThatTaintsIsNone) {
  for (const std::string& message :
       {std::string(), said("FAIL"), said("FAIL", "MONITOR"), said("ERROR", "ISOLATE"),
        "half a line " + said("FAIL", "ISOLATE")}) {
    EXPECT_EQ(status_after(1, message), NodeStatus::kUnknown) << message;
  }
}

TEST(SweepResult, AWarningIsNoPass) {
  EXPECT_EQ(status_after(0, said("PASS")), NodeStatus::kPass);
  EXPECT_EQ(status_after(0, said("WARN", "MONITOR")), NodeStatus::kWarn);
  EXPECT_EQ(status_after(0, said("WARN", "MONITOR") + "\n" + said("PASS")), NodeStatus::kWarn);
}

TEST(SweepResult, ASkippedCheckHasNotPassedAlthoughItEndsWithZero) {
  const auto verdict =
      judge_sweep_job({.is_complete = true}, {ended(0, said("SKIP", "", "dcgmi is not here"))});
  EXPECT_EQ(verdict.status, NodeStatus::kUnknown);
  EXPECT_EQ(verdict.why, "skip: dcgmi is not here");
  EXPECT_EQ(status_after(0, said("PASS") + "\n" + said("SKIP")), NodeStatus::kUnknown);
}

TEST(SweepResult, WhoSaysNothingHasNotPassed) {
  EXPECT_EQ(status_after(0, ""), NodeStatus::kUnknown);
  EXPECT_EQ(status_after(0, "all is well"), NodeStatus::kUnknown);
  EXPECT_EQ(status_after(0, said("FAIL", "ISOLATE")), NodeStatus::kUnknown);
  EXPECT_EQ(judge_sweep_job({.is_complete = true}, {}).status, NodeStatus::kUnknown);
}

TEST(SweepResult, TellsWhyACheckCouldNotTell) {
  const auto verdict = judge_sweep_job({}, {ended(3, said("ERROR", "", "no test was seen"))});
  EXPECT_EQ(verdict.status, NodeStatus::kUnknown);
  EXPECT_THAT(verdict.why, HasSubstr("no test was seen"));
}

TEST(SweepResult, OnlyTheCheckItselfCanFailANode) {
  EXPECT_EQ(status_after(137, said("FAIL", "ISOLATE")), NodeStatus::kUnknown);
  EXPECT_EQ(judge_sweep_job({.is_failed = true, .failure = "DeadlineExceeded"}, {}).status,
            NodeStatus::kUnknown);
}

}  // namespace
}  // namespace gpuward::exporter
