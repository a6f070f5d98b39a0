// The fake as kubectl sees it, the program that operators compare it to.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <thread>

#include "core/runtime/clock.h"
#include "tests/fakes/fake_api_server.h"
#include "tests/fakes/kube_objects.h"
#include "tests/support/kubernetes_parts.h"
#include "tests/support/process.h"
#include "tests/support/require.h"
#include "tests/support/temp_dir.h"
#include "tests/support/wait.h"

namespace gpuward::fakes {
namespace {

using ::testing::AllOf;
using ::testing::ContainsRegex;
using ::testing::HasSubstr;

constexpr const char* kPods = "/api/v1/namespaces/default/pods";

constexpr const char* kDefinition = R"(
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: gadgets.test.gpuward.dev}
spec:
  group: test.gpuward.dev
  scope: Cluster
  names: {plural: gadgets, singular: gadget, kind: Gadget, shortNames: [gg]}
  versions:
  - name: v1
    served: true
    storage: true
    subresources: {status: {}}
    additionalPrinterColumns:
    - {name: Node, type: string, jsonPath: .spec.node}
    - {name: Age, type: date, jsonPath: .metadata.creationTimestamp}
    schema:
      openAPIV3Schema:
        type: object
        properties:
          spec: {type: object, properties: {node: {type: string}, level: {type: string, enum: [low, high]}}}
)";

std::string gadget(const std::string& level) {
  return "apiVersion: test.gpuward.dev/v1\nkind: Gadget\nmetadata: {name: g1}\nspec: {node: "
         "worker-1, level: " +
         level + "}\n";
}

class Kubectl : public ::testing::Test {
 protected:
  void SetUp() override {
    GPUWARD_REQUIRE_IN(kLanding, support::why_no_program("kubectl"));
    auto started = FakeApiServer::start(clock_);
    ASSERT_TRUE(started) << started.error().message;
    server_ = *std::move(started);
    folder_.write("kubeconfig", support::kubeconfig_text(server_->url(), {}, "fake"));
    server_->kube().create("/api/v1/nodes", ready_node("worker-1"));
  }

  support::Process::Outcome run(std::vector<std::string> arguments, std::string input = {}) {
    support::ProcessOptions options;
    options.argv = {"kubectl", "--kubeconfig=" + (folder_ / "kubeconfig").string(),
                    "--cache-dir=" + (folder_ / "cache").string()};
    options.argv.insert(options.argv.end(), arguments.begin(), arguments.end());
    options.input = std::move(input);
    const auto outcome = support::Process::run(std::move(options));
    EXPECT_TRUE(outcome) << outcome.error().message;
    return outcome.value_or(
        support::Process::Outcome{.exit_code = -1, .output = {}, .error_output = {}});
  }

  // Standard output of a run that must succeed.
  std::string good(std::vector<std::string> arguments, std::string input = {}) {
    const auto outcome = run(std::move(arguments), std::move(input));
    EXPECT_EQ(outcome.exit_code, 0) << outcome.error_output;
    return outcome.output;
  }

  Json node() { return server_->kube().get("/api/v1/nodes/worker-1"); }

  SystemClock clock_;
  support::TempDir folder_;
  std::unique_ptr<FakeApiServer> server_;
};

TEST_F(Kubectl, CordonsAndUncordons) {
  EXPECT_THAT(good({"cordon", "worker-1"}), HasSubstr("node/worker-1 cordoned"));
  EXPECT_THAT(good({"get", "nodes"}), HasSubstr("Ready,SchedulingDisabled"));
  EXPECT_EQ(node()["spec"]["unschedulable"], true);

  EXPECT_THAT(good({"uncordon", "worker-1"}), HasSubstr("node/worker-1 uncordoned"));
  EXPECT_FALSE(node()["spec"].contains("unschedulable"));
}

TEST_F(Kubectl, TaintsAndTakesTheTaintAway) {
  EXPECT_THAT(good({"taint", "node", "worker-1", "a.b/c=d:NoSchedule"}), HasSubstr("tainted"));
  EXPECT_EQ(node()["spec"]["taints"][0],
            Json({{"key", "a.b/c"}, {"value", "d"}, {"effect", "NoSchedule"}}));
  EXPECT_NE(run({"taint", "node", "worker-1", "a.b/c=other:NoSchedule"}).exit_code, 0);

  EXPECT_THAT(good({"taint", "node", "worker-1", "a.b/c:NoSchedule-"}), HasSubstr("untainted"));
  EXPECT_FALSE(node()["spec"].contains("taints"));
}

