// The end of a machine by the real program on a real kube-apiserver, under the rights that are
// shipped. The test plays Karpenter: it ends the machine and lets the NodeClaim and the Node go.
#include <gmock/gmock.h>

#include <string>

#include "core/kube/connection.h"
#include "remediator/cloud/kubernetes_provider.h"
#include "tests/fakes/node_claim.h"
#include "tests/support/permits.h"
#include "tests/support/require.h"
#include "tests/support/rights.h"
#include "tests/unit/remediator/plane_hands.h"
#include "tests/unit/remediator/remediation_stage.h"

namespace gpuward::remediator {
namespace {

using ::testing::IsEmpty;

const std::string kStageClaim = std::string(fakes::kNodeClaims) + "/claim-1";

class TerminateOnControlPlane : public ::testing::Test {
 protected:
  void SetUp() override {
    GPUWARD_REQUIRE(support::ControlPlane::why_unavailable());
    support::ControlPlaneOptions options;
    options.apiserver_flags = audit_.apiserver_flags();
    hands_ = std::make_unique<PlaneHands>(std::move(options));
    run_kubectl({"apply", "-f", GPUWARD_SOURCE_DIR "/manifests/remediator-terminate-rbac.yaml"});
    define("nodeclaims.karpenter.sh", fakes::node_claim_definition());
    stage_ = std::make_unique<RemediationStage>(
        *hands_, StageOptions{.plan = "[taint, cordon, drain, terminate]", .severity = "isolate"});
    const Json node = stage_->node();
    const Json claim = hands_->create(
        fakes::kNodeClaims, fakes::node_claim("claim-1", string_at(node["spec"], "providerID")));
    hands_->patch(kStageNodePath,
                  fakes::owned_by_node_claim("claim-1", string_at(claim["metadata"], "uid")));
    stage_->start();
  }
  void define(const std::string& name, const Json& definition) {
    hands_->create(fakes::kDefinitions, definition);
    run_kubectl({"wait", "--for=condition=Established", "--timeout=30s", "crd/" + name});
  }
  // As the program does it for a node that a Machine owns.
  void end_machine_of(const std::string& group, const std::string& version) {
    define("machines." + group, fakes::machine_definition(group, version));
    const std::string api_version = group + "/" + version;
    const std::string provider_id = "aws:///eu-west-1a/i-0123";
    hands_->create("/apis/" + api_version + "/namespaces/default/machines",
                   fakes::machine_object(api_version, "gpu-77", provider_id));
    auto config = kube::find_cluster(hands_->kubeconfig(), "");
    ASSERT_TRUE(config) << config.error().message;
    kube::Connection connection(std::move(*config), "gpuward-tests", lasting_clock());
    const auto api = connection.make_api({});
    CurrentPolicy policy{Policy{}};
    KubernetesProvider provider({.policy = policy, .api = *api, .clock = lasting_clock()});
    Machine machine;
    machine.provider_id = provider_id;
    machine.owner = parse_owner(api_version + "/machines/default/gpu-77");
    EXPECT_EQ(provider.fate(machine).value_or(Fate::kGone), Fate::kRuns);
    const Status ended = provider.terminate(machine, support::given);
    EXPECT_TRUE(ended) << ended.error().message;
    EXPECT_EQ(provider.fate(machine).value_or(Fate::kRuns), Fate::kGone);
  }
  void run_kubectl(const std::vector<std::string>& words) {
    const auto ran = hands_->plane().kubectl(words);
    if (!ran || ran->exit_code != 0) throw std::runtime_error("kubectl " + words[0]);
  }
  ::testing::AssertionResult says(const std::string& words) {
    if (stage_->play_until([&] { return stage_->message().find(words) != std::string::npos; }))
      return ::testing::AssertionSuccess();
    return ::testing::AssertionFailure() << "it says: " << stage_->message() << "\n"
                                         << stage_->log();
  }
  bool claim_is_ending() {
    return hands_->get(kStageClaim)["metadata"].contains("deletionTimestamp");
  }

  support::RightsAudit audit_{{kRemediatorUser}};
  std::unique_ptr<PlaneHands> hands_;
  std::unique_ptr<RemediationStage> stage_;
};

TEST_F(TerminateOnControlPlane, ReplacesANodeUnderTheRoleThatIsBoundForIt) {
  ASSERT_TRUE(says("waits for approval"));
  const Json status = stage_->status();
  const auto said =
      stage_->say({"approve", kStageNode, string_at(member_at(status, "approval"), "token")});
  ASSERT_EQ(said.exit_code, 0) << said.error_output;
  ASSERT_TRUE(says("volumeattachments"));
  EXPECT_FALSE(claim_is_ending());

  run_kubectl({"create", "clusterrolebinding", "gpuward-remediator-terminate",
               "--clusterrole=gpuward-remediator-terminate",
               "--serviceaccount=gpuward:gpuward-remediator"});
  ASSERT_TRUE(stage_->play_until([&] { return claim_is_ending(); })) << stage_->message();
  stage_->kill_process();
  stage_->start_anew();
  ASSERT_TRUE(says("waiting for its machine to end"));
  hands_->patch(kStageClaim, {{"metadata", {{"finalizers", nullptr}}}});
  ASSERT_TRUE(says("waiting for the Node to go"));
  hands_->remove(kStageNodePath);

  ASSERT_TRUE(stage_->play_until([&] { return stage_->phase() == "Replaced"; }))
      << stage_->phase() << ": " << stage_->message();
  EXPECT_TRUE(stage_->play_until([&] { return stage_->slots_held() == 0; }));
  EXPECT_TRUE(stage_->calls().empty()) << "nobody else was asked";
  end_machine_of("cluster.x-k8s.io", "v1beta1");
  end_machine_of("machine.openshift.io", "v1beta1");
  const auto needless = support::needless_verbs(
      hands_->plane(),
      "/apis/rbac.authorization.k8s.io/v1/clusterroles/gpuward-remediator-terminate",
      audit_.asked());
  ASSERT_TRUE(needless) << needless.error().message;
  EXPECT_THAT(*needless, IsEmpty());
}

}  // namespace
}  // namespace gpuward::remediator
