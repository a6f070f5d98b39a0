// The end of a machine by the real program on a real kube-apiserver, under the shipped rights. The
// test plays Karpenter or the cloud: it lets the NodeClaim and the Node go.
#include <gmock/gmock.h>

#include <filesystem>
#include <string>

#include "core/kube/connection.h"
#include "remediator/act/cloud/kubernetes_provider.h"
#include "tests/fakes/node_claim.h"
#include "tests/support/permits.h"
#include "tests/support/require.h"
#include "tests/support/rights.h"
#include "tests/support/temp_dir.h"
#include "tests/unit/remediator/plane_hands.h"
#include "tests/unit/remediator/remediation_stage.h"

namespace gpuward::remediator {
namespace {

using ::testing::IsEmpty;

const std::string kStageClaim = std::string(fakes::kNodeClaims) + "/claim-1";
constexpr const char* kAttachments = "/apis/storage.k8s.io/v1/volumeattachments";

Json volume_attachment(const std::string& name) {
  return {{"apiVersion", "storage.k8s.io/v1"},
          {"kind", "VolumeAttachment"},
          {"metadata", {{"name", name}}},
          {"spec",
           {{"attacher", "ebs.csi.aws.com"},
            {"nodeName", kStageNode},
            {"source", {{"persistentVolumeName", "data-1"}}}}}};
}

class TerminateOnControlPlane : public ::testing::Test {
 protected:
  void SetUp() override {
    GPUWARD_REQUIRE_IN(kLanding, support::ControlPlane::why_unavailable());
    support::ControlPlaneOptions options;
    options.apiserver_flags = audit_.apiserver_flags();
    hands_ = std::make_unique<PlaneHands>(std::move(options));
  }
  void make_stage(const std::string& machines = {}) {
    stage_ = std::make_unique<RemediationStage>(
        *hands_, StageOptions{.plan = "[taint, cordon, drain, terminate]",
                              .severity = "isolate",
                              .more_policy = machines});
  }
  void bind_role_of_terminate() {
    run_kubectl({"apply", "-f", GPUWARD_SOURCE_DIR "/manifests/remediator-terminate-rbac.yaml"});
    run_kubectl({"create", "clusterrolebinding", "gpuward-remediator-terminate",
                 "--clusterrole=gpuward-remediator-terminate",
                 "--serviceaccount=gpuward:gpuward-remediator"});
    ASSERT_TRUE(support::is_soon_allowed(hands_->plane(), {.user = kRemediatorUser,
                                                           .verb = "delete",
                                                           .group = "karpenter.sh",
                                                           .resource = "nodeclaims",
                                                           .subresource = "",
                                                           .ns = "",
                                                           .name = ""}));
  }
  void start_with_node_claim() {
    define("nodeclaims.karpenter.sh", fakes::node_claim_definition());
    make_stage();
    const Json node = stage_->node();
    const Json claim = hands_->create(
        fakes::kNodeClaims, fakes::node_claim("claim-1", string_at(node["spec"], "providerID")));
    hands_->patch(kStageNodePath,
                  fakes::owned_by_node_claim("claim-1", string_at(claim["metadata"], "uid")));
    stage_->start();
  }
  void approve() {
    ASSERT_TRUE(says("waits for approval"));
    const Json status = stage_->status();
    const auto said =
        stage_->say({"approve", kStageNode, string_at(member_at(status, "approval"), "token")});
    ASSERT_EQ(said.exit_code, 0) << said.error_output;
  }
  // Removes the Node, as the cloud's controller does once the machine is gone.
  void expect_replaced() {
    ASSERT_TRUE(says("waiting for the Node to be deleted"));
    hands_->remove(kStageNodePath);
    ASSERT_TRUE(stage_->play_until([&] { return stage_->phase() == "Replaced"; }))
        << stage_->phase() << ": " << stage_->message();
  }
  void expect_each_verb_is_needed(const std::string& role) {
    const std::string path = "/apis/rbac.authorization.k8s.io/v1/clusterroles/" + role;
    const auto needless = support::needless_verbs(hands_->plane(), path, audit_.asked());
    ASSERT_TRUE(needless) << needless.error().message;
    EXPECT_THAT(*needless, IsEmpty());
  }
  void define(const std::string& name, const Json& definition) {
    hands_->create(fakes::kDefinitions, definition);
    run_kubectl({"wait", "--for=condition=Established", "--timeout=30s", "crd/" + name});
  }
  // Ends the machine as the program does for a node that a Machine owns.
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
  bind_role_of_terminate();
  start_with_node_claim();
  approve();
  ASSERT_TRUE(stage_->play_until([&] { return claim_is_ending(); })) << stage_->message();
  stage_->kill_process();
  stage_->start_anew();
  ASSERT_TRUE(says("waiting for the machine to terminate"));
  hands_->patch(kStageClaim, {{"metadata", {{"finalizers", nullptr}}}});

  expect_replaced();
  EXPECT_TRUE(stage_->play_until([&] { return stage_->slots_held() == 0; }));
  EXPECT_TRUE(stage_->calls().empty()) << "nobody else was asked";
  end_machine_of("cluster.x-k8s.io", "v1beta1");
  end_machine_of("machine.openshift.io", "v1beta1");
  expect_each_verb_is_needed("gpuward-remediator-terminate");
}

// Machines that a program or AWS terminates need no right to delete NodeClaims and Machines.
TEST_F(TerminateOnControlPlane, CallsAProgramWithTheDefaultRights) {
  const support::TempDir folder;
  const std::string called = (folder / "called").string();
  const std::string ends = folder.write("end", "cat >> '" + called + "'\n").string();
  const std::string gone = folder.write("gone", "cat > /dev/null\n").string();
  hands_->create(kAttachments, volume_attachment("csi-1"));
  make_stage("  terminate: [/bin/sh, " + ends + "]\n  is_gone: [/bin/sh, " + gone + "]\n");
  stage_->start();
  approve();
  ASSERT_TRUE(says("1 volume is still attached: data-1"));
  EXPECT_FALSE(std::filesystem::exists(called));

  hands_->remove(std::string(kAttachments) + "/csi-1");
  ASSERT_TRUE(stage_->play_until([&] { return std::filesystem::exists(called); }))
      << stage_->message();

  expect_replaced();
  EXPECT_THAT(audit_.refused(), IsEmpty());
  expect_each_verb_is_needed("gpuward-remediator-volumes");
}

}  // namespace
}  // namespace gpuward::remediator
