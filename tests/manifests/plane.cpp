#include "tests/manifests/plane.h"

#include "tests/manifests/tools.h"
#include "tests/support/require.h"

namespace gpuward::manifests {

std::unique_ptr<support::ControlPlane> OnPlane::plane_;

namespace {

std::string why_no_plane() {
  const std::string why = support::ControlPlane::why_unavailable();
  return why.empty() ? why_no_helm() : why;
}

}  // namespace

void OnPlane::SetUpTestSuite() {
  if (!why_no_plane().empty()) return;
  auto plane = support::ControlPlane::start();
  ASSERT_TRUE(plane) << plane.error().message;
  plane_ = std::move(*plane);
}

void OnPlane::SetUp() { GPUWARD_REQUIRE_IN(kLanding, why_no_plane()); }

std::string OnPlane::must(std::vector<std::string> arguments, const std::string& input) {
  const auto outcome = plane_->kubectl(std::move(arguments), input);
  if (!outcome) {
    ADD_FAILURE() << outcome.error().message;
    return {};
  }
  EXPECT_EQ(outcome->exit_code, 0) << outcome->error_output;
  return outcome->output;
}

Json OnPlane::object(std::vector<std::string> arguments) {
  arguments.insert(arguments.end(), {"-o", "json"});
  const std::string printed = must(std::move(arguments));
  const auto parsed = parse_json(printed);
  EXPECT_TRUE(parsed) << printed;
  return parsed.value_or(Json());
}

void OnPlane::install(const std::vector<std::string>& arguments) {
  std::vector<std::string> argv = {"upgrade",
                                   "--install",
                                   "gpuward",
                                   tree("manifests/chart/gpuward").string(),
                                   "--namespace=gpuward",
                                   "--create-namespace",
                                   "--kubeconfig=" + plane_->kubeconfig().string()};
  argv.insert(argv.end(), arguments.begin(), arguments.end());
  const auto outcome = helm(std::move(argv));
  EXPECT_EQ(outcome.exit_code, 0) << outcome.error_output;
}

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

}  // namespace gpuward::manifests
