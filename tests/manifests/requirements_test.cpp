// If the values lack something that the policy needs, the chart refuses all of it at once and names
// the values to set. Once they are set, it refuses nothing.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <regex>

#include "tests/manifests/tools.h"
#include "tests/support/require.h"

namespace gpuward::manifests {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

using Arguments = std::vector<std::string>;

std::string refusal_of(Arguments arguments) {
  arguments.insert(arguments.begin(),
                   {"template", "gpuward", tree("manifests/chart/gpuward").string(), offline()});
  const auto outcome = helm(std::move(arguments));
  return outcome.exit_code == 0 ? std::string() : outcome.error_output;
}

struct Lack {
  const char* name;
  Arguments asked;
  const char* refused;  // it must also contain every --set of `given`, without its value
  Arguments given;
};

const char* const kPrometheus = "--set=remediator.prometheusURL=http://prometheus:9090";
const char* const kFull = "--set=remediator.policy.mode=full";
const char* const kImage = "--set=remediator.policy.jobs.image=registry.example/diagnostics:1";

// Only isolate has these steps besides taint and cordon.
std::string isolate(const std::string& steps) {
  return R"(--set-json=remediator.policy.severities={"isolate":["taint","cordon",)" + steps + "]}";
}

class Requirements : public ::testing::TestWithParam<Lack> {
 protected:
  void SetUp() override { GPUWARD_REQUIRE_IN(kLanding, why_no_helm()); }
};

TEST_P(Requirements, AreNamedWithTheValueToSet) {
  const auto& [name, asked, refused, given] = GetParam();
  const std::string refusal = refusal_of(asked);
  EXPECT_THAT(refusal, HasSubstr(refused));
  static const std::regex kValue("^--set(-json)?=([a-zA-Z._]+)=");
  Arguments all = asked;
  for (const std::string& argument : given) {
    std::smatch value;
    ASSERT_TRUE(std::regex_search(argument, value, kValue)) << argument;
    EXPECT_THAT(refusal, HasSubstr(value[2].str()));
    all.push_back(argument);
  }
  EXPECT_EQ(refusal_of(all), "");
}

INSTANTIATE_TEST_SUITE_P(
    All, Requirements,
    ::testing::Values(
        Lack{"prometheus",
             {kFull, isolate(R"("drain")")},
             "severity isolate has the step drain, before which the reports",
             {kPrometheus}},
        Lack{
            "reboot_of_the_preset",
            {"--set=remediator.preset=full", "--set=remediator.grants.terminate=true", kPrometheus},
            "remediator.preset is full, and nothing restarts machines",
            {"--set-json=remediator.policy.machines.reboot=[\"/bin/x\"]"}},
        Lack{"reboot",
             {kFull, kPrometheus, isolate(R"("drain","reboot")")},
             "severity isolate has the step reboot, and nothing restarts machines",
             {"--set=remediator.policy.machines.aws.reboot=true"}},
        Lack{"reboot_by_a_job",
             {kFull, kPrometheus, kImage, isolate(R"("drain","reboot")"),
              "--set-json=remediator.policy.severities.reset=[]",
              "--set=remediator.policy.machines.job.reboot=true"},
             "machines.job.reboot is on without its right",
             {"--set=remediator.grants.rebootJob=true"}},
        Lack{"image_of_the_reboot",
             {kFull, kPrometheus, isolate(R"("drain","reboot")"),
              "--set-json=remediator.policy.severities.reset=[]",
              "--set=remediator.grants.rebootJob=true"},
             "severity isolate has the step reboot, a Job, and no image",
             {kImage}},
        Lack{"terminate",
             {kFull, kPrometheus},
             "severity isolate has the step terminate, and nothing ends machines",
             {"--set=remediator.grants.terminate=true"}},
        Lack{"terminate_on_ec2",
             {kFull, kPrometheus},
             "severity isolate has the step terminate, and nothing ends machines",
             {"--set=remediator.policy.machines.aws.terminate=true"}},
        Lack{"drain_that_deletes",
             {kFull, kPrometheus, isolate(R"({"drain":{"on_deadline":"delete"}})")},
             "severity isolate has a drain that deletes pods",
             {"--set=remediator.grants.deletePods=true"}},
        Lack{"namespace_that_is_deleted",
             {kFull, kPrometheus, isolate(R"("drain")"),
              "--set-json=remediator.policy.drain={\"namespaces\":[{\"name\":\"batch\",\"mode\":"
              "\"delete\",\"up_to\":\"5m\"}]}"},
             "severity isolate has a drain that deletes pods",
             {"--set=remediator.grants.deletePods=true"}},
        Lack{"restart_job",
             {kFull, kPrometheus, isolate(R"("drain","restart-job")")},
             "severity isolate has the step restart-job without a program",
             {"--set=remediator.grants.restartJob=true"}},
        Lack{"jobs",
             {kFull, kPrometheus, isolate(R"("collect-evidence","drain")")},
             "severity isolate has the step collect-evidence, a Job",
             {"--set=remediator.grants.jobs=true", kImage}},
        Lack{"diagnostics",
             {kFull, kPrometheus, "--set=remediator.grants.jobs=true",
              isolate(R"("drain","quarantine-job")"),
              "--set=remediator.policy.jobs.image=gpuward-exporter:" GPUWARD_VERSION},
             "which has none of the programs of the diagnostics",
             {kImage}},
        Lack{"recovery_of_a_pool",
             {kFull, kPrometheus, kImage, isolate(R"("drain")"),
              "--set-json=remediator.policy.severities.reset=[]",
              "--set-json=remediator.policy.severities.reboot=[]",
              "--set-json=remediator.policy.pools=[{\"name\":\"a\",\"labels\":[\"a\"],\"recovery\":"
              "{\"isolate\":[\"quarantine-job\",\"verify\",\"return-to-service\"]}}]"},
             "recovery.isolate of pool a has the step quarantine-job",
             {"--set=remediator.grants.jobs=true"}},
        Lack{"namespace_of_jobs",
             {kFull, kPrometheus, kImage, isolate(R"("collect-evidence","drain")"),
              "--set-json=remediator.policy.severities.reset=[]",
              "--set=remediator.grants.jobs=true", "--set=exporter.namespace=gpus"},
             "a Job in the namespace gpu-healthcheck, where it has neither rights nor accounts",
             {"--set=remediator.policy.jobs.namespace=gpus"}},
        Lack{"loki",
             {"--set=remediator.lokiURL=http://loki:3100"},
             "remediator.lokiURL is read with a cursor",
             {"--set=remediator.grants.loki=true"}},
        Lack{"secret_of_a_sink",
             {"--set-json=remediator.policy.notifications.sinks=[{\"name\":\"oncall\",\"slack\":"
              "{\"url_file\":\"/etc/slack/url\"}}]"},
             "url_file of the sink oncall is /etc/slack/url, and nothing is mounted there",
             {"--set-json=remediator.volumes=[{\"name\":\"slack\",\"secret\":{\"secretName\":"
              "\"slack\"}}]",
              "--set-json=remediator.volumeMounts=[{\"name\":\"slack\",\"mountPath\":"
              "\"/etc/slack/\"}]"}},
        Lack{"job_template",
             {"--set=remediator.policy.jobs.templates.gpu-reset=/etc/gpuward-jobs/gpu-reset.json"},
             "remediator.policy.jobs.templates.gpu-reset is /etc/gpuward-jobs/gpu-reset.json",
             {"--set=remediator.jobTemplates.mount=true"}},
        Lack{"own_job_template",
             {"--set=remediator.grants.jobs=true",
              "--set=remediator.policy.jobs.templates.gpu-reset=/etc/own/reset.json",
              "--set-json=remediator.volumes=[{\"name\":\"own\",\"configMap\":{\"name\":\"own\"}}]",
              "--set-json=remediator.volumeMounts=[{\"name\":\"own\",\"mountPath\":\"/etc/own\"}]"},
             "remediator.policy.jobs.templates.gpu-reset is a file that the chart does not have",
             {"--set=remediator.jobTemplates.unchecked={gpu-reset}"}},
        Lack{"volume_of_a_mount",
             {"--set-json=remediator.volumeMounts=[{\"name\":\"slack\",\"mountPath\":\"/x\"}]"},
             "remediator.volumeMounts mounts slack at /x, and no volume has that name",
             {"--set-json=remediator.volumes=[{\"name\":\"slack\",\"emptyDir\":{}}]"}}),
    [](const auto& one) { return std::string(one.param.name); });

class Requirement : public ::testing::Test {
 protected:
  void SetUp() override { GPUWARD_REQUIRE_IN(kLanding, why_no_helm()); }
};

TEST_F(Requirement, IsOnlyWhatTheModeTakesUp) {
  EXPECT_EQ(refusal_of({"--set=remediator.policy.mode=cordon", isolate(R"("drain","reboot")")}),
            "");
  EXPECT_EQ(refusal_of({kFull, "--set=remediator.enabled=false"}), "");
}

TEST_F(Requirement, StandsBesideTheOthersInOneRefusal) {
  EXPECT_THAT(refusal_of({"--set=remediator.preset=full", isolate(R"("drain","terminate")")}),
              AllOf(HasSubstr("remediator.prometheusURL"), HasSubstr("remediator.grants.terminate"),
                    HasSubstr("remediator.policy.machines.reboot")));
}

}  // namespace
}  // namespace gpuward::manifests
