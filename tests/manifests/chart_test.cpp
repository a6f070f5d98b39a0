// The Helm chart: it is clean and strict, changes nothing by default, and is the only source of the
// plain YAML.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <regex>
#include <sstream>

#include "core/runtime/files.h"
#include "core/runtime/json.h"
#include "tests/manifests/tools.h"
#include "tests/support/deadline.h"
#include "tests/support/require.h"
#include "tests/support/temp_dir.h"

namespace gpuward::manifests {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

class Chart : public ::testing::Test {
 protected:
  void SetUp() override { GPUWARD_REQUIRE_IN(kLanding, why_no_helm()); }

  static std::string everything() { return tree("tests/manifests/everything.yaml").string(); }
  static std::string refused(const std::string& value) {
    const auto outcome = helm({"template", "gpuward", tree("manifests/chart/gpuward").string(),
                               offline(), "--set=" + value});
    EXPECT_NE(outcome.exit_code, 0) << value;
    return outcome.error_output;
  }
};

TEST_F(Chart, LeavesHelmsLintNothingToSay) {
  for (const std::string& values : {tree("manifests/chart/plain.yaml").string(), everything()}) {
    const auto outcome =
        helm({"lint", "--strict", "--values=" + values, tree("manifests/chart/gpuward").string()});
    EXPECT_EQ(outcome.exit_code, 0) << outcome.output << outcome.error_output;
    EXPECT_THAT(outcome.output, Not(HasSubstr("[WARNING]")));
  }
}

// Tests give gpuward's programs this time to end, and more on a busy machine.
TEST(PlainManifests, GiveServicesAsLongToEndAsTestsExpect) {
  auto shortest = std::chrono::seconds::max();
  for (const char* file : {"manifests/exporter.yaml", "manifests/remediator.yaml"}) {
    std::smatch found;
    const std::string text = text_of(file);
    ASSERT_TRUE(std::regex_search(text, found, std::regex("terminationGracePeriodSeconds: (\\d+)")))
        << file;
    shortest = std::min(shortest, std::chrono::seconds(std::stoi(found[1])));
  }
  EXPECT_EQ(shortest, support::kGracePeriod);
}

TEST_F(Chart, RefusesValuesThatItDoesNotKnow) {
  EXPECT_THAT(refused("exporter.privilegd=true"), HasSubstr("'privilegd' not allowed"));
  EXPECT_THAT(refused("remediator.policy.mode=all"), HasSubstr("/remediator/policy/mode"));
  EXPECT_THAT(refused("remediator.grants.everything=true"), HasSubstr("'everything' not allowed"));
  EXPECT_THAT(refused("networkPolicy.from={A}"), HasSubstr("/networkPolicy/from"));
  EXPECT_THAT(refused("networkPolicy.cidrs={192.0.2.7}"), HasSubstr("/networkPolicy/cidrs"));
}

// Without privileges there is no /dev/kmsg, and an exporter without the kernel log misses many
// faults.
TEST_F(Chart, TakesThePrivilegesAwayOnlyIfTheKernelLogIsInAFile) {
  EXPECT_THAT(refused("exporter.privileged=false"), HasSubstr("/exporter/kernelLog/file"));
  const std::string rendered =
      chart({"--set=exporter.privileged=false", "--set=exporter.kernelLog.file=/var/log/kern.log",
             "--show-only=templates/exporter.yaml"});
  EXPECT_THAT(rendered, HasSubstr("capabilities: {drop: [ALL], add: [SYS_PTRACE]}"));
  EXPECT_THAT(rendered, HasSubstr("--kernel-log.path=/var/log/kern.log"));
  EXPECT_THAT(rendered, Not(HasSubstr("privileged: true")));
}

// NVIDIA's runtime may be the node's default, which the chart cannot see.
TEST_F(Chart, SaysWhichGpusAnExporterWithoutPrivilegesReads) {
  const auto said = [](std::vector<std::string> values) {
    values.insert(values.end(), {"--set=exporter.privileged=false",
                                 "--set=exporter.kernelLog.file=/var/log/kern.log"});
    return notes(values);
  };
  const auto warning = HasSubstr("exporter.runtimeClassName=nvidia");
  EXPECT_THAT(said({}), warning);
  EXPECT_THAT(said({"--set=exporter.runtimeClassName=nvidia"}), Not(warning));
  EXPECT_THAT(said({"--set=exporter.config.node.preset=amd"}), Not(warning));
  EXPECT_THAT(notes(), Not(warning));
}

TEST_F(Chart, MountsTheConfigMapOfTheHealthSuiteIfItIsNamed) {
  const std::string rendered = chart({"--set=exporter.legacyConfigMap=gpu-healthcheck-config",
                                      "--show-only=templates/exporter.yaml"});
  EXPECT_THAT(rendered, HasSubstr("- --config.directory=/etc/gpu-healthcheck\n"));
  EXPECT_THAT(rendered, HasSubstr("{name: legacy-config, mountPath: /etc/gpu-healthcheck"));
  EXPECT_THAT(rendered, HasSubstr("configMap: {name: gpu-healthcheck-config}"));
  EXPECT_THAT(chart({"--show-only=templates/exporter.yaml"}), Not(HasSubstr("legacy-config")));
}

TEST_F(Chart, GivesTheConfigMapOfTheHealthSuiteToSweepAndQuarantine) {
  const auto jobs = [](std::vector<std::string> values) {
    values.insert(values.end(),
                  {"--set=exporter.sweep.enabled=true", "--show-only=templates/exporter-sweep.yaml",
                   "--show-only=templates/exporter-quarantine.yaml"});
    return chart(values);
  };
  const std::string rendered = jobs({"--set=exporter.legacyConfigMap=gpu-healthcheck-config"});
  for (const char* line : {"args: [sweep, \"--node-selector=nvidia.com/gpu.present=true\", "
                           "--config.directory=/etc/gpu-healthcheck]\n",
                           "{name: SWEEP_CONFIG_MAP, value: gpu-healthcheck-config}\n",
                           "args: [quarantine, --config.directory=/etc/gpu-healthcheck]\n",
                           // The volumes of the sweep, and of the quarantine inside its ConfigMap.
                           "\n          volumes:\n            - {name: legacy-config, configMap: ",
                           "optional: true}}\n            - {name: legacy-config, configMap: "}) {
    EXPECT_THAT(rendered, HasSubstr(line));
  }
  EXPECT_THAT(jobs({}),
              AllOf(Not(HasSubstr("legacy-config")), Not(HasSubstr("--config.directory"))));
}

TEST_F(Chart, LimitsTheRemediatorInTheExportersNamespaceForEachGrantThatReachesJobs) {
  constexpr const char* kPolicy = "  name: gpuward-remediator-own-jobs\n";
  for (const char* grant : {"jobs", "rebootJob", "restartJob"})
    EXPECT_THAT(chart({std::string("--set=remediator.grants.") + grant + "=true"}),
                HasSubstr(kPolicy))
        << grant;
  EXPECT_THAT(chart(), Not(HasSubstr(kPolicy)));
}

// Its policy, without which the token is root on every node, is rendered with the sweep.
TEST_F(Chart, HasNoAccountOfTheSweeperWithoutSweeps) {
  const auto accounts = [](const std::string& values) {
    std::size_t found = 0;
    for (const std::string& document : documents_of(chart({"--set=" + values})))
      if (document.contains("kind: ServiceAccount\n") || document.contains("Binding\n") ||
          document.contains("kind: Role\n") || document.contains("kind: ClusterRole\n"))
        found += document.contains("  name: gpu-healthcheck-sweeper\n") ? 1 : 0;
    return found;
  };
  EXPECT_EQ(accounts("exporter.sweep.enabled=false"), 0U);
  EXPECT_EQ(accounts("exporter.sweep.enabled=true"), 5U);
}

TEST_F(Chart, SweepsTheNodesOfTheSelector) {
  const auto sweep = [](std::vector<std::string> values) {
    values.insert(values.end(), {"--set=exporter.sweep.enabled=true",
                                 "--show-only=templates/exporter-sweep.yaml"});
    return chart(values);
  };
  EXPECT_THAT(sweep({}),
              HasSubstr("args: [sweep, \"--node-selector=nvidia.com/gpu.present=true\"]\n"));
  EXPECT_THAT(sweep({"--set=exporter.sweep.nodeSelector=pool in (a100)"}),
              HasSubstr("args: [sweep, \"--node-selector=pool in (a100)\"]\n"));
}

// Otherwise a failed sweep would set a taint that no exporter removes.
TEST_F(Chart, GivesTheSwitchesOfLabelsAndTaintToTheSweep) {
  const auto sweep = [](std::vector<std::string> values) {
    values.insert(values.end(), {"--set=exporter.sweep.enabled=true",
                                 "--show-only=templates/exporter-sweep.yaml"});
    return chart(values);
  };
  EXPECT_THAT(sweep({}), AllOf(HasSubstr("{name: ENABLE_LABEL, value: \"true\"}\n"),
                               HasSubstr("{name: ENABLE_TAINT, value: \"false\"}\n")));
  EXPECT_THAT(
      sweep({"--set=exporter.config.node.taint=true", "--set=exporter.config.node.labels=false"}),
      AllOf(HasSubstr("{name: ENABLE_LABEL, value: \"false\"}\n"),
            HasSubstr("{name: ENABLE_TAINT, value: \"true\"}\n")));
  EXPECT_THAT(sweep({"--set=exporter.config.node.taint=null"}),
              HasSubstr("{name: ENABLE_TAINT, value: \"true\"}\n"))
      << "the exporter's own default";
}

// Otherwise a quarantine would use another profile than the exporters, and none of their keys.
TEST_F(Chart, GivesTheConfigurationOfTheExportersToTheQuarantineWhateverTheNames) {
  const std::string rendered =
      chart({"--set=fullnameOverride=ours", "--set=exporter.config.profile=seed"});
  EXPECT_THAT(file_in(rendered, "gpuward-exporter", "config.yaml"), HasSubstr("profile: seed\n"));
  EXPECT_THAT(rendered,
              HasSubstr("- name: config\n          configMap: {name: gpuward-exporter}\n"));
  const std::string quarantine = file_in(rendered, "gpuward-quarantine", "job.yaml");
  for (const char* line :
       {"- {name: config, mountPath: /etc/gpuward, readOnly: true}\n",
        "- {name: config, configMap: {name: gpuward-exporter, optional: true}}\n"}) {
    EXPECT_THAT(quarantine, HasSubstr(line));
  }
}

TEST_F(Chart, DiagnosesWithTheExportersImageIfNoOtherIsNamed) {
  const auto images = [](std::vector<std::string> values) {
    values.insert(values.end(),
                  {"--set=exporter.sweep.enabled=true", "--set=images.exporter.pullPolicy=Always",
                   "--show-only=templates/exporter-sweep.yaml",
                   "--show-only=templates/exporter-quarantine.yaml"});
    return chart(values);
  };
  const std::string own = images({});
  EXPECT_THAT(own,
              HasSubstr("{name: SWEEP_IMAGE, value: \"gpuward-exporter:" GPUWARD_VERSION "\"}"));
  EXPECT_THAT(own, HasSubstr("              image: gpuward-exporter:" GPUWARD_VERSION "\n"
                             "              imagePullPolicy: Always\n"));
  const std::string named = images({"--set=images.diagnostics.repository=registry.example/diag"});
  EXPECT_THAT(named, HasSubstr("{name: SWEEP_IMAGE, value: \"registry.example/diag:" GPUWARD_VERSION
                               "\"}"));
  EXPECT_THAT(named, HasSubstr("              image: registry.example/diag:" GPUWARD_VERSION "\n"
                               "              imagePullPolicy: IfNotPresent\n"));
}

TEST_F(Chart, MountsAmdsHealthThresholdsIfTheirConfigMapIsNamed) {
  const std::string rendered =
      chart({"--set=exporter.amdConfigMap=metrics-config", "--show-only=templates/exporter.yaml"});
  EXPECT_THAT(rendered, HasSubstr("{name: amd-config, mountPath: /etc/metrics, readOnly: true}"));
  EXPECT_THAT(rendered, HasSubstr("configMap: {name: metrics-config}"));
  EXPECT_THAT(chart({"--show-only=templates/exporter.yaml"}), Not(HasSubstr("amd-config")));
}

TEST_F(Chart, AnswersAmdsDevicePluginUnlessItIsToldNotTo) {
  const std::string rendered = chart({"--show-only=templates/exporter.yaml"});
  EXPECT_THAT(rendered, HasSubstr("{name: amd-health, mountPath: /var/lib/amd-metrics-exporter}"));
  EXPECT_THAT(rendered, HasSubstr("- name: amd-health\n"
                                  "          hostPath: {path: /var/lib/amd-metrics-exporter, "));
  EXPECT_THAT(
      chart({"--set=exporter.amdHealthSocket.mount=false", "--show-only=templates/exporter.yaml"}),
      Not(HasSubstr("amd-health")));
}

TEST_F(Chart, LetsNobodyCallThePodsOfJobs) {
  const std::string policies =
      chart({"--set=networkPolicy.enabled=true,networkPolicy.from={monitoring}",
             "--show-only=templates/network-policies.yaml"});
  int templates = 0;
  for (const auto& entry : std::filesystem::directory_iterator(tree("manifests"))) {
    const std::string file = entry.path().filename();
    if (!file.starts_with("remediator-job-")) continue;
    ++templates;
    const Json job = parse_json(text_of("manifests/" + file)).value();
    const Json& pod = member_at(member_at(job, "spec"), "template");
    const std::string name =
        string_at(member_at(member_at(pod, "metadata"), "labels"), "app.kubernetes.io/name");
    EXPECT_THAT(policies, HasSubstr(", " + name + "]}")) << file;
  }
  EXPECT_EQ(templates, 6);
}

// A wrongly guessed namespace would block every scrape and alert. No client calls a Job.
TEST_F(Chart, LimitsWhoCallsInOnlyIfItIsToldWho) {
  const std::string jobs = "kind: NetworkPolicy\nmetadata:\n  name: gpuward-jobs\n";
  const auto policies = [](const std::string& rendered) {
    return std::ranges::count_if(documents_of(rendered), [](const std::string& document) {
      return document.contains("kind: NetworkPolicy\n");
    });
  };
  EXPECT_THAT(chart(), HasSubstr(jobs));
  EXPECT_EQ(policies(chart()), 1);
  EXPECT_THAT(notes(), HasSubstr("Network policies: every pod reaches the metrics"));
  EXPECT_EQ(policies(chart({"--set=networkPolicy.enabled=false,networkPolicy.from={monitoring}"})),
            0);
  EXPECT_THAT(refused("networkPolicy.enabled=true"),
              AllOf(HasSubstr("networkPolicy.from"), HasSubstr("networkPolicy.cidrs")));
  const std::string addresses = "--set=networkPolicy.cidrs={192.0.2.7/32}";
  EXPECT_EQ(policies(chart({addresses})), 3);
  EXPECT_THAT(chart({addresses}),
              AllOf(HasSubstr("values: [\"gpuward\",\"gpu-healthcheck\"]}\n"),
                    HasSubstr("matchLabels: {app.kubernetes.io/component: test}\n")));
  EXPECT_THAT(
      chart({addresses, "--set=tests.enabled=false"}),
      AllOf(HasSubstr("    - from:\n        - ipBlock: "), Not(HasSubstr("namespaceSelector"))));
  EXPECT_THAT(notes({addresses, "--set=networkPolicy.from={monitoring}"}),
              HasSubstr("only pods of monitoring and the addresses 192.0.2.7/32 reach"));
}

// A policy without rules for callers must not refuse them.
TEST_F(Chart, LimitsEgressWithoutNamesOfCallers) {
  const std::string rendered = chart({"--set-json=networkPolicy.egress.remediator=[{}]",
                                      "--show-only=templates/network-policies.yaml"});
  EXPECT_THAT(rendered, AllOf(HasSubstr("  name: gpuward-remediator\n"),
                              HasSubstr("policyTypes: [Egress]\n  egress:\n    - {}\n"),
                              Not(HasSubstr("ingress:")), Not(HasSubstr("gpuward-exporter"))));
}

TEST_F(Chart, ChangesNothingInTheClusterUntilItIsToldTo) {
  const std::string rendered = chart();
  EXPECT_THAT(rendered, HasSubstr("\n    mode: observe\n"));
  EXPECT_THAT(rendered, HasSubstr("      taint: false\n"));
  for (const char* granted : {"kind: CronJob", "name: gpuward-remediator-jobs",
                              "name: gpuward-remediator-loki", "monitoring.coreos.com"})
    EXPECT_THAT(rendered, Not(HasSubstr(granted)));
  for (const char* role : {"gpuward-remediator-terminate", "gpuward-remediator-delete-pods"})
    EXPECT_THAT(rendered, Not(HasSubstr("kind: ClusterRole\n  name: " + std::string(role))));
}

// A program and AWS terminate machines without the permission to delete NodeClaims.
TEST_F(Chart, LetsTerminateSeeAttachedVolumesWithoutGrants) {
  const std::string rendered = chart({"--set=remediator.policy.machines.aws.terminate=true"});
  EXPECT_THAT(rendered, HasSubstr("    resources: [volumeattachments]\n    verbs: [list]\n"));
  EXPECT_THAT(rendered,
              HasSubstr("  kind: ClusterRole\n  name: gpuward-remediator-volumes\nsubjects:\n"));
  EXPECT_THAT(rendered, Not(HasSubstr("  name: gpuward-remediator-terminate\nsubjects:\n")));
}

TEST_F(Chart, UsesItsOwnNamesOnNodesUnlessItIsToldOthers) {
  const std::string rendered = chart();
  EXPECT_THAT(rendered, HasSubstr("      preset: gpuward\n"));
  EXPECT_THAT(rendered, HasSubstr(" gpuward.dev/target-node: TARGET_NODE_NAME\n"));
  const std::string suite = chart({"--set=exporter.config.node.preset=aws-samples"});
  EXPECT_THAT(suite, HasSubstr("      preset: aws-samples\n"));
  EXPECT_THAT(suite, HasSubstr(" gpu-healthcheck.aws-samples.io/target-node: TARGET_NODE_NAME\n"));
  // After a change of the preset an old taint can stay until the node passes.
  for (const std::string& text : {rendered, suite})
    for (const char* taint :
         {"gpuward.dev/unhealthy", "gpuward.dev/maintenance",
          "gpu-healthcheck.aws-samples.io/unhealthy", "gpu-healthcheck.aws-samples.io/maintenance"})
      EXPECT_THAT(text, HasSubstr("{key: " + std::string(taint) + ", operator: Exists"));
}

// Helm merges maps: steps among the chart's values would stay in force beside the user's mode.
TEST_F(Chart, DrainsInModeFullWithoutFurtherValues) {
  const std::string policy =
      file_in(chart({"--set=remediator.policy.mode=full", "--set=remediator.grants.terminate=true",
                     "--set=remediator.prometheusURL=http://prometheus:9090"}),
              "gpuward-remediator", "policy.yaml");
  EXPECT_THAT(steps_explained(policy, "isolate"),
              AllOf(HasSubstr(". drain: "), HasSubstr(". terminate: ")));
}

// `helm upgrade --reset-then-reuse-values` keeps the old name of a key beside the new one.
TEST_F(Chart, LeavesOutOldNamesOfKeysBesideTheNewOnes) {
  const std::string lists = R"({"isolate": ["nccl-test", "verify", "return-to-service"]})";
  const std::string pool =
      R"([{"name": "a", "labels": ["a"], "way_back": {"isolate": []}, "recovery": )";
  const std::string policy =
      file_in(chart({"--set=remediator.policy.drain_buffer=7m",
                     "--set=remediator.policy.min_drain_interval=9m",
                     "--set-json=remediator.policy.way_back={\"isolate\": []}",
                     "--set-json=remediator.policy.recovery=" + lists,
                     "--set-json=remediator.policy.pools=" + pool + lists + "}]",
                     "--set=remediator.policy.jobs.image=registry.example/exporter:1"}),
              "gpuward-remediator", "policy.yaml");
  EXPECT_THAT(policy, AllOf(HasSubstr("min_drain_interval: 9m"), HasSubstr("recovery:"),
                            Not(HasSubstr("drain_buffer")), Not(HasSubstr("way_back"))));
  EXPECT_THAT(file_in(chart({"--set=remediator.policy.drain_buffer=7m"}), "gpuward-remediator",
                      "policy.yaml"),
              HasSubstr("drain_buffer: 7m"));
}

TEST_F(Chart, DrainsAtEachSeverityForWhichModeFullHasTheMeans) {
  const std::string policy =
      file_in(chart({"--set=remediator.policy.mode=full", "--set=remediator.grants.terminate=true",
                     "--set=remediator.grants.jobs=true",
                     "--set=remediator.prometheusURL=http://prometheus:9090",
                     "--set=remediator.policy.machines.reboot={/usr/local/bin/power-cycle}",
                     "--set=remediator.policy.jobs.image=registry.example/exporter:1"}),
              "gpuward-remediator", "policy.yaml");
  for (const auto& [severity, last] :
       {std::pair{"isolate", "terminate"}, {"reboot", "reboot"}, {"reset", "gpu-reset"}})
    EXPECT_THAT(steps_explained(policy, severity),
                AllOf(HasSubstr(". drain: "), HasSubstr(". " + std::string(last) + ": ")));
}

// An exporter is not ready while its driver hangs, and a restart does not heal a driver.
TEST_F(Chart, LetsTheKubeletRestartNoExporterThatIsNotReady) {
  const std::string rendered = chart({"--show-only=templates/exporter.yaml"});
  EXPECT_THAT(rendered, HasSubstr("livenessProbe:\n            httpGet: {path: /healthz,"));
  EXPECT_THAT(rendered, HasSubstr("readinessProbe:\n            httpGet: {path: /readyz,"));
}

TEST_F(Chart, TellsTheRemediatorTheNamesOfItsPages) {
  const auto rendered = [](std::vector<std::string> values) {
    values.emplace_back("--show-only=templates/remediator.yaml");
    return chart(values);
  };
  EXPECT_THAT(rendered({"--namespace=gpuward"}),
              HasSubstr("- --web.hosts=gpuward-remediator,gpuward-remediator.gpuward\n"));
  EXPECT_THAT(rendered({"--namespace=healing", "--set=fullnameOverride=a",
                        "--set=externalURL=https://gpuward.example:8443/x"}),
              HasSubstr("- --web.hosts=a-remediator,a-remediator.healing,gpuward.example\n"));
}

// Slow clients of the other ports must not make the kubelet restart a pod.
TEST_F(Chart, LetsTheKubeletProbeAListenerOfItsOwn) {
  for (const auto& [program, port] : {std::pair{"exporter", "10983"}, {"remediator", "10984"}}) {
    const std::string rendered = chart({"--show-only=templates/" + std::string(program) + ".yaml"});
    EXPECT_THAT(rendered, HasSubstr("- --web.health-address=:" + std::string(port) + "\n"));
    EXPECT_THAT(rendered, HasSubstr("{name: health, containerPort: " + std::string(port) + "}"));
    for (const char* path : {"/healthz", "/readyz"})
      EXPECT_THAT(rendered, HasSubstr("httpGet: {path: " + std::string(path) +
                                      ", port: health}\n            timeoutSeconds: 5\n"));
    EXPECT_THAT(rendered, Not(HasSubstr("port: health,"))) << "no Service leads there";
  }
}

// On the host it writes only its own state and AMD's socket, and it must run on unhealthy nodes
// too.
TEST_F(Chart, MountsTheHostReadOnlyAndToleratesEveryTaint) {
  const std::string rendered = chart({"--show-only=templates/exporter.yaml"});
  EXPECT_THAT(rendered, HasSubstr("      tolerations:\n        - operator: Exists\n"));
  EXPECT_THAT(rendered, HasSubstr("readOnlyRootFilesystem: true"));
  static const std::regex kVolume(R"(- name: ([a-z-]+)\n +hostPath: )");
  for (std::sregex_iterator one(rendered.begin(), rendered.end(), kVolume), end; one != end;
       ++one) {
    const std::string name = (*one)[1];
    const std::regex mount("\\{name: " + name + ", mountPath: [^,}]+(, readOnly: true)?\\}");
    std::smatch found;
    ASSERT_TRUE(std::regex_search(rendered, found, mount)) << name;
    EXPECT_EQ(found[1].matched, name != "state" && name != "amd-health") << name;
  }
}

TEST_F(Chart, IsWholeIfItIsPackaged) {
  for (const auto& entry :
       std::filesystem::recursive_directory_iterator(tree("manifests/chart/gpuward")))
    EXPECT_FALSE(entry.is_symlink()) << entry.path();
  const support::TempDir folder;
  const auto packed = helm({"package", tree("manifests/chart/gpuward").string(),
                            "--destination=" + folder.path().string()});
  ASSERT_EQ(packed.exit_code, 0) << packed.error_output;
  const auto rendered = [](const std::string& place) {
    return helm({"template", "gpuward", place, "--values=" + everything(),
                 "--set=prometheusOperator.rules=true", "--set=crd.install=true"});
  };
  const auto package = rendered((folder / "gpuward-" GPUWARD_VERSION ".tgz").string());
  const auto source = rendered(tree("manifests/chart/gpuward").string());
  EXPECT_EQ(package.exit_code, 0) << package.error_output;
  EXPECT_EQ(package.output, source.output);
  EXPECT_EQ(source.error_output, "");
}

TEST_F(Chart, CarriesTheFilesOfThisTree) {
  const support::TempDir folder;
  ASSERT_EQ(fill(folder.path()).exit_code, 0);
  int files = 0;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder.path())) {
    if (entry.is_directory()) continue;
    const auto name = std::filesystem::relative(entry.path(), folder.path()).string();
    EXPECT_EQ(text_of("manifests/chart/gpuward/files/" + name),
              read_file(entry.path()).value_or(""))
        << name << ": run `./dev manifests`";
    ++files;
  }
  EXPECT_GE(files, 10);
}

