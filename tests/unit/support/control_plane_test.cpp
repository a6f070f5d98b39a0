#include "tests/support/control_plane.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <iostream>

#include "tests/support/require.h"
#include "tests/support/wait.h"

namespace gpuward::support {
namespace {

using ::testing::HasSubstr;

TEST(ControlPlane, IsARealApiServerWithTokensRolesAndKubectl) {
  GPUWARD_REQUIRE_IN(kLanding, ControlPlane::why_unavailable());
  GPUWARD_REQUIRE_IN(kLanding, why_no_program("kubectl"));
  const auto begin = std::chrono::steady_clock::now();

  const auto plane = ControlPlane::start({.users = {{.token = "nobody-token", .user = "nobody"}}});

  ASSERT_TRUE(plane) << plane.error().message;
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
  std::cout << "ready after " << took.count() << " s\n";

  const auto version = (*plane)->request("GET", "/version");
  ASSERT_TRUE(version) << version.error().message;
  EXPECT_THAT(version->body, HasSubstr("\"gitVersion\""));

  const auto applied =
      (*plane)->apply_text("apiVersion: v1\nkind: Node\nmetadata:\n  name: worker-1\n");
  ASSERT_TRUE(applied) << applied.error().message;
  const auto nodes = (*plane)->kubectl({"get", "nodes"});
  ASSERT_TRUE(nodes) << nodes.error().message;
  EXPECT_THAT(nodes->output, HasSubstr("worker-1"));

  const auto refused = Process::run(
      {.argv = {"kubectl", "--kubeconfig=" + (*plane)->kubeconfig_for("nobody-token").string(),
                "get", "nodes"}});
  ASSERT_TRUE(refused) << refused.error().message;
  EXPECT_NE(refused->exit_code, 0);
  EXPECT_THAT(refused->error_output, HasSubstr("forbidden"));
}

TEST(ControlPlane, RunsControllersIfAsked) {
  GPUWARD_REQUIRE_IN(kLanding, ControlPlane::why_unavailable());
  GPUWARD_REQUIRE_IN(kAll, ControlPlane::why_no_controllers());
  const auto plane = ControlPlane::start({.controller_manager = true});
  ASSERT_TRUE(plane) << plane.error().message;
  const std::string budgets = "/apis/policy/v1/namespaces/default/poddisruptionbudgets";
  const auto created = (*plane)->request(
      "POST", budgets,
      R"({"apiVersion":"policy/v1","kind":"PodDisruptionBudget","metadata":{"name":"b1"},
          "spec":{"minAvailable":1,"selector":{"matchLabels":{"app":"a"}}}})");
  ASSERT_TRUE(created) << created.error().message;

  EXPECT_TRUE(wait_until(
      [&] {
        const auto budget = (*plane)->request("GET", budgets + "/b1");
        return budget && budget->body.find("\"observedGeneration\":1") != std::string::npos;
      },
      "the disruption controller has seen the budget"));
}

}  // namespace
}  // namespace gpuward::support
