// The cursor of the logs on a real kube-apiserver, with exactly the rights of the manifests: each
// of them is needed.
#include <gmock/gmock.h>

#include <memory>

#include "core/kube/connection.h"
#include "remediator/inbox/sources/log_cursor.h"
#include "tests/places.inc"
#include "tests/support/control_plane.h"
#include "tests/support/require.h"
#include "tests/support/rights.h"

namespace gpuward::remediator {
namespace {

using ::testing::IsEmpty;

constexpr const char* kCursorToken = "remediator-token-0123456789";
constexpr const char* kCursorUser = "system:serviceaccount:gpuward:gpuward-remediator";

TEST(LogCursorOnControlPlane, IsWrittenByOneAtATimeWithEveryRightOfItsManifest) {
  GPUWARD_REQUIRE_IN(kLanding, support::ControlPlane::why_unavailable());
  const support::RightsAudit audit({kCursorUser});
  support::ControlPlaneOptions options;
  options.apiserver_flags = audit.apiserver_flags();
  options.users.push_back(
      {kCursorToken, kCursorUser, {"system:serviceaccounts", "system:serviceaccounts:gpuward"}});
  const auto plane = support::ControlPlane::start(std::move(options));
  ASSERT_TRUE(plane) << plane.error().message;
  for (const char* file : {"remediator-rbac.yaml", "remediator-loki-rbac.yaml"}) {
    const auto applied = (*plane)->apply(std::string(GPUWARD_SOURCE_DIR "/manifests/") + file);
    ASSERT_TRUE(applied) << applied.error().message;
  }
  ASSERT_TRUE(support::is_soon_allowed(**plane, {.user = kCursorUser,
                                                 .verb = "get",
                                                 .group = "",
                                                 .resource = "configmaps",
                                                 .subresource = "",
                                                 .ns = "gpuward",
                                                 .name = "gpuward-log-cursor"}));
  auto config = kube::find_cluster((*plane)->kubeconfig_for(kCursorToken).string(), "");
  ASSERT_TRUE(config) << config.error().message;
  SystemClock clock;
  kube::Connection connection(*std::move(config), "test", clock);
  const auto api = connection.make_api({});
  LogCursor first(*api, "gpuward"), second(*api, "gpuward");

  const auto empty = first.load();
  ASSERT_TRUE(empty) << empty.error().message;
  EXPECT_THAT(*empty, IsEmpty());
  ASSERT_TRUE(first.save({{"kernel", 7}}));
  ASSERT_TRUE(second.load());
  ASSERT_TRUE(first.save({{"kernel", 8}}));
  const auto late = second.save({{"kernel", 9}});
  ASSERT_FALSE(late);
  EXPECT_EQ(late.error().kind, ErrorKind::kConflict);
  EXPECT_EQ(second.load()->at("kernel"), 8);

  EXPECT_THAT(audit.refused(), IsEmpty());
  const auto needless = support::needless_verbs(
      **plane,
      "/apis/rbac.authorization.k8s.io/v1/namespaces/gpuward/roles/gpuward-remediator-loki",
      audit.asked());
  ASSERT_TRUE(needless) << needless.error().message;
  EXPECT_THAT(*needless, IsEmpty());
}

}  // namespace
}  // namespace gpuward::remediator
