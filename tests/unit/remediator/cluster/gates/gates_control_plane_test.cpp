// Leading and reading the switch on a real kube-apiserver, with exactly the rights of
// manifests/remediator-rbac.yaml.
#include <gmock/gmock.h>

#include <memory>

#include "core/kube/connection.h"
#include "core/kube/leader.h"
#include "core/runtime/clock.h"
#include "remediator/cluster/gates/stop_switch.h"
#include "tests/places.inc"
#include "tests/support/control_plane.h"
#include "tests/support/require.h"
#include "tests/support/wait.h"

namespace gpuward::remediator {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

constexpr const char* kAccountToken = "remediator-token-0123456789";
constexpr const char* kNamespace = "gpuward";
constexpr const char* kLeaseName = "gpuward-remediator";
constexpr const char* kLedger = "gpuward-ledger";

class GatesOnControlPlane : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    if (!support::ControlPlane::why_unavailable().empty()) return;
    support::ControlPlaneOptions options;
    options.users.push_back({kAccountToken,
                             "system:serviceaccount:gpuward:gpuward-remediator",
                             {"system:serviceaccounts", "system:serviceaccounts:gpuward"}});
    auto plane = support::ControlPlane::start(std::move(options));
    ASSERT_TRUE(plane) << plane.error().message;
    plane_ = std::move(*plane);
    for (const char* file : {"remediator-rbac.yaml", "remediator-switch.yaml", "remediator.yaml"}) {
      const auto applied = plane_->apply(std::string(GPUWARD_SOURCE_DIR "/manifests/") + file);
      ASSERT_TRUE(applied) << applied.error().message;
    }
  }
  static void TearDownTestSuite() { plane_.reset(); }

  void SetUp() override {
    GPUWARD_REQUIRE_IN(kLanding, support::ControlPlane::why_unavailable());
    auto config = kube::find_cluster(plane_->kubeconfig_for(kAccountToken).string(), "");
    ASSERT_TRUE(config) << config.error().message;
    connection_ = std::make_unique<kube::Connection>(*std::move(config), "test", clock_);
    api_ = connection_->make_api(
        {.request = support::kGenerousRequest, .with_retries = support::kGenerous});
    switch_api_ =
        connection_->make_api({.request = kSwitchReadLimit, .with_retries = kSwitchReadLimit});
  }

  std::string kubectl(std::vector<std::string> arguments) {
    const auto outcome = plane_->kubectl(std::move(arguments));
    return outcome ? outcome->output + outcome->error_output : outcome.error().message;
  }
  std::string set_stop(const std::string& value) {
    return kubectl({"-n", kNamespace, "patch", "configmap", "gpuward-remediator-switch",
                    "--type=merge", "-p", R"({"data":{"stop":")" + value + "\"}}"});
  }
  static kube::LeaderOptions candidate(const std::string& identity) {
    return {.ns = kNamespace, .name = kLeaseName, .identity = identity};
  }
  static kube::ConfigMap config_map(const std::string& name) {
    kube::ConfigMap map;
    map.meta.name = name;
    map.meta.ns = kNamespace;
    return map;
  }

  static inline std::unique_ptr<support::ControlPlane> plane_;
  SystemClock clock_;
  std::unique_ptr<kube::Connection> connection_;
  std::unique_ptr<kube::Api> api_;
  std::unique_ptr<kube::Api> switch_api_;  // with the time limit for reading the switch
};

TEST_F(GatesOnControlPlane, OneReplicaLeadsAndTheOtherFollowsItsEnd) {
  kube::LeaderCandidate second(candidate("b"), *api_, clock_);
  {
    auto own = connection_->make_api({});
    kube::LeaderElection first(candidate("a"), *own, clock_, {});
    ASSERT_TRUE(support::wait_until([&] { return first.is_leader(); }, "the lead"));
    const auto tried = second.try_to_lead();
    EXPECT_TRUE(tried) << tried.error().message;
    EXPECT_FALSE(second.is_leader());
    EXPECT_EQ(second.holder(), "a");
    EXPECT_THAT(kubectl({"-n", kNamespace, "get", "lease", kLeaseName, "-o", "jsonpath={.spec}"}),
                HasSubstr(R"("leaseDurationSeconds":15)"));
  }
  ASSERT_TRUE(second.try_to_lead());
  EXPECT_TRUE(second.is_leader());
  ASSERT_TRUE(second.try_to_lead());
  EXPECT_TRUE(second.give_back());
  EXPECT_FALSE(second.is_leader());
}

