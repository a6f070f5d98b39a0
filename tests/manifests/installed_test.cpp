// What `helm install` leaves in a cluster, at work: our programs with the arguments, the files, the
// accounts and the rights of their pods, before a real kube-apiserver. No kubelet runs the pods;
// the test runs their commands in its place.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <regex>

#include "core/runtime/clock.h"
#include "tests/fakes/kube_objects.h"
#include "tests/manifests/plane.h"
#include "tests/manifests/tools.h"
#include "tests/places.inc"
#include "tests/support/http_get.h"
#include "tests/support/temp_dir.h"
#include "tests/support/wait.h"

namespace gpuward::manifests {
namespace {

using std::chrono::seconds;
using support::Process;
using support::wait_until;
using ::testing::HasSubstr;

constexpr const char* kWebhookToken = "a-token-that-nobody-guesses-0123456789";

class Installed : public OnPlane {
 protected:
  static void SetUpTestSuite() {
    OnPlane::SetUpTestSuite();
    if (plane_ == nullptr) return;
    must({"create", "-f", "-"}, dump_json(fakes::ready_node("gpu-01")));
    install();
    must({"wait", "--for=condition=Established", "--timeout=60s", "crd/remediations.gpuward.dev"});
  }

  // The pod, bound to gpu-01: its account's tokens then name the node, as a kubelet asks for them.
  static Json bound(Json pod) {
    pod["spec"]["nodeName"] = "gpu-01";
    must({"create", "-f", "-"}, dump_json(pod));
    return pod;
  }
  static std::filesystem::path kubeconfig_of(const Json& pod) {
    std::string token =
        must({"create", "token", string_at(member_at(pod, "spec"), "serviceAccountName"),
              "--namespace=" + string_at(member_at(pod, "metadata"), "namespace"),
              "--bound-object-kind=Pod",
              "--bound-object-name=" + string_at(member_at(pod, "metadata"), "name")});
    token.erase(token.find_last_not_of('\n') + 1);
    return plane_->kubeconfig_for(token);
  }
  // The container's arguments, with what its volumes hold in `folder`.
  static std::vector<std::string> arguments_of(const Json& pod,
                                               const std::filesystem::path& folder) {
    std::vector<std::string> out;
    const Json& container = member_at(member_at(pod, "spec"), "containers").at(0);
    for (const Json& one : member_at(container, "args")) {
      out.push_back(std::regex_replace(
          one.get<std::string>(), std::regex("/etc/gpuward(-webhook)?/"), folder.string() + "/"));
    }
    return out;
  }
  // Every key of a ConfigMap as a file.
  static void mount(const Json& config_map, const support::TempDir& folder) {
    for (const auto& [name, text] : member_at(config_map, "data").items())
      folder.write(name, text.get<std::string>());
  }