// A new token at each sync would lock Alertmanager out.
TEST_F(Chart, MakesATokenWithoutAClusterOnlyIfItIsToldTo) {
  EXPECT_THAT(refused("remediator.webhook.existingSecret="),
              AllOf(HasSubstr("set remediator.webhook.existingSecret"),
                    HasSubstr("set remediator.webhook.generate=always")));
  const std::string made = chart({"--set=remediator.webhook.existingSecret=",
                                  "--set=remediator.webhook.generate=always,"
                                  "prometheusOperator.alertmanagerConfig=true"});
  EXPECT_THAT(made, AllOf(HasSubstr("kind: Secret\nmetadata:\n  name: gpuward-webhook\n"),
                          HasSubstr("secret: {secretName: gpuward-webhook}"),
                          HasSubstr("          name: gpuward-webhook\n")));
  EXPECT_THAT(chart(), Not(HasSubstr("kind: Secret\n")));
}

TEST_F(Chart, KeepsTheKindWhenItIsUninstalled) {
  const std::string rendered = chart({"--show-only=templates/crd.yaml"});
  EXPECT_THAT(rendered, HasSubstr("    helm.sh/resource-policy: keep\n"));
  EXPECT_THAT(rendered, HasSubstr("  name: remediations.gpuward.dev\n"));
}