TEST_F(Kubectl, LabelsAndAnnotates) {
  good({"label", "node", "worker-1", "pool=gpu"});
  good({"annotate", "node", "worker-1", "why=because"});

  EXPECT_THAT(good({"get", "nodes", "-l", "pool=gpu", "-o", "name"}), HasSubstr("node/worker-1"));
  EXPECT_EQ(node()["metadata"]["annotations"]["why"], "because");
}

TEST_F(Kubectl, DescribesANodeWithItsEvents) {
  const std::string uid = node()["metadata"]["uid"];
  Json event = {{"metadata", {{"name", "worker-1.1"}}},
                {"reason", "GpuSick"},
                {"message", "Xid 79"},
                {"type", "Warning"},
                {"source", {{"component", "gpuward"}}}};
  event["involvedObject"] = {{"kind", "Node"}, {"name", "worker-1"}, {"uid", uid}};
  server_->kube().create("/api/v1/namespaces/default/events", event);

  EXPECT_THAT(
      good({"describe", "node", "worker-1"}),
      AllOf(HasSubstr("Unschedulable:      false"), ContainsRegex("GpuSick.*gpuward.*Xid 79")));
  EXPECT_THAT(good({"get", "events"}), ContainsRegex("Warning +GpuSick +node/worker-1 +Xid 79"));
}

TEST_F(Kubectl, AppliesADefinitionAndItsObjects) {
  EXPECT_THAT(good({"apply", "-f", "-"}, kDefinition), HasSubstr("created"));
  good({"wait", "--for=condition=established", "crd/gadgets.test.gpuward.dev"});
  EXPECT_THAT(good({"apply", "-f", "-"}, gadget("low")), HasSubstr("created"));
  EXPECT_THAT(good({"apply", "-f", "-"}, gadget("low")), HasSubstr("unchanged"));
  EXPECT_THAT(good({"apply", "-f", "-"}, gadget("high")), HasSubstr("configured"));

  EXPECT_THAT(good({"get", "gg"}), ContainsRegex("NAME +NODE +AGE\ng1 +worker-1 +[0-9]+s"));
  EXPECT_THAT(run({"apply", "-f", "-"}, gadget("none")).error_output,
              HasSubstr("Unsupported value: \"none\""));
  EXPECT_THAT(good({"delete", "gadget", "g1"}), HasSubstr("deleted"));
}

TEST_F(Kubectl, DrainsAPodOnceItsKubeletHasEndedIt) {
  server_->kube().create(kPods, pod("p1", "worker-1"));
  std::jthread kubelet([&](const std::stop_token& stop) {
    while (clock_.sleep_for(std::chrono::milliseconds(20), stop))
      server_->kube().end_terminating_pods();
  });

  EXPECT_THAT(good({"drain", "worker-1", "--force", "--timeout=240s"}),
              HasSubstr("node/worker-1 drained"));
  EXPECT_FALSE(server_->kube().has(std::string(kPods) + "/p1"));
  EXPECT_EQ(server_->kube().requests("POST", std::string(kPods) + "/p1/eviction").size(), 1U);
}

TEST_F(Kubectl, IsStoppedByADisruptionBudget) {
  FakeKube& kube = server_->kube();
  kube.create(kPods, pod("p1", "worker-1", {{"app", "a"}}));
  kube.patch_status(std::string(kPods) + "/p1", running_status());
  const std::string budgets = "/apis/policy/v1/namespaces/default/poddisruptionbudgets";
  kube.create(budgets, budget("b1", {{"app", "a"}}));
  kube.patch_status(budgets + "/b1", budget_status(0));

  const auto drain = run({"drain", "worker-1", "--force", "--timeout=6s"});

  EXPECT_NE(drain.exit_code, 0);
  EXPECT_THAT(drain.error_output, HasSubstr("violate the pod's disruption budget"));
  EXPECT_TRUE(kube.has(std::string(kPods) + "/p1"));
}

TEST_F(Kubectl, WatchesNodesAsATable) {
  support::ProcessOptions options;
  options.argv = {"kubectl",
                  "--kubeconfig=" + (folder_ / "kubeconfig").string(),
                  "--cache-dir=" + (folder_ / "cache").string(),
                  "get",
                  "nodes",
                  "-w"};
  const auto watch = support::Process::spawn(std::move(options));
  ASSERT_TRUE(watch) << watch.error().message;
  const auto shows = [&](const char* text) {
    return [&, text] { return (*watch)->output().find(text) != std::string::npos; };
  };
  ASSERT_TRUE(support::wait_until(shows("worker-1"), "kubectl lists the node"));

  server_->kube().patch("/api/v1/nodes/worker-1", {{"spec", {{"unschedulable", true}}}});

  EXPECT_TRUE(support::wait_until(shows("SchedulingDisabled"), "kubectl shows the cordon"));
}

}  // namespace
}  // namespace gpuward::fakes
