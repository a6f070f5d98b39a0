#include "remediator/act/proof_reader.h"

#include "tests/unit/remediator/act/cluster_fixture.h"

namespace gpuward::remediator {
namespace {

using std::chrono::hours;
using std::chrono::minutes;
using std::chrono::seconds;
using ::testing::HasSubstr;
using ::testing::SizeIs;

class KnownNodes final : public NodeSigns {
 public:
  std::vector<NodeSign> signs(WallTime) const override { return nodes; }
  bool is_current(Clock::Steady) const override { return current; }
  std::vector<NodeSign> nodes;
  bool current = true;
};

class NoCloud final : public CloudProvider {
 public:
  bool can(MachineAction, const Machine&) const override { return false; }
  Status reboot(const Machine&, const Permit&) override { return {}; }
  Status terminate(const Machine&, const Permit&) override { return {}; }
  Result<MachineFate> fate(const Machine&) override { return Fate::kRuns; }
  MachineProofs proofs(const Machine&) override { return answer; }
  MachineProofs answer;
};

class ProofReaderTest : public ClusterTest {
 protected:
  ProofReaderTest() {
    Policy policy;
    policy.silent.is_on = true;
    policy_.set(policy);
    clock_.advance(hours(48));
    for (int i = 1; i < 9; ++i) {
      NodeSign& sign = nodes_.nodes.emplace_back();
      sign.node = "gpu-0" + std::to_string(i);
      sign.ready = i == 1 ? "Unknown" : "True";
      sign.since = clock_.wall() - (i == 1 ? hours(1) : hours(20));
      lease(sign.node, i == 1 ? minutes(60) : seconds(3));
    }
    const Json condition = {{"type", "Ready"}, {"status", "Unknown"}};
    kube_.patch_status("/api/v1/nodes/gpu-01",
                       {{"status", {{"conditions", Json::array({condition})}}}});
  }
  void lease(const std::string& name, seconds ago) {
    const std::string all = "/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases";
    const Json spec = {{"renewTime", to_rfc3339(clock_.wall() - ago)}};
    if (kube_.has(all + "/" + name)) {
      kube_.patch(all + "/" + name, {{"spec", spec}});
    } else {
      kube_.create(all, {{"metadata", {{"name", name}}}, {"spec", spec}});
    }
  }
  std::string why_not() {
    const auto proofs = reader_.read(node());
    return proofs ? "" : proofs.error().message;
  }
  KnownNodes nodes_;
  NoCloud cloud_;
  ProofReader reader_{{.api = api_,
                       .nodes = nodes_,
                       .policy = policy_,
                       .scrapes = nullptr,
                       .machines = cloud_,
                       .clock = clock_}};
};

TEST_F(ProofReaderTest, GathersWhatEachSourceSays) {
  cloud_.answer = {{ProofKind::kPower, ProofSign::kDown, clock_.wall(), "the power is off", true}};

  const auto proofs = reader_.read(node());

  ASSERT_TRUE(proofs) << proofs.error().message;
  ASSERT_THAT(*proofs, SizeIs(2));
  EXPECT_EQ((*proofs)[0].kind, ProofKind::kScrapes);
  EXPECT_EQ((*proofs)[0].sign, ProofSign::kUnknown) << "no Prometheus is configured";
  EXPECT_EQ((*proofs)[1].words, "the power is off");
}

// If a partition cuts off other nodes too, they fall silent in that time.
TEST_F(ProofReaderTest, WaitsUntilTheProofsHaveStoodForAWhile) {
  const auto look = [&](bool is_down = true) {
    clock_.advance(seconds(30));
    for (int i = 2; i < 9; ++i) lease("gpu-0" + std::to_string(i), seconds(3));
    cloud_.answer = {
        {ProofKind::kPower, ProofSign::kDown, clock_.wall(), "the power is off", true}};
    if (is_down)
      cloud_.answer.push_back(
          {ProofKind::kCloud, ProofSign::kDown, clock_.wall(), "impaired", false});
    return why_not();
  };
  for (int i = 0; i < 3; ++i) EXPECT_THAT(look(), HasSubstr("must hold for 2m"));
  EXPECT_EQ(look(false), "");  // one proof alone: the decision judges it
  for (int i = 0; i < 4; ++i) EXPECT_THAT(look(), HasSubstr("must hold for 2m"));
  EXPECT_EQ(look(), "");
  clock_.advance(minutes(2));  // no look happened meanwhile
  EXPECT_THAT(look(), HasSubstr("must hold for 2m"));
}

TEST_F(ProofReaderTest, RefusesIfTheKubeletRenewsItsLease) {
  lease("gpu-01", seconds(20));
  EXPECT_THAT(why_not(), HasSubstr("the kubelet is still renewing the node's Lease"));
}

TEST_F(ProofReaderTest, RefusesIfTheLeaseCannotBeRead) {
  kube_.add_fault({.method = "GET", .path = ".*/leases/gpu-01", .times = 5});
  EXPECT_THAT(why_not(), HasSubstr("the node's Lease cannot be read"));
}

// The nodes are silent before Kubernetes reports it.
TEST_F(ProofReaderTest, RefusesIfTheLeasesOfManyAreNotRenewed) {
  lease("gpu-02", seconds(90));
  EXPECT_THAT(why_not(), HasSubstr("2 of 8 GPU nodes of the fleet are silent"));
}

TEST_F(ProofReaderTest, RefusesIfManyAreSilent) {
  nodes_.nodes[3].ready = "Unknown";
  EXPECT_THAT(why_not(), HasSubstr("this looks like a network partition"));
}

TEST_F(ProofReaderTest, RefusesWhileTheApiServerIsNotHeard) {
  nodes_.current = false;
  EXPECT_THAT(why_not(), HasSubstr("no recent contact with the API server"));
}

TEST_F(ProofReaderTest, RefusesIfThePolicyHasNoSectionAnyMore) {
  policy_.set(Policy());
  EXPECT_THAT(why_not(), HasSubstr("no longer has the section `silent`"));
}

TEST_F(ProofReaderTest, RefusesIfTheNodeIsReadyAgain) {
  const Json condition = {{"type", "Ready"}, {"status", "True"}};
  kube_.patch_status("/api/v1/nodes/gpu-01",
                     {{"status", {{"conditions", Json::array({condition})}}}});
  EXPECT_THAT(why_not(), HasSubstr("Ready again"));
}

}  // namespace
}  // namespace gpuward::remediator