TEST_F(Chart, HasTheRulesOfTheAlertsFolderWordForWord) {
  const std::string rendered =
      chart({"--set=prometheusOperator.rules=true", "--show-only=templates/prometheus-rule.yaml"});
  std::string indented;
  std::istringstream lines(text_of("alerts/gpuward.rules.yaml"));
  for (std::string line; std::getline(lines, line);) indented += "  " + line + "\n";
  EXPECT_THAT(rendered, HasSubstr(indented));
}

TEST_F(Chart, MakesLinksOfWhatTheRulesSayIfItIsToldWhere) {
  const auto rendered = [](std::vector<std::string> values) {
    values.insert(values.end(), {"--set=prometheusOperator.rules=true",
                                 "--show-only=templates/prometheus-rule.yaml",
                                 "--show-only=templates/remediator.yaml"});
    return chart(values);
  };
  const std::string links = rendered({"--set=externalURL=https://gpuward.example/",
                                      "--set=grafanaURL=https://grafana.example/",
                                      "--set=remediator.policy.mode=cordon"});
  EXPECT_THAT(links, HasSubstr("\n            runbook_url: "
                               "\"https://gpuward.example/runbooks/GpuNodeNeedsReboot\"\n"));
  EXPECT_THAT(links, HasSubstr("dashboard_url: \"https://grafana.example/d/gpuward-node?"));
  EXPECT_THAT(links, Not(HasSubstr(" runbook: ")));
  EXPECT_THAT(links, HasSubstr("\n    notifications:\n      runbook_url: "
                               "https://gpuward.example/runbooks\n"));
  EXPECT_THAT(links, HasSubstr("\n    mode: cordon\n"));

  const std::string wiki = rendered(
      {"--set=externalURL=https://gpuward.example", "--set=runbookURL=https://wiki.example/gpus"});
  EXPECT_THAT(wiki, HasSubstr("\"https://wiki.example/gpus/GpuNodeNeedsReboot\""));
  EXPECT_THAT(wiki, Not(HasSubstr("https://gpuward.example")));

  EXPECT_THAT(rendered({"--namespace=healing"}),
              HasSubstr("runbook: \"kubectl -n healing exec deploy/gpuward-remediator -- "));
  EXPECT_THAT(refused("externalURL=gpuward.example"), HasSubstr("/externalURL"));
}

