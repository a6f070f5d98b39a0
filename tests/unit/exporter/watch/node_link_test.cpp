#include "exporter/watch/node_link.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "exporter/publish/node/node_keys.h"
#include "tests/fakes/fake_api_server.h"
#include "tests/fakes/kube_objects.h"
#include "tests/support/temp_dir.h"

namespace gpuward::exporter {
namespace {

using ::testing::HasSubstr;
using ::testing::Optional;

class AskForMaintenance : public ::testing::Test {
 protected:
  AskForMaintenance() {
    kube().create("/api/v1/nodes", fakes::ready_node("gpu-01"));
    flags_.node_name = "gpu-01";
    flags_.kubeconfig = folder_.write("kubeconfig", server_->kubeconfig()).string();
  }
  fakes::FakeKube& kube() { return server_->kube(); }

  SystemClock clock_;
  std::unique_ptr<fakes::FakeApiServer> server_ = fakes::FakeApiServer::start(clock_).value();
  support::TempDir folder_;
  Flags flags_;
};

TEST_F(AskForMaintenance, NobodyHasANodeWithoutMarks) {
  EXPECT_EQ(ask_for_maintenance(flags_, clock_)(), std::nullopt);
}

TEST_F(AskForMaintenance, AQuarantineOrASweepHasTheNodeThatBearsItsMarkNow) {
  const auto ask = ask_for_maintenance(flags_, clock_);
  for (const NodeNames& names : kAllNodeNames) {
    SCOPED_TRACE(names(NodeName::kMode));
    const auto mode = [&](const Json& value) {
      return Json{{"metadata", {{"labels", {{names(NodeName::kMode), value}}}}}};
    };
    kube().patch("/api/v1/nodes/gpu-01", mode("quarantine"));
    EXPECT_THAT(ask(), Optional(HasSubstr("quarantine")));
    kube().patch("/api/v1/nodes/gpu-01", mode(nullptr));
    EXPECT_EQ(ask(), std::nullopt);

    const Json taint = {
        {"key", names(NodeName::kMaintenance)}, {"value", "sweep"}, {"effect", "NoSchedule"}};
    kube().patch("/api/v1/nodes/gpu-01", {{"spec", {{"taints", Json::array({taint})}}}});
    EXPECT_THAT(ask(), Optional(HasSubstr("maintenance")));
    kube().patch("/api/v1/nodes/gpu-01", {{"spec", {{"taints", nullptr}}}});
  }
}

TEST_F(AskForMaintenance, WhoCannotBeAskedMayHaveIt) {
  flags_.node_name = "gpu-02";
  EXPECT_THAT(ask_for_maintenance(flags_, clock_)(), Optional(HasSubstr("cannot tell")));
  flags_.kubeconfig = "/nowhere";
  EXPECT_THAT(ask_for_maintenance(flags_, clock_)(), Optional(HasSubstr("cannot tell")));
}

TEST_F(AskForMaintenance, NobodyIsAskedWithoutANodesName) {
  flags_.node_name.clear();
  EXPECT_FALSE(ask_for_maintenance(flags_, clock_));
}

}  // namespace
}  // namespace gpuward::exporter
