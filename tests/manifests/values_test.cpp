// The values of the chart that users know from other charts, as far as the snapshot of
// everything.yaml does not show them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <regex>
#include <sstream>

#include "core/runtime/json.h"
#include "tests/manifests/tools.h"
#include "tests/support/require.h"

namespace gpuward::manifests {
namespace {

using ::testing::AllOf;
using ::testing::Each;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::SizeIs;

class Values : public ::testing::Test {
 protected:
  void SetUp() override { GPUWARD_REQUIRE_IN(kLanding, why_no_helm()); }
};

const std::string kEverything = "--values=" + tree("tests/manifests/everything.yaml").string();

TEST_F(Values, PutTheStandardLabelsOnEveryObject) {
  const std::vector<std::string> objects = documents_of(
      chart({kEverything,
             "--set=prometheusOperator.rules=true,crd.install=true,remediator.admission."
             "enabled=true,remediator.webhook.existingSecret=,remediator.webhook.generate="
             "always",
             "--set-json=extraObjects=[]"}));
  EXPECT_GE(objects.size(), 50);
  for (const std::string& object : objects) {
    for (const char* label : {"name", "instance: gpuward\n", "version", "component",
                              "part-of: gpuward\n", "managed-by: Helm\n"})
      EXPECT_THAT(object, HasSubstr("\n    app.kubernetes.io/" + std::string(label))) << object;
    EXPECT_THAT(object, HasSubstr("\n    helm.sh/chart: gpuward-" GPUWARD_VERSION "\n")) << object;
  }
}

// Objects that the programs and the API server's policies know by name keep their name.
TEST_F(Values, RenameOnlyWhatNobodyKnowsByName) {
  const std::string rendered =
      chart({"--set=fullnameOverride=ours,prometheusOperator.rules=true",
             "--set=prometheusOperator.monitors=true,prometheusOperator.alertmanagerConfig=true"});
  for (const char* renamed :
       {"kind: Deployment\nmetadata:\n  name: ours-remediator\n",
        "kind: DaemonSet\nmetadata:\n  name: ours-exporter\n", "deploy/ours-remediator ",
        "url: http://ours-remediator.gpuward.svc:10981/api/v1/alerts"})
    EXPECT_THAT(rendered, HasSubstr(renamed));
  for (const char* known : {"kind: ServiceAccount\nmetadata:\n  name: gpuward-remediator\n",
                            "kind: ConfigMap\nmetadata:\n  name: gpuward-remediator-switch\n",
                            "app.kubernetes.io/name: gpuward-exporter\n",
                            "{targetLabel: job, replacement: gpuward-exporter}"})
    EXPECT_THAT(rendered, HasSubstr(known));
  EXPECT_THAT(rendered, Not(HasSubstr("gpuward-remediator.gpuward.svc")));
  EXPECT_THAT(chart({"--set=nameOverride=ours"}),
              AllOf(HasSubstr("matchLabels: {app.kubernetes.io/name: ours-exporter}"),
                    HasSubstr("      labels:\n        app.kubernetes.io/name: ours-exporter\n")));
}

// A root user on a replica's node can read its token.
TEST_F(Values, KeepTheRemediatorAwayFromGpuNodes) {
  const auto rendered = [](std::vector<std::string> values) {
    values.emplace_back("--show-only=templates/remediator.yaml");
    return chart(values);
  };
  const auto label = HasSubstr("key: nvidia.com/gpu.present\n");
  EXPECT_THAT(rendered({}), AllOf(label, HasSubstr("preferredDuringScheduling"),
                                  Not(HasSubstr("requiredDuring"))));
  EXPECT_THAT(
      rendered({"--set=remediator.gpuNodes=exclude"}),
      AllOf(label, HasSubstr("requiredDuringScheduling"), Not(HasSubstr("preferredDuring"))));
  EXPECT_THAT(rendered({"--set=remediator.gpuNodes=allow"}), Not(HasSubstr("affinity:")));
}

// The sweeper's token reaches every node too.
TEST_F(Values, KeepTheSweepAwayFromGpuNodes) {
  const auto sweep = [](const std::string& values) {
    const std::string rendered = chart({"--set=exporter.sweep.enabled=true," + values,
                                        "--show-only=templates/exporter-sweep.yaml"});
    return rendered.substr(0, rendered.find("\n---\n", rendered.find("kind: CronJob")));
  };
  EXPECT_THAT(sweep(""), AllOf(HasSubstr("key: nvidia.com/gpu.present\n"),
                               HasSubstr("preferredDuringScheduling")));
  EXPECT_THAT(sweep("remediator.gpuNodes=exclude"), HasSubstr("requiredDuringScheduling"));
  EXPECT_THAT(sweep("remediator.gpuNodes=allow"), Not(HasSubstr("affinity:")));
}

// They hold the token of the webhook, and with TLS the client's key.
TEST_F(Values, KeepThePodsOfHelmTestAwayFromGpuNodes) {
  const auto pods = [](const std::string& values) {
    std::vector<std::string> found;
    for (const std::string& document : documents_of(
             chart({"--set=tests.enabled=true," + values, "--show-only=templates/tests.yaml"})))
      if (document.contains("kind: Pod\n")) found.push_back(document);
    return found;
  };
  EXPECT_THAT(pods("remediator.prometheusURL=http://p:9090"),
              AllOf(SizeIs(4), Each(AllOf(HasSubstr("\n  affinity:\n    nodeAffinity:\n"),
                                          HasSubstr("preferredDuringScheduling")))));
  EXPECT_THAT(pods("remediator.gpuNodes=exclude"), Each(HasSubstr("requiredDuringScheduling")));
  EXPECT_THAT(pods("remediator.gpuNodes=allow"), Each(Not(HasSubstr("affinity:"))));
}

TEST_F(Values, LabelAndLeaveOutAlerts) {
  const auto rules = [](std::vector<std::string> values) {
    values.insert(values.end(), {"--set=prometheusOperator.rules=true",
                                 "--show-only=templates/prometheus-rule.yaml"});
    return chart(values);
  };
  const std::string chosen = rules({"--set=prometheusOperator.disabledRules={GpuNodeNeedsReset}",
                                    "--set=prometheusOperator.ruleLabels.team=gpus",
                                    "--set=prometheusOperator.ruleLabels.severity=mine"});
  EXPECT_THAT(rules({}), HasSubstr("alert: GpuNodeNeedsReset\n"));
  EXPECT_THAT(chosen, AllOf(Not(HasSubstr("alert: GpuNodeNeedsReset\n")),
                            HasSubstr("alert: GpuNodeNeedsReboot\n")));
  EXPECT_THAT(chosen, HasSubstr("        remediation: isolate\n        severity: critical\n"
                                "        team: gpus\n"));
  const auto unknown =
      helm({"template", "gpuward", tree("manifests/chart/gpuward").string(), offline(),
            "--set=prometheusOperator.rules=true,prometheusOperator.disabledRules={Nobody}"});
  EXPECT_THAT(unknown.error_output, HasSubstr("names Nobody, which no rule of gpuward has"));
}

TEST_F(Values, HandTheDashboardsToGrafanasSidecar) {
  const std::string rendered =
      chart({"--set=dashboards.enabled=true", "--show-only=templates/dashboards.yaml"});
  EXPECT_THAT(rendered, HasSubstr("    grafana_dashboard: \"1\"\n"));
  int dashboards = 0;
  for (const auto& entry : std::filesystem::directory_iterator(tree("dashboards"))) {
    if (entry.path().extension() != ".json") continue;
    const std::string file = entry.path().filename();
    const std::string name = entry.path().stem().string().substr(std::string("gpuward-").size());
    EXPECT_EQ(file_in(rendered, "gpuward-dashboard-" + name, file), text_of("dashboards/" + file));
    ++dashboards;
  }
  EXPECT_EQ(dashboards, 5);
}

TEST_F(Values, SayWhereTheLinksOfTheDashboardsLead) {
  const std::string rendered =
      chart({"--set=dashboards.enabled=true,externalURL=https://gpuward.example/",
             "--show-only=templates/dashboards.yaml"});
  EXPECT_THAT(rendered, HasSubstr("\"query\": \"https://gpuward.example\",\n"));
  EXPECT_THAT(rendered, Not(HasSubstr("localhost")));
}

TEST_F(Values, AreRefusedInTheFormOfOtherCharts) {
  const auto refused = [](const std::string& value) {
    return helm({"template", "gpuward", tree("manifests/chart/gpuward").string(), offline(),
                 "--set=" + value})
        .error_output;
  };
  EXPECT_THAT(refused("images.pullSecrets={registry}"), HasSubstr("/images/pullSecrets/0"));
  EXPECT_THAT(refused("images.exporter.digest=latest"), HasSubstr("/images/exporter"));
  EXPECT_THAT(refused("exporter.affinity.nodeAfinity.a=b"), HasSubstr("'nodeAfinity' not allowed"));
  EXPECT_THAT(refused("exporter.kubeletpath=/x/y"), HasSubstr("'kubeletpath' not allowed"));
}

// The schema of the value at a path such as remediator.grants; null if the chart has none.
Json schema_of(const std::string& path) {
  const Json schema = parse_json(text_of("manifests/chart/gpuward/values.schema.json")).value();
  Json at = schema;
  std::istringstream keys(path);
  for (std::string key; std::getline(keys, key, '.');) {
    if (at.contains("allOf")) at = at["allOf"][0];
    if (at.contains("$ref"))
      at = schema["definitions"]
                 [at["$ref"].get<std::string>().substr(std::string("#/definitions/").size())];
    if (!at.contains("properties")) return at;  // any keys are allowed below
    if (!at["properties"].contains(key)) return {};
    at = Json(at["properties"][key]);
  }
  return at;
}

TEST(InstallationGuide, NamesOnlyValuesThatTheChartHas) {
  static const std::regex kPath(
      "`((images|exporter|remediator|prometheusOperator|networkPolicy|dashboards)\\.[a-zA-Z.]+)");
  const std::string guide = text_of("docs/install.md");
  int paths = 0;
  for (std::sregex_iterator one(guide.begin(), guide.end(), kPath), end; one != end; ++one) {
    EXPECT_FALSE(schema_of((*one)[1]).is_null()) << (*one)[1];
    ++paths;
  }
  EXPECT_GE(paths, 40);
}

}  // namespace
}  // namespace gpuward::manifests