// `./dev manifests` writes all folders.
void expect_rendered(const std::string& values, const std::string& committed,
                     const std::vector<std::string>& templates = {}) {
  support::TempDir folder;
  const auto outcome = render(folder.path(), tree(values), templates);
  ASSERT_EQ(outcome.exit_code, 0) << outcome.error_output;
  std::size_t files = 0;
  for (const auto& entry : std::filesystem::directory_iterator(folder.path())) {
    const std::string name = entry.path().filename().string();
    EXPECT_EQ(read_file(entry.path()).value_or(""), text_of(committed + "/" + name)) << name;
    ++files;
  }
  EXPECT_GE(files, templates.empty() ? 14U : templates.size());
}

TEST_F(Chart, IsWhatThePlainYamlSays) {
  expect_rendered("manifests/chart/plain.yaml", "manifests");
}

TEST_F(Chart, IsWhatTheHealthSuitesOverlayAdds) {
  expect_rendered("manifests/chart/health-suite.yaml", "kustomize/health-suite",
                  {"exporter-sweep.yaml", "exporter-quarantine.yaml", "remediator-jobs-rbac.yaml"});
}

TEST_F(Chart, RendersEveryValueAsTheSnapshotSays) {
  expect_rendered("tests/manifests/everything.yaml", "tests/manifests/everything");
}

