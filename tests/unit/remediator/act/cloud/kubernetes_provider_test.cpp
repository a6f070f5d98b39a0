#include "remediator/act/cloud/kubernetes_provider.h"

#include <gmock/gmock.h>

#include "tests/fakes/node_claim.h"
#include "tests/support/permits.h"
#include "tests/unit/remediator/act/drain/drain_cluster.h"

namespace gpuward::remediator {
namespace {

using ::testing::HasSubstr;

const std::string kInstance = "aws:///us-east-1a/i-1";
const std::string kClaim = std::string(fakes::kNodeClaims) + "/claim-1";

class KubernetesProviderTest : public DrainCluster {
 protected:
  void know_node_claims() { kube_.create(fakes::kDefinitions, fakes::node_claim_definition()); }
  void own(const std::string& instance = kInstance) {
    know_node_claims();
    kube_.create(fakes::kNodeClaims, fakes::node_claim("claim-1", instance));
  }
  static Machine machine() {
    Machine made;
    made.node = "gpu-01";
    made.provider_id = kInstance;
    made.owner = parse_owner("karpenter.sh/v1/nodeclaims//claim-1");
    return made;
  }
  CurrentPolicy policy_{Policy{}};
  ProviderParts parts_{.policy = policy_, .api = api_, .clock = clock_};
  KubernetesProvider provider_{parts_};
};

TEST_F(KubernetesProviderTest, DeletesTheNodeClaimUnderItsUidAndWaitsUntilItIsGone) {
  own();
  EXPECT_EQ(*provider_.fate(machine()), Fate::kRuns);

  ASSERT_TRUE(provider_.terminate(machine(), support::given));

  const auto deletions = kube_.requests("DELETE", kClaim);
  ASSERT_EQ(deletions.size(), 1U);
  EXPECT_EQ(parse_json(deletions[0].body)->at("preconditions").at("uid"),
            kube_.get(kClaim)["metadata"]["uid"]);
  EXPECT_EQ(*provider_.fate(machine()), Fate::kEnding);
  ASSERT_TRUE(provider_.terminate(machine(), support::given));  // its deletion is already under way
  EXPECT_EQ(kube_.requests("DELETE", kClaim).size(), 1U);
  kube_.patch(kClaim, {{"metadata", {{"finalizers", nullptr}}}});
  EXPECT_EQ(*provider_.fate(machine()), Fate::kGone);
  EXPECT_TRUE(provider_.terminate(machine(), support::given));
}

TEST_F(KubernetesProviderTest, DeletesNothingWithoutLeave) {
  own();

  EXPECT_EQ(provider_.terminate(machine(), support::refused).error().kind, ErrorKind::kBlocked);

  EXPECT_TRUE(kube_.requests("DELETE", kClaim).empty());
}

TEST_F(KubernetesProviderTest, LeavesTheNodeClaimOfAnotherInstanceAlone) {
  own("aws:///us-east-1a/i-2");

  const auto asked = provider_.terminate(machine(), support::given);

  ASSERT_FALSE(asked);
  EXPECT_EQ(asked.error().kind, ErrorKind::kRefused);
  EXPECT_THAT(asked.error().message, HasSubstr("NodeClaim claim-1 owns instance aws:///us-east-1a/"
                                               "i-2, and the node runs on " +
                                               kInstance));
  EXPECT_TRUE(kube_.requests("DELETE", "/").empty());
  EXPECT_EQ(*provider_.fate(machine()), Fate::kGone);  // by now the name belongs to another machine
}

// The cluster may be the wrong management cluster, or a user deleted the definition: neither proves
// anything.
TEST_F(KubernetesProviderTest, ProvesNothingIfTheClusterDoesNotKnowTheKind) {
  const auto fate = provider_.fate(machine());

  ASSERT_FALSE(fate);
  EXPECT_THAT(fate.error().message,
              HasSubstr("the cluster has no resource nodeclaims.karpenter.sh"));
  EXPECT_EQ(provider_.terminate(machine(), support::given).error().kind, ErrorKind::kRefused);
  know_node_claims();
  EXPECT_EQ(*provider_.fate(machine()), Fate::kGone);
}

TEST_F(KubernetesProviderTest, SaysWhichRightIsMissing) {
  own();
  kube_.add_fault({.kind = fakes::FaultKind::kForbidden, .method = "DELETE", .times = -1});

  const auto asked = provider_.terminate(machine(), support::given);

  ASSERT_FALSE(asked);
  EXPECT_EQ(asked.error().kind, ErrorKind::kForbidden);
  EXPECT_THAT(asked.error().message, HasSubstr("deleting NodeClaim claim-1"));
}

TEST_F(KubernetesProviderTest, FindsAMachineOfClusterApiInWhateverVersionIsServed) {
  kube_.create("/api/v1/namespaces", {{"metadata", {{"name", "fleet"}}}});
  for (const char* version : {"v1beta1", "v1beta2"}) {
    const std::string definition = std::string(fakes::kDefinitions) + "/machines.cluster.x-k8s.io";
    if (kube_.has(definition)) kube_.remove(definition);
    kube_.create(fakes::kDefinitions, fakes::machine_definition("cluster.x-k8s.io", version));
    const std::string api_version = std::string("cluster.x-k8s.io/") + version;
    kube_.create("/apis/" + api_version + "/namespaces/fleet/machines",
                 fakes::machine_object(api_version, "m-1", kInstance));
    Machine owned = machine();
    owned.owner = parse_owner("cluster.x-k8s.io/v1beta1/machines/fleet/m-1");

    EXPECT_EQ(*provider_.fate(owned), Fate::kRuns) << version;
    EXPECT_TRUE(provider_.terminate(owned, support::given)) << version;
    EXPECT_EQ(*provider_.fate(owned), Fate::kGone) << version;
  }
}

TEST(MachineOwner, IsReadFromWhatControllersWriteOnTheNode) {
  kube::Node node;
  EXPECT_FALSE(owner_of(node));
  node.meta.annotations = {{"machine.openshift.io/machine", "openshift-machine-api/m-1"}};
  EXPECT_EQ(owner_of(node)->words(), "Machine openshift-machine-api/m-1");
  node.meta.annotations = {{"cluster.x-k8s.io/machine", "m-2"}};
  EXPECT_FALSE(owner_of(node)) << "without its namespace nobody can find it";
  node.meta.annotations["cluster.x-k8s.io/cluster-namespace"] = "fleet";
  EXPECT_EQ(to_string(*owner_of(node)), "cluster.x-k8s.io/v1beta1/machines/fleet/m-2");
  node.owners = {{.api_version = "v1", .kind = "NodeClaim", .name = "no", .uid = "u"},
                 {.api_version = "karpenter.sh/v1", .kind = "NodeClaim", .name = "c", .uid = "u"}};
  EXPECT_EQ(to_string(*owner_of(node)), "karpenter.sh/v1/nodeclaims//c");
  EXPECT_EQ(owner_of(node)->words(), "NodeClaim c");
}

TEST(MachineOwner, SurvivesTheWayThroughTheFacts) {
  for (const char* text : {"karpenter.sh/v1/nodeclaims//c", "g/v/machines/ns/m"}) {
    EXPECT_EQ(to_string(*parse_owner(text)), text);
  }
  for (const char* text : {"", "a", "a/b/c/d", "a/b/c/d/e/f", "/b/c/d/e", "a/b//d/e", "a/b/c/d/"}) {
    EXPECT_FALSE(parse_owner(text)) << text;
  }
}

}  // namespace
}  // namespace gpuward::remediator
