// The kustomize overlays; every ConfigMap has a file that gpuward's programs can read.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "exporter/config/settings.h"
#include "tests/manifests/tools.h"
#include "tests/places.inc"
#include "tests/support/require.h"
#include "tests/support/temp_dir.h"

namespace gpuward::manifests {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

void expect_good(std::vector<std::string> argv) {
  const auto outcome = support::Process::run({.argv = std::move(argv)});
  ASSERT_TRUE(outcome) << outcome.error().message;
  EXPECT_EQ(outcome->exit_code, 0) << outcome->output << outcome->error_output;
}

void expect_our_programs_read(const std::string& documents) {
  support::TempDir folder;
  const auto policy =
      folder.write("policy.yaml", file_in(documents, "gpuward-remediator", "policy.yaml"));
  expect_good({GPUWARD_BIN_DIR "/gpuwardctl", "policy", "check", policy.string()});
  const auto config =
      folder.write("config.yaml", file_in(documents, "gpuward-exporter", "config.yaml"));
  expect_good(
      {GPUWARD_BIN_DIR "/gpuward-exporter", "--check-config", "--config.file=" + config.string()});
}

TEST(PlainYaml, HasAPolicyAndAConfigurationThatOurProgramsRead) {
  expect_our_programs_read(text_of("manifests/remediator.yaml") + "\n---\n" +
                           text_of("manifests/exporter.yaml"));
}

class Overlay : public ::testing::TestWithParam<const char*> {
 protected:
  void SetUp() override { GPUWARD_REQUIRE_IN(kLanding, why_no_kubectl()); }
};

TEST_P(Overlay, IsBuiltAndReadByOurPrograms) {
  const std::string documents = overlay(GetParam());
  expect_our_programs_read(documents);
  EXPECT_THAT(documents, HasSubstr("mode: observe\n"));
}

// A user who sets mode full wants all of it: no list of steps may still end at the cordon.
TEST_P(Overlay, DrainsWhatIsToBeIsolatedInModeFull) {
  EXPECT_THAT(steps_explained(file_in(overlay(GetParam()), "gpuward-remediator", "policy.yaml"),
                              "isolate", {"--mode=full"}),
              HasSubstr(". drain: "));
}

// A switch that is applied again would undo a stop.
TEST_P(Overlay, LeavesTheStopSwitchAlone) {
  EXPECT_THAT(overlay(GetParam()), Not(HasSubstr("name: gpuward-remediator-switch\n")));
}

INSTANTIATE_TEST_SUITE_P(All, Overlay,
                         ::testing::Values("aws", "amd", "health-suite", "konduktor", "dry-run"),
                         [](const auto& one) {
                           std::string name = one.param;
                           std::ranges::replace(name, '-', '_');
                           return name;
                         });

TEST(DryRunOverlay, WritesToNoNodeWhateverThePolicySays) {
  GPUWARD_REQUIRE_IN(kLanding, why_no_kubectl());
  const std::string documents = overlay("dry-run");
  EXPECT_THAT(documents, HasSubstr("        - --mode=observe\n"));
  EXPECT_THAT(file_in(documents, "gpuward-exporter", "config.yaml"),
              AllOf(HasSubstr("preset: none"), HasSubstr("{health_service: {enabled: false}}")));
}

TEST(KonduktorOverlay, SetsItsTaintAndReadsLoki) {
  GPUWARD_REQUIRE_IN(kLanding, why_no_kubectl());
  const std::string documents = overlay("konduktor");
  EXPECT_THAT(file_in(documents, "gpuward-exporter", "config.yaml"),
              HasSubstr("{preset: konduktor, taint: true}"));
  EXPECT_THAT(documents, HasSubstr("        - --loki.push-url="));
  EXPECT_THAT(documents, HasSubstr("        - --loki.url="));
  EXPECT_THAT(documents, HasSubstr("  - gpuward-log-cursor\n"));
}

// Equal to the suite's own DaemonSet: nodes, host namespaces, and no GPU requested from the
// scheduler.
TEST(HealthSuiteOverlay, HasTheDeploymentOfTheSuite) {
  GPUWARD_REQUIRE_IN(kLanding, why_no_kubectl());
  const std::string documents = overlay("health-suite");
  const auto begin = documents.find("kind: DaemonSet");
  ASSERT_NE(begin, std::string::npos);
  const std::string agent = documents.substr(begin, documents.find("\n---", begin) - begin);
  for (const char* line :
       {"nvidia.com/gpu.present: \"true\"", "hostNetwork: true", "hostPID: true",
        "privileged: true", "app.kubernetes.io/component: agent",
        "- mountPath: /dev\n          name: dev\n", "- mountPath: /host/sys\n          name: sys\n",
        "path: /dev\n          type: Directory\n        name: dev\n",
        "path: /sys\n          type: Directory\n        name: sys\n",
        "- --config.directory=/etc/gpu-healthcheck\n",
        "- mountPath: /etc/gpu-healthcheck\n          name: legacy-config\n",
        "name: gpu-healthcheck-config\n          optional: true\n        name: legacy-config\n",
        "tolerations:\n      - operator: Exists\n"}) {
    EXPECT_THAT(agent, HasSubstr(line));
  }
  for (const char* device : {"nvidia.com/gpu:", "vpc.amazonaws.com/efa"})
    EXPECT_THAT(agent, Not(HasSubstr(device)));
  EXPECT_THAT(file_in(documents, "gpuward-exporter", "config.yaml"),
              AllOf(HasSubstr("profile: seed"), HasSubstr("preset: aws-samples"),
                    HasSubstr("taint: true")));
  EXPECT_THAT(file_in(documents, "gpuward-remediator", "policy.yaml"),
              HasSubstr("preset: health-suite"));
}

// Its steps make Jobs, and restart and terminate machines.
TEST(HealthSuiteOverlay, GivesTheRemediatorTheRightsOfItsSteps) {
  GPUWARD_REQUIRE_IN(kLanding, why_no_kubectl());
  const std::string documents = overlay("health-suite");
  for (const char* kind : {"Role", "RoleBinding"}) {
    const auto is_for_jobs = [&](const std::string& document) {
      return document.contains("kind: " + std::string(kind) + "\n") &&
             document.contains("  name: gpuward-remediator-jobs\n  namespace: gpu-healthcheck\n");
    };
    EXPECT_TRUE(std::ranges::any_of(documents_of(documents), is_for_jobs)) << kind;
  }
  EXPECT_THAT(documents, HasSubstr("eks.amazonaws.com/role-arn: arn:aws:iam::"));
}

// Without a report of the exporter no step follows the cordon.
TEST(OverlaysThatRepair, NameThePrometheusThatHasTheReports) {
  GPUWARD_REQUIRE_IN(kLanding, why_no_kubectl());
  for (const char* name : {"aws", "health-suite"})
    EXPECT_THAT(overlay(name), HasSubstr("        - --prometheus.url=http")) << name;
}

TEST(HealthSuiteOverlay, SweepsAndHasTheTemplateOfTheQuarantineWithTheSuitesConfigMap) {
  GPUWARD_REQUIRE_IN(kLanding, why_no_kubectl());
  const std::string documents = overlay("health-suite");
  const auto begin = documents.find("kind: CronJob");
  ASSERT_NE(begin, std::string::npos);
  const std::string sweep = documents.substr(begin, documents.find("\n---", begin) - begin);
  const std::string quarantine = file_in(documents, "gpuward-quarantine", "job.yaml");
  EXPECT_THAT(sweep, AllOf(HasSubstr("name: gpu-healthcheck-sweeper\n"),
                           HasSubstr("schedule: 0 */6 * * *\n"),
                           HasSubstr("name: ENABLE_LABEL\n              value: \"true\"\n"),
                           HasSubstr("name: ENABLE_TAINT\n              value: \"true\"\n"),
                           HasSubstr("name: SWEEP_CONFIG_MAP\n              value: "
                                     "gpu-healthcheck-config\n"),
                           HasSubstr("name: SWEEP_IMAGE\n              value: "
                                     "gpuward-exporter-diagnostics:" GPUWARD_VERSION "\n")));
  EXPECT_THAT(quarantine, AllOf(HasSubstr("name: gpu-quarantine-TARGET_NODE_NAME\n"),
                                HasSubstr("configMap: {name: gpu-healthcheck-config")));
  for (const std::string& job : {sweep, quarantine})
    EXPECT_THAT(job, HasSubstr("--config.directory=/etc/gpu-healthcheck"));
  // The agents' profile, as the suite's quarantine has the suite's own severities.
  EXPECT_THAT(quarantine,
              AllOf(HasSubstr("{name: config, mountPath: /etc/gpuward, readOnly: true}"),
                    HasSubstr("{name: config, configMap: {name: gpuward-exporter, ")));
  EXPECT_THAT(file_in(documents, "gpuward-exporter", "config.yaml"), HasSubstr("profile: seed\n"));
  for (const std::string account : {"gpu-healthcheck-sweeper", "gpu-healthcheck-quarantine"}) {
    const auto of_account = [&](const std::string& document) {
      return document.contains("kind: ServiceAccount\n") &&
             document.contains("  name: " + account + "\n");
    };
    EXPECT_TRUE(std::ranges::any_of(documents_of(documents), of_account)) << account;
  }
}

TEST(AmdOverlay, LabelsAsAmdDoesAndAnswersAmdsDevicePlugin) {
  GPUWARD_REQUIRE_IN(kLanding, why_no_kubectl());
  const std::string documents = overlay("amd");
  EXPECT_THAT(file_in(documents, "gpuward-exporter", "config.yaml"),
              HasSubstr("node: {preset: amd, taint: false}\n"));
  EXPECT_THAT(documents, HasSubstr("- mountPath: /var/lib/amd-metrics-exporter\n"
                                   "          name: amd-health\n"));
  // On the host too, because the plug-in reads it there.
  EXPECT_THAT(documents,
              HasSubstr("- hostPath:\n          path: /var/lib/amd-metrics-exporter\n"
                        "          type: DirectoryOrCreate\n        name: amd-health\n"));
  EXPECT_EQ(exporter::AmdHealthSettings().socket.parent_path(), "/var/lib/amd-metrics-exporter");
}

TEST(AmdOverlay, RunsOnEveryNode) {
  GPUWARD_REQUIRE_IN(kLanding, why_no_kubectl());
  std::vector<std::string> agents;
  for (const std::string& document : documents_of(overlay("amd")))
    if (document.contains("kind: DaemonSet\n")) agents.push_back(document);
  ASSERT_EQ(agents.size(), 1U);
  EXPECT_THAT(agents[0], HasSubstr("\n  name: gpuward-exporter\n"));
  EXPECT_THAT(agents[0], HasSubstr("\n      tolerations:\n      - operator: Exists\n"));
  EXPECT_THAT(agents[0], AllOf(Not(HasSubstr("nodeSelector:")), Not(HasSubstr("affinity:"))));
}

// The exporter's default path, in the form of AMD's exporter.
TEST(AmdOverlay, MountsTheHealthThresholds) {
  GPUWARD_REQUIRE_IN(kLanding, why_no_kubectl());
  const std::string documents = overlay("amd");
  const auto thresholds =
      exporter::parse_amd_thresholds(file_in(documents, "amd-metrics-config", "config.json"));
  ASSERT_TRUE(thresholds) << thresholds.error().message;
  EXPECT_EQ(*thresholds, exporter::default_amd_thresholds());
  EXPECT_THAT(documents, HasSubstr("- mountPath: /etc/metrics\n          name: amd-config\n"));
  EXPECT_THAT(documents, HasSubstr("name: amd-metrics-config\n        name: amd-config\n"));
  EXPECT_EQ(exporter::Settings().amd_config, "/etc/metrics/config.json");
}

TEST(PlainYaml, DrainsWhatIsToBeIsolatedInModeFull) {
  EXPECT_THAT(steps_explained(file_in(text_of("manifests/remediator.yaml"), "gpuward-remediator",
                                      "policy.yaml"),
                              "isolate", {"--mode=full"}),
              HasSubstr(". drain: "));
}

TEST(AwsOverlay, RestartsWhatIsToBeRebootedInModeFull) {
  GPUWARD_REQUIRE_IN(kLanding, why_no_kubectl());
  EXPECT_THAT(steps_explained(file_in(overlay("aws"), "gpuward-remediator", "policy.yaml"),
                              "reboot", {"--mode=full"}),
              AllOf(HasSubstr(". drain: "), HasSubstr(". reboot: ")));
}

TEST(AwsOverlay, EndsInstancesUnderARoleOfItsOwn) {
  GPUWARD_REQUIRE_IN(kLanding, why_no_kubectl());
  const std::string documents = overlay("aws");
  EXPECT_THAT(documents, HasSubstr("eks.amazonaws.com/role-arn: arn:aws:iam::"));
  EXPECT_THAT(documents, HasSubstr("aws: {reboot: true, terminate: true"));
}

// `terminate` lists VolumeAttachments, and on EC2 it needs no permission to delete NodeClaims.
TEST(AwsOverlay, SeesAttachedVolumesAndDeletesNoNodeClaims) {
  GPUWARD_REQUIRE_IN(kLanding, why_no_kubectl());
  const std::string documents = overlay("aws");
  EXPECT_THAT(documents, HasSubstr("  - volumeattachments\n  verbs:\n  - list\n"));
  EXPECT_THAT(documents,
              HasSubstr("  kind: ClusterRole\n  name: gpuward-remediator-volumes\nsubjects:\n"));
  EXPECT_THAT(documents, Not(HasSubstr("nodeclaims")));
}

}  // namespace
}  // namespace gpuward::manifests