TEST_F(Chart, HandsOutTheJobsAndTheRoutesOfThisTree) {
  const std::string rendered = chart({"--set=remediator.jobTemplates.mount=true"});
  for (const std::string step : {"collect-evidence", "gpu-reset", "gpu-reset-amd", "quarantine-job",
                                 "nccl-test", "nccl-pairs"}) {
    // One template is for both vendors.
    const std::string file = step == "gpu-reset-amd" ? "gpu-reset" : step;
    EXPECT_EQ(file_in(rendered, "gpuward-remediator-jobs", step + ".json"),
              text_of("manifests/remediator-job-" + file + ".json"));
  }
  EXPECT_EQ(file_in(rendered, "gpuward-alertmanager", "alertmanager.yaml"),
            text_of("alerts/alertmanager.yaml"));
}

// Otherwise the remediator's Service, its disruption budget and its network policy would select
// them.
TEST(JobTemplates, MakeNoPodThatAWorkloadsSelectorFinds) {
  int templates = 0;
  for (const auto& entry : std::filesystem::directory_iterator(tree("manifests"))) {
    const std::string name = entry.path().filename().string();
    if (!name.starts_with("remediator-job-")) continue;
    EXPECT_THAT(text_of("manifests/" + name),
                AllOf(HasSubstr(R"("app.kubernetes.io/name": "gpuward-job")"),
                      Not(HasSubstr(R"("app.kubernetes.io/name": "gpuward-remediator")")),
                      Not(HasSubstr(R"("app.kubernetes.io/name": "gpuward-exporter")"))))
        << name;
    ++templates;
  }
  EXPECT_GE(templates, 5);
}

