// All that can be applied, before a real kube-apiserver: it takes every object as it stands, and
// the pods that come of them are allowed in their namespaces.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <regex>

#include "core/runtime/json.h"
#include "tests/manifests/tools.h"
#include "tests/support/cache_folder.h"
#include "tests/support/control_plane.h"
#include "tests/support/require.h"
#include "tests/support/wait.h"

namespace gpuward::manifests {
namespace {

using ::testing::HasSubstr;

// The kinds of the prometheus-operator, where `./dev deps --all` has put them; empty where it has
// not.
std::filesystem::path operator_kinds() {
  static const std::regex kPin(R"(/prometheus-operator v([0-9.]+))");
  const std::string pins = text_of("tests/operatorcrds/go.mod");
  std::smatch found;
  if (!std::regex_search(pins, found, kPin)) return {};
  const auto folder = support::cache_folder() / ("prometheus-operator-" + found[1].str());
  return std::filesystem::exists(folder) ? folder : std::filesystem::path();
}

std::string why_not() {
  if (auto why = support::ControlPlane::why_unavailable(); !why.empty()) return why;
  if (auto why = why_no_helm(); !why.empty()) return why;
  return operator_kinds().empty()
             ? "no kinds of the prometheus-operator on this machine: run `./dev deps --all`"
             : "";
}

class Applied : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    if (!why_not().empty()) return;
    auto plane = support::ControlPlane::start();
    ASSERT_TRUE(plane) << plane.error().message;
    plane_ = std::move(*plane);
    must({"create", "-f", operator_kinds().string()});
    must({"create", "-f", tree("manifests/crd.yaml").string()});
    must({"wait", "--for=condition=Established", "--timeout=60s", "crd", "--all"});
    for (const char* name : {"gpuward", "gpu-healthcheck", "gpus", "healing"})
      must({"create", "namespace", name});
  }
  static void TearDownTestSuite() { plane_.reset(); }
  void SetUp() override { GPUWARD_REQUIRE(why_not()); }

  static void must(std::vector<std::string> arguments, const std::string& input = {}) {
    const auto outcome = plane_->kubectl(std::move(arguments), input);
    ASSERT_TRUE(outcome) << outcome.error().message;
    ASSERT_EQ(outcome->exit_code, 0) << outcome->error_output;
  }
  // The server has the last word, and what it warns of counts too.
  static void expect_taken(const std::string& documents) {
    const auto outcome = plane_->kubectl(
        {"apply", "--dry-run=server", "--validate=strict", "--server-side", "-f", "-"}, documents);
    ASSERT_TRUE(outcome) << outcome.error().message;
    EXPECT_EQ(outcome->exit_code, 0) << outcome->error_output;
    EXPECT_THAT(outcome->error_output, Not(HasSubstr("Warning:")));
  }

  static std::unique_ptr<support::ControlPlane> plane_;
};

std::unique_ptr<support::ControlPlane> Applied::plane_;

TEST_F(Applied, TheServerTakesTheChart) {
  expect_taken(chart());
  expect_taken(chart({"--set=prometheusOperator.rules=true",
                      "--values=" + tree("tests/manifests/everything.yaml").string()}));
}

TEST_F(Applied, TheServerTakesThePlainYaml) {
  for (const auto& entry : std::filesystem::directory_iterator(tree("manifests"))) {
    const std::string name = entry.path().filename().string();
    if (entry.path().extension() != ".yaml" || name == "kustomization.yaml") continue;
    SCOPED_TRACE(name);
    expect_taken(
        std::regex_replace(text_of("manifests/" + name), std::regex("TARGET_NODE_NAME"), "gpu-01"));
  }
}

TEST_F(Applied, TheServerTakesTheOverlays) {
  for (const char* name : {"aws", "amd", "konduktor", "dry-run"}) {
    SCOPED_TRACE(name);
    expect_taken(overlay(name));
  }
}

// kubectl prints one object after the other.
std::vector<Json> objects_in(const std::string& printed) {
  std::vector<Json> out;
  std::size_t begin = 0;
  for (auto end = printed.find("\n}\n"); end != std::string::npos;
       end = printed.find("\n}\n", begin)) {
    auto one = parse_json(printed.substr(begin, end + 2 - begin));
    EXPECT_TRUE(one) << one.error().message;
    out.push_back(one.value_or(Json()));
    begin = end + 3;
  }
  return out;
}

// The pod of a Deployment or DaemonSet, as its controller would make it.
Json pod_of(const Json& owner) {
  const Json& pod_template = member_at(member_at(owner, "spec"), "template");
  Json pod = {{"apiVersion", "v1"},
              {"kind", "Pod"},
              {"metadata", member_at(pod_template, "metadata")},
              {"spec", member_at(pod_template, "spec")}};
  pod["metadata"]["name"] = "one";
  pod["metadata"]["namespace"] = string_at(member_at(owner, "metadata"), "namespace");
  return pod;
}

// The namespaces say themselves what may run there (Pod Security): the remediator's is restricted.
TEST_F(Applied, PodsAreAllowedInTheirNamespaces) {
  must({"apply", "-f", tree("manifests/exporter-rbac.yaml").string()});
  must({"apply", "-f", tree("manifests/remediator-rbac.yaml").string()});
  for (const char* file : {"manifests/exporter.yaml", "manifests/remediator.yaml"}) {
    const auto shown =
        plane_->kubectl({"create", "--dry-run=client", "-o", "json", "-f", tree(file).string()});
    ASSERT_TRUE(shown) << shown.error().message;
    int pods = 0;
    for (const Json& one : objects_in(shown->output)) {
      const std::string kind = string_at(one, "kind");
      if (kind != "Deployment" && kind != "DaemonSet") continue;
      must({"create", "--dry-run=server", "-f", "-"}, dump_json(pod_of(one)));
      ++pods;
    }
    EXPECT_EQ(pods, 1) << file;
  }
}

// To apply the switch again would undo a stop: the chart asks the cluster what it says.
TEST_F(Applied, AnUpgradeDoesNotUndoAStop) {
  const std::vector<std::string> install = {"upgrade",
                                            "--install",
                                            "gpuward",
                                            tree("manifests/chart/gpuward").string(),
                                            "--namespace=gpuward",
                                            "--take-ownership",
                                            "--set=crd.install=false,exporter.enabled=false",
                                            "--kubeconfig=" + plane_->kubeconfig().string()};
  const auto installed = helm(install);
  ASSERT_EQ(installed.exit_code, 0) << installed.error_output;
  must({"-n", "gpuward", "patch", "configmap", "gpuward-remediator-switch", "--type=merge",
        R"(--patch={"data":{"stop":"true"}})"});
  const auto upgraded = helm(install);
  ASSERT_EQ(upgraded.exit_code, 0) << upgraded.error_output;
  const auto said = plane_->kubectl({"-n", "gpuward", "get", "configmap",
                                     "gpuward-remediator-switch", "-o", "jsonpath={.data.stop}"});
  ASSERT_TRUE(said) << said.error().message;
  EXPECT_EQ(said->output, "true");
}

}  // namespace
}  // namespace gpuward::manifests
