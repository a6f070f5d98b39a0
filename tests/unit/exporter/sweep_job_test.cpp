#include "exporter/sweep_job.h"

#include <gmock/gmock.h>

#include "core/runtime/json.h"

namespace gpuward::exporter {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

SweepJobOptions with_image() { return {.image = "registry.example/gpuward:1"}; }

Json job_for(const std::string& node, const SweepJobOptions& options = with_image()) {
  const auto text = sweep_job(options, node, "sweep 1");
  EXPECT_TRUE(text) << text.error().message;
  return text ? parse_json(*text).value() : Json();
}

// CONTRACTS A: label /target-node on Jobs.
TEST(SweepJob, ContractARunsCheckOneOnTheNode) {
  const Json job = job_for("ip-10-0-0-1.ec2.internal");
  EXPECT_EQ(job["metadata"]["labels"]["gpu-healthcheck.aws-samples.io/target-node"],
            "ip-10-0-0-1.ec2.internal");
  EXPECT_EQ(job["metadata"]["labels"]["app.kubernetes.io/component"], "sweeper");
  EXPECT_EQ(job["metadata"]["namespace"], "gpu-healthcheck");
  EXPECT_EQ(job["spec"]["activeDeadlineSeconds"], 900);
  EXPECT_EQ(job["spec"]["backoffLimit"], 0);
  const Json pod = job["spec"]["template"]["spec"];
  EXPECT_EQ(pod["containers"][0]["args"], Json::array({"check", "--check", "1", "--json"}));
  EXPECT_EQ(pod["automountServiceAccountToken"], false);
  EXPECT_THAT(dump_json(pod["affinity"]), HasSubstr("ip-10-0-0-1.ec2.internal"));
  EXPECT_THAT(dump_json(pod["tolerations"]), HasSubstr("maintenance"));
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
  EXPECT_THAT(sweep_job(options, "n", "o").error().message, HasSubstr("SWEEP_IMAGE"));
  for (const char* text : {"{", "[]", "{}", R"({"kind":"Pod","spec":{}})", R"({"kind":"Job"})"}) {
    options.job_template = text;
    const auto job = sweep_job(options, "n", "o");
    ASSERT_FALSE(job) << text;
    EXPECT_EQ(job.error().kind, ErrorKind::kInvalid);
  }
}

kube::Pod ended(int code, const std::string& message) {
  kube::Pod pod;
  pod.ended.push_back({"check", code, "Error", message});
  return pod;
}

TEST(SweepVerdict, TakesTheWorstFailureThatTheCheckHasPrinted) {
  const auto verdict = judge_sweep_job(
      {}, {ended(1,
                 "noise\n{\"status\":\"FAIL\",\"severity\":\"RESET\",\"details\":\"a\"}\n"
                 "{\"status\":\"FAIL\",\"severity\":\"ISOLATE\",\"details\":\"b\"}\n"
                 "{\"status\":\"PASS\",\"severity\":\"\"}")});
  EXPECT_EQ(verdict.status, NodeStatus::kFail);
  EXPECT_EQ(verdict.severity, Severity::kIsolate);
  EXPECT_EQ(verdict.why, "b");
}

TEST(SweepVerdict, AFailureWithoutASeverityThatTaintsIsNone) {
  for (const char* message :
       {"", "{\"status\":\"FAIL\"}", "{\"status\":\"FAIL\",\"severity\":\"MONITOR\"}",
        "{\"status\":\"ERROR\",\"severity\":\"ISOLATE\"}",
        "half a line {\"status\":\"FAIL\",\"severity\":\"ISOLATE\"}"}) {
    EXPECT_EQ(judge_sweep_job({}, {ended(1, message)}).status, NodeStatus::kUnknown) << message;
  }
}

TEST(SweepVerdict, ACheckThatSaysThatItWasSkippedHasNotPassed) {
  EXPECT_EQ(judge_sweep_job({.is_complete = true}, {ended(0, R"({"status":"SKIP"})")}).status,
            NodeStatus::kUnknown);
  EXPECT_EQ(judge_sweep_job({.is_complete = true}, {ended(0, "")}).status, NodeStatus::kPass);
}

TEST(SweepVerdict, OnlyTheCheckItselfCanFailANode) {
  EXPECT_EQ(judge_sweep_job({}, {ended(137, R"({"status":"FAIL","severity":"ISOLATE"})")}).status,
            NodeStatus::kUnknown);
  EXPECT_EQ(judge_sweep_job({.is_failed = true, .failure = "DeadlineExceeded"}, {}).status,
            NodeStatus::kUnknown);
  EXPECT_EQ(judge_sweep_job({.is_complete = true}, {}).status, NodeStatus::kPass);
}

}  // namespace
}  // namespace gpuward::exporter
