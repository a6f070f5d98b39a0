// A real kube-apiserver that one suite of tests shares, with kubectl and helm as its admin.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "core/runtime/json.h"
#include "tests/support/control_plane.h"

namespace gpuward::manifests {

class OnPlane : public ::testing::Test {
 protected:
  static void SetUpTestSuite();
  static void TearDownTestSuite() { plane_.reset(); }
  void SetUp() override;

  // The output of kubectl; an exit code other than 0 fails the test.
  static std::string must(std::vector<std::string> arguments, const std::string& input = {});
  // The object that `kubectl ARGUMENTS -o json` returns.
  [[nodiscard]] static Json object(std::vector<std::string> arguments);
  // helm upgrade --install of the chart, in namespace gpuward.
  static void install(const std::vector<std::string>& arguments = {});

  static std::unique_ptr<support::ControlPlane> plane_;
};

// The pod of a Deployment or DaemonSet, as its controller would make it.
[[nodiscard]] Json pod_of(const Json& owner);

}  // namespace gpuward::manifests
