// A real kube-apiserver accepts every object that users can apply, unchanged, strictly and without
// a warning.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <regex>

#include "tests/manifests/plane.h"
#include "tests/manifests/tools.h"
#include "tests/support/neighbours.h"
#include "tests/support/require.h"
#include "tests/support/wait.h"

namespace gpuward::manifests {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

class Applied : public OnPlane {
 protected:
  static void SetUpTestSuite() {
    OnPlane::SetUpTestSuite();
    if (plane_ == nullptr || !support::why_not_built(support::kOperator, "operator").empty())
      return;
    must({"create", "-f", support::folder_of(support::kOperator).string()});
    must({"create", "-f", tree("manifests/crd.yaml").string()});
    // kubectl fails on a kind that has no condition yet.
    const auto are_there = [] {
      const auto outcome =
          plane_->kubectl({"wait", "--for=condition=Established", "--timeout=60s", "crd", "--all"});
      return outcome && outcome->exit_code == 0;
    };
    ASSERT_TRUE(support::wait_until(are_there, "the kinds"));
    for (const char* name : {"gpuward", "gpu-healthcheck", "gpus", "healing", "grafana"})
      must({"create", "namespace", name});
  }
  void SetUp() override {
    GPUWARD_REQUIRE_IN(kAll, support::why_not_built(support::kOperator, "operator"));
    OnPlane::SetUp();
  }

  static void expect_taken(const std::string& documents) {
    const auto outcome = plane_->kubectl(
        {"apply", "--dry-run=server", "--validate=strict", "--server-side", "-f", "-"}, documents);
    ASSERT_TRUE(outcome) << outcome.error().message;
    EXPECT_EQ(outcome->exit_code, 0) << outcome->error_output;
    EXPECT_THAT(outcome->error_output, Not(HasSubstr("Warning:")));
  }
};

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
  for (const char* name : {"aws", "amd", "health-suite", "konduktor", "dry-run"}) {
    SCOPED_TRACE(name);
    expect_taken(overlay(name));
  }
}

}  // namespace
}  // namespace gpuward::manifests