// The exporter's program reads it there without a flag.
TEST(JobTemplates, OfDiagnosticsHaveTheConfigurationOfTheExporters) {
  for (const std::string step : {"quarantine-job", "nccl-test"}) {
    EXPECT_THAT(
        text_of("manifests/remediator-job-" + step + ".json"),
        AllOf(HasSubstr(R"({"name": "config", "mountPath": "/etc/gpuward", "readOnly": true})"),
              HasSubstr(R"({"name": "config", "configMap": )"
                        R"({"name": "gpuward-exporter", "optional": true}})")))
        << step;
  }
}

TEST_F(Chart, HasTheOperatorsRoutesWithItsOwnNames) {
  const std::string rendered = chart(
      {"--set=prometheusOperator.alertmanagerConfig=true,remediator.namespace=healing",
       "--set=remediator.webhook.existingSecret=mine,prometheusOperator.labels.release=prometheus",
       "--show-only=templates/alertmanager-config.yaml"});
  for (const char* part :
       {"http://gpuward-remediator.healing.svc:10981/api/v1/alerts", "name: mine",
        "namespace: healing", "release: prometheus", "value: isolate|reboot|reset"})
    EXPECT_THAT(rendered, HasSubstr(part));
}

TEST(ChartVersion, IsThatOfThePrograms) {
  const std::string about = text_of("manifests/chart/gpuward/Chart.yaml");
  EXPECT_THAT(about, HasSubstr("\nversion: " GPUWARD_VERSION "\n"));
  EXPECT_THAT(about, HasSubstr("\nappVersion: " GPUWARD_VERSION "\n"));
}

}  // namespace
}  // namespace gpuward::manifests