TEST_F(GatesOnControlPlane, ALeaseThatSomebodyDeletedIsTakenAgainByItsHolder) {
  kube::LeaderCandidate only(candidate("c"), *api_, clock_);
  ASSERT_TRUE(only.try_to_lead());
  ASSERT_TRUE(only.is_leader());
  ASSERT_THAT(kubectl({"-n", kNamespace, "delete", "lease", kLeaseName}), HasSubstr("deleted"));
  for (int round = 0; round < 2; ++round) (void)only.try_to_lead();
  EXPECT_TRUE(only.is_leader());
  EXPECT_EQ(api_->get_lease(kNamespace, kLeaseName)->holder, "c");
  EXPECT_TRUE(only.give_back());
}

TEST_F(GatesOnControlPlane, TheSwitchIsReadAndStopsAtOnce) {
  StopSwitch stop(*switch_api_, {kNamespace, "gpuward-remediator-switch"});
  const auto shipped = stop.permit();
  EXPECT_TRUE(shipped) << shipped.error().message;
  ASSERT_THAT(set_stop("true"), HasSubstr("patched"));
  EXPECT_EQ(stop.permit().error().kind, ErrorKind::kBlocked);
  ASSERT_THAT(set_stop("false"), HasSubstr("patched"));
  EXPECT_TRUE(stop.permit());
}

TEST_F(GatesOnControlPlane, TheLedgerMayBeMadeReadAndReplaced) {
  auto made = api_->create_config_map(config_map(kLedger));
  ASSERT_TRUE(made) << made.error().message;
  auto read = api_->get_config_map(kNamespace, kLedger);
  ASSERT_TRUE(read) << read.error().message;
  read->data["ledger"] = "{}";
  const auto replaced = api_->update_config_map(*read);
  EXPECT_TRUE(replaced) << replaced.error().message;
}

TEST_F(GatesOnControlPlane, NothingElseOfThatKindMayBeTouched) {
  const auto kind_of = [](const auto& answer) {
    return answer ? ErrorKind::kInternal : answer.error().kind;
  };
  EXPECT_EQ(kind_of(api_->get_config_map(kNamespace, "kube-root-ca.crt")), ErrorKind::kForbidden);
  // The role may read these two, but not write them.
  for (const char* name : {"gpuward-remediator", "gpuward-remediator-switch"}) {
    kube::ConfigMap other = config_map(name);
    other.meta.resource_version = "1";
    EXPECT_EQ(kind_of(api_->update_config_map(other)), ErrorKind::kForbidden) << name;
  }
  EXPECT_EQ(kind_of(api_->get_config_map("default", kLedger)), ErrorKind::kForbidden);
  EXPECT_EQ(kind_of(api_->get_lease(kNamespace, "another")), ErrorKind::kForbidden);
  EXPECT_EQ(kind_of(api_->get_lease("kube-system", kLeaseName)), ErrorKind::kForbidden);
  for (const char* verb : {"delete", "list", "watch", "patch"}) {
    for (const char* resource : {"leases/gpuward-remediator", "configmaps/gpuward-ledger"}) {
      EXPECT_THAT(kubectl({"-n", kNamespace, "auth", "can-i", verb, resource,
                           "--as=system:serviceaccount:gpuward:gpuward-remediator"}),
                  StartsWith("no\n"))
          << verb << " " << resource;
    }
  }
}

TEST_F(GatesOnControlPlane, TwoReplicasAreShippedApartFromEachOther) {
  const std::string spec =
      kubectl({"-n", kNamespace, "get", "deployment", "gpuward-remediator", "-o", "json"});
  EXPECT_THAT(spec, HasSubstr(R"("replicas": 2)"));
  EXPECT_THAT(spec, HasSubstr(R"("topologyKey": "kubernetes.io/hostname")"));
  EXPECT_THAT(spec, HasSubstr(R"("topologyKey": "topology.kubernetes.io/zone")"));
}

}  // namespace
}  // namespace gpuward::remediator