  static std::unique_ptr<Process> spawn(std::vector<std::string> argv,
                                        const std::vector<std::string>& arguments,
                                        std::map<std::string, std::string> env) {
    argv.insert(argv.begin() + 1, arguments.begin(), arguments.end());
    auto process = Process::spawn({.argv = std::move(argv), .env = std::move(env)});
    EXPECT_TRUE(process) << process.error().message;
    return process ? *std::move(process) : nullptr;
  }
};

// As the namespaces of the plain YAML say (Pod Security): the remediator's is restricted, the
// exporter's lets privileged pods in.
TEST_F(Installed, PodsAreAllowedInTheirNamespaces) {
  must({"label", "namespace", "gpuward", "pod-security.kubernetes.io/enforce=restricted"});
  const std::vector<std::vector<std::string>> owners = {
      {"get", "deployment", "gpuward-remediator", "--namespace=gpuward"},
      {"get", "daemonset", "gpuward-exporter", "--namespace=gpu-healthcheck"}};
  for (const auto& owner : owners)
    must({"create", "--dry-run=server", "-f", "-"}, dump_json(pod_of(object(owner))));
}

// To apply the switch again would undo a stop: the chart asks the cluster what it says.
TEST_F(Installed, AnUpgradeDoesNotUndoAStop) {
  const std::vector<std::string> name = {"configmap", "gpuward-remediator-switch",
                                         "--namespace=gpuward"};
  const auto say = [&name](const std::string& word) {
    std::vector<std::string> patch = {"patch"};
    patch.insert(patch.end(), name.begin(), name.end());
    patch.insert(patch.end(), {"--type=merge", R"(--patch={"data":{"stop":")" + word + R"("}})"});
    must(patch);
  };
  say("true");
  install();
  std::vector<std::string> get = {"get"};
  get.insert(get.end(), name.begin(), name.end());
  EXPECT_EQ(string_at(member_at(object(get), "data"), "stop"), "true");
  say("false");
}

TEST_F(Installed, TheRemediatorObservesAnAlertAndExplainsIt) {
  const support::TempDir folder;
  const Json pod =
      bound(pod_of(object({"get", "deployment", "gpuward-remediator", "--namespace=gpuward"})));
  mount(object({"get", "configmap", "gpuward-remediator", "--namespace=gpuward"}), folder);
  folder.write("token", kWebhookToken);
  const std::string kubeconfig = kubeconfig_of(pod).string();
  const auto remediator =
      spawn({GPUWARD_BIN_DIR "/gpuward-remediator", "--kubeconfig=" + kubeconfig,
             "--web.listen-address=127.0.0.1:0", "--web.telemetry-address=127.0.0.1:0"},
            arguments_of(pod, folder.path()), {{"POD_NAMESPACE", "gpuward"}, {"POD_NAME", "one"}});
  const Json alert = {
      {"status", "firing"},
      {"labels", {{"alertname", "Bad"}, {"node", "gpu-01"}, {"remediation", "reboot"}}},
      {"startsAt", to_rfc3339(lasting_clock().wall())},
      {"fingerprint", "ab12"}};
  const std::string body = dump_json({{"version", "4"}, {"alerts", Json::array({alert})}});
  const support::HeaderList headers = {{"Content-Type", "application/json"},
                                       {"Authorization", std::string("Bearer ") + kWebhookToken}};
  const auto is_taken = [&] {
    static const std::regex kServed("Webhook is served[^\n]* port=([0-9]+)");
    const std::string log = remediator->error_output();
    std::smatch found;
    return std::regex_search(log, found, kServed) &&
           support::http_post("http://127.0.0.1:" + found[1].str() + "/api/v1/alerts", body,
                              headers)
                   .status == 200;
  };
  ASSERT_TRUE(wait_until(is_taken, seconds(60), "the alert is taken"))
      << remediator->error_output();
  EXPECT_TRUE(wait_until(
      [] { return must({"get", "remediations"}).find(" Observed ") != std::string::npos; },
      seconds(60), "phase Observed"))
      << remediator->error_output();
  const auto explained = Process::run(
      {.argv = {GPUWARD_BIN_DIR "/gpuwardctl", "explain", "gpu-01", "--kubeconfig=" + kubeconfig}});
  ASSERT_TRUE(explained);
  EXPECT_THAT(explained->output, HasSubstr("observe"));
  EXPECT_FALSE(fakes::has_taint(object({"get", "node", "gpu-01"}), "gpuward.dev/remediation"));
}

TEST_F(Installed, TheExporterSaysOnItsNodeWhatItFoundAndTaintsNothing) {
  const support::TempDir folder;
  const Json pod = bound(
      pod_of(object({"get", "daemonset", "gpuward-exporter", "--namespace=gpu-healthcheck"})));
  mount(object({"get", "configmap", "gpuward-exporter", "--namespace=gpu-healthcheck"}), folder);
  folder.write(
      "kernel.log",
      "NVRM: Xid (PCI:0000:4e:00): 79, pid='<unknown>', name=<unknown>, GPU has fallen off "
      "the bus.\n");
  folder.write("gpus.yaml", "gpus: [{pci: \"0000:4e:00.0\", uuid: GPU-1}]\n");
  // Ours at the end win over the pod's: this machine is no node with GPUs.
  std::vector<std::string> arguments = arguments_of(pod, folder.path());
  arguments.insert(
      arguments.end(),
      {"--path.sysfs=/sys", "--kernel-log.path=" + (folder / "kernel.log").string(),
       "--gpu.simulate=" + (folder / "gpus.yaml").string(),
       "--state.path=" + (folder / "state").string(), "--web.listen-address=127.0.0.1:0",
       "--kubeconfig=" + kubeconfig_of(pod).string()});
  const auto exporter = spawn({GPUWARD_BIN_DIR "/gpuward-exporter"}, arguments,
                              {{"NODE_NAME", "gpu-01"}, {"AWS_EC2_METADATA_DISABLED", "true"}});
  const auto says_it_failed = [] {
    return fakes::label_of(object({"get", "node", "gpu-01"}),
                           "gpu-healthcheck.aws-samples.io/status") == "fail";
  };
  EXPECT_TRUE(wait_until(says_it_failed, seconds(60), "the label")) << exporter->error_output();
  EXPECT_FALSE(fakes::has_taint(object({"get", "node", "gpu-01"}),
                                "gpu-healthcheck.aws-samples.io/unhealthy"));
}

}  // namespace
}  // namespace gpuward::manifests
