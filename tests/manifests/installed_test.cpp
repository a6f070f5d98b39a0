// The state of a cluster after `helm install`, in use: gpuward's programs with the arguments,
// files, accounts and permissions of their pods, on a real kube-apiserver. No kubelet runs the
// pods; the test runs their commands.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <regex>

#include "core/runtime/clock.h"
#include "tests/fakes/kube_objects.h"
#include "tests/manifests/plane.h"
#include "tests/manifests/tools.h"
#include "tests/places.inc"
#include "tests/support/http_get.h"
#include "tests/support/serving_exporter.h"
#include "tests/support/temp_dir.h"
#include "tests/support/wait.h"

namespace gpuward::manifests {
namespace {

using support::Process;
using support::wait_until;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::MatchesRegex;
using ::testing::Not;

class Installed : public OnPlane {
 protected:
  static void SetUpTestSuite() {
    OnPlane::SetUpTestSuite();
    if (plane_ == nullptr) return;
    must({"create", "-f", "-"}, dump_json(fakes::ready_node("gpu-01")));
    install();
    must({"wait", "--for=condition=Established", "--timeout=60s", "crd/remediations.gpuward.dev"});
  }

  // Binds the pod to gpu-01: its account's tokens then name the node, as if a kubelet had requested
  // them.
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
  static std::string token_in(const std::string& ns) {
    return must({"get", "secret", "gpuward-webhook", "--namespace=" + ns,
                 "--output=go-template={{.data.token | base64decode}}"});
  }
  // The container's arguments, with the contents of its volumes in `folder`.
  static std::vector<std::string> arguments_of(const Json& pod,
                                               const std::filesystem::path& folder) {
    std::vector<std::string> out;
    const Json& container = member_at(member_at(pod, "spec"), "containers").at(0);
    for (const Json& one : member_at(container, "args")) {
      const std::string here = std::regex_replace(
          one.get<std::string>(), std::regex("/etc/gpuward(-webhook)?/"), folder.string() + "/");
      // Another test on this machine may use the port.
      out.push_back(
          std::regex_replace(here, std::regex("^(--web.health-address=).*"), "$01127.0.0.1:0"));
    }
    return out;
  }
  // The objects of `helm get hooks`.
  static std::vector<Json> hooks() {
    const auto printed = helm({"get", "hooks", "gpuward", "--namespace=gpuward",
                               "--kubeconfig=" + plane_->kubeconfig().string()});
    std::vector<Json> out;
    for (const std::string& one : documents_of(printed.output))
      if (one.find("\nkind: ") != std::string::npos)
        out.push_back(
            parse_json(must({"create", "--dry-run=client", "-o", "json", "-f", "-"}, one)).value());
    return out;
  }
  // Writes every key of a ConfigMap as a file.
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

  // Runs the pod of the Deployment until the object ends.
  class Remediator {
   public:
    explicit Remediator(const std::string& name) {
      Json pod = pod_of(object({"get", "deployment", "gpuward-remediator", "--namespace=gpuward"}));
      pod["metadata"]["name"] = name;
      pod = bound(pod);
      mount(object({"get", "configmap", "gpuward-remediator", "--namespace=gpuward"}), folder_);
      folder_.write("token", token_in("gpuward"));
      kubeconfig = kubeconfig_of(pod).string();
      process_ = spawn({GPUWARD_BIN_DIR "/gpuward-remediator", "--kubeconfig=" + kubeconfig,
                        "--web.listen-address=127.0.0.1:0", "--web.telemetry-address=127.0.0.1:0"},
                       arguments_of(pod, folder_.path()),
                       {{"POD_NAMESPACE", "gpuward"}, {"POD_NAME", name}});
      EXPECT_TRUE(wait_until([this] { return !port().empty(); }, "the webhook")) << log();
    }
    [[nodiscard]] std::string url() const { return "http://127.0.0.1:" + port(); }
    [[nodiscard]] std::string log() const { return process_->error_output(); }
    std::string kubeconfig;

   private:
    [[nodiscard]] std::string port() const {
      static const std::regex kServed("Webhook is served[^\n]* port=([0-9]+)");
      const std::string text = log();
      std::smatch found;
      return std::regex_search(text, found, kServed) ? found[1].str() : std::string();
    }

    const support::TempDir folder_;
    std::unique_ptr<Process> process_;
  };
};

// The namespaces of the plain YAML set Pod Security: the remediator's is restricted, and the
// exporter's allows privileged pods.
TEST_F(Installed, PodsAreAllowedInTheirNamespaces) {
  must({"label", "namespace", "gpuward", "pod-security.kubernetes.io/enforce=restricted"});
  const std::vector<std::vector<std::string>> owners = {
      {"get", "deployment", "gpuward-remediator", "--namespace=gpuward"},
      {"get", "daemonset", "gpuward-exporter", "--namespace=gpu-healthcheck"}};
  for (const auto& owner : owners)
    must({"create", "--dry-run=server", "-f", "-"}, dump_json(pod_of(object(owner))));
}

// A switch that is applied again would undo a stop: the chart reads its present value from the
// cluster.
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

// Users who select nodes by these labels would find none after an upgrade.
TEST_F(Installed, AnUpgradeKeepsTheNamesOnTheNodes) {
  const std::vector<std::string> config = {"configmap", "gpuward-exporter",
                                           "--namespace=gpu-healthcheck"};
  const auto preset = [&config] {
    std::vector<std::string> get = {"get"};
    get.insert(get.end(), config.begin(), config.end());
    const std::string text = string_at(member_at(object(get), "data"), "config.yaml");
    std::smatch found;
    return std::regex_search(text, found, std::regex("preset: ([a-z-]+)")) ? found[1].str() : text;
  };
  EXPECT_EQ(preset(), "gpuward") << "of a new install";
  // The previous chart, whose default was not written into the file.
  std::vector<std::string> patch = {"patch"};
  patch.insert(patch.end(), config.begin(), config.end());
  patch.insert(patch.end(),
               {"--type=merge", R"(--patch={"data":{"config.yaml":"profile: seed"}})"});
  must(patch);
  install();
  EXPECT_EQ(preset(), "aws-samples");
  install({"--set=exporter.config.node.preset=konduktor"});
  EXPECT_EQ(preset(), "konduktor");
  install();
  EXPECT_EQ(preset(), "konduktor");
  install({"--set=exporter.config.node.preset=gpuward"});
  EXPECT_EQ(preset(), "gpuward");
}

// Another token would lock Alertmanager out.
TEST_F(Installed, TheWebhooksTokenIsMadeOnceAndKept) {
  const std::string made = token_in("gpuward");
  EXPECT_THAT(made, MatchesRegex("[A-Za-z0-9]{64}"));
  must({"create", "namespace", "monitoring"});
  must({"create", "namespace", "others"});
  must({"create", "secret", "generic", "gpuward-webhook", "--namespace=others",
        "--from-literal=token=theirs"});
  install({"--set=remediator.webhook.copyTo={monitoring,others}"});
  EXPECT_EQ(token_in("gpuward"), made);
  EXPECT_EQ(token_in("monitoring"), made);
  EXPECT_EQ(token_in("others"), "theirs");
}

// Its pods would wait for it, and `helm install --wait` would end with a time-out.
TEST_F(Installed, ASecretThatIsNotThereIsNamed) {
  const auto upgrade = [](std::vector<std::string> arguments) {
    arguments.insert(
        arguments.begin(),
        {"upgrade", "gpuward", tree("manifests/chart/gpuward").string(), "--namespace=gpuward",
         "--dry-run=server", "--kubeconfig=" + plane_->kubeconfig().string()});
    return helm(std::move(arguments)).error_output;
  };
  const std::string token = "--set=remediator.webhook.existingSecret=mine";
  const std::string volume =
      R"(--set-json=remediator.volumes=[{"name":"slack","secret":{"secretName":"slack"}}])";
  EXPECT_THAT(upgrade({token}),
              HasSubstr("remediator.webhook.existingSecret names the Secret mine, which the "
                        "namespace gpuward does not have"));
  EXPECT_THAT(upgrade({volume}), HasSubstr("remediator.volumes names the Secret slack"));
  EXPECT_EQ(upgrade({token, volume, "--set=remediator.checkSecrets=false"}), "");
  for (const char* name : {"mine", "slack"})
    must({"create", "secret", "generic", name, "--namespace=gpuward", "--from-literal=token=a"});
  EXPECT_EQ(upgrade({token, volume}), "");

  const std::string web = "--set=exporter.web.tlsSecret=mine,exporter.web.tokenSecret=mine";
  EXPECT_THAT(upgrade({web}), HasSubstr("exporter.web.tlsSecret names the Secret mine, which the "
                                        "namespace gpu-healthcheck does not have"));
  must({"create", "secret", "generic", "mine", "--namespace=gpu-healthcheck",
        "--from-literal=token=a", "--from-literal=tls.crt=a", "--from-literal=tls.key=a"});
  EXPECT_THAT(upgrade({web}), AllOf(HasSubstr("which has nothing under the key ca.crt"),
                                    Not(HasSubstr("key tls.key")), Not(HasSubstr("tokenSecret"))));
  EXPECT_EQ(upgrade({"--set=exporter.web.tokenSecret=mine"}), "");

  must({"create", "secret", "generic", "empty", "--namespace=gpu-healthcheck",
        "--from-literal=token="});
  EXPECT_THAT(upgrade({"--set=exporter.web.tokenSecret=empty"}),
              HasSubstr("which has nothing under the key token"));
  const std::string exporter_alone = "--set=remediator.enabled=false";
  EXPECT_THAT(upgrade({exporter_alone, token, "--set=exporter.web.tokenSecret=absent"}),
              AllOf(HasSubstr("exporter.web.tokenSecret names the Secret absent, which the "
                              "namespace gpu-healthcheck does not have"),
                    Not(HasSubstr("remediator.webhook"))));
  EXPECT_EQ(upgrade({exporter_alone, "--set=exporter.web.tokenSecret=mine"}), "");
}

TEST_F(Installed, TheRemediatorObservesAnAlertAndExplainsIt) {
  const Remediator remediator("observer");
  const Json alert = {
      {"status", "firing"},
      {"labels", {{"alertname", "Bad"}, {"node", "gpu-01"}, {"remediation", "reboot"}}},
      {"startsAt", to_rfc3339(lasting_clock().wall())},
      {"fingerprint", "ab12"}};
  const std::string body = dump_json({{"version", "4"}, {"alerts", Json::array({alert})}});
  const support::HeaderList headers = {{"Content-Type", "application/json"},
                                       {"Authorization", "Bearer " + token_in("gpuward")}};
  const auto is_taken = [&] {
    return support::http_post(remediator.url() + "/api/v1/alerts", body, headers).status == 200;
  };
  ASSERT_TRUE(wait_until(is_taken, "the alert is taken")) << remediator.log();
  EXPECT_TRUE(wait_until(
      [] { return must({"get", "remediations"}).find(" Observed ") != std::string::npos; },
      "phase Observed"))
      << remediator.log();
  const auto explained = Process::run({.argv = {GPUWARD_BIN_DIR "/gpuwardctl", "explain", "gpu-01",
                                                "--kubeconfig=" + remediator.kubeconfig}});
  ASSERT_TRUE(explained);
  EXPECT_THAT(explained->output, HasSubstr("observe"));
  EXPECT_FALSE(fakes::has_taint(object({"get", "node", "gpu-01"}), "gpuward.dev/remediation"));
}

// `helm test`: its pods' commands, with the addresses and the files of this machine.
TEST_F(Installed, TheTestsOfTheChartPass) {
  const Remediator remediator("tested");
  std::map<std::string, Json> pods;
  for (const Json& hook : hooks()) {
    if (string_at(hook, "kind") == "Pod")
      pods[string_at(member_at(hook, "metadata"), "name")] = hook;
    must({"create", "-f", "-"}, dump_json(hook));  // as Pod Security allows it
  }
  ASSERT_EQ(pods.size(), 3);
  const support::TempDir here;
  for (const char* folder : {"scratch", "webhook", "account"})
    std::filesystem::create_directory(here / folder);
  here.write("webhook/token", token_in("gpuward"));
  here.write("account/ca.crt", plane_->ca_pem());
  here.write("account/token", must({"create", "token", "gpuward-test", "--namespace=gpuward"}));
  std::vector<std::pair<std::string, std::string>> places = {
      {"/scratch/", (here / "scratch").string() + "/"},
      {"/run/webhook/", (here / "webhook").string() + "/"},
      {"/var/run/secrets/kubernetes.io/serviceaccount", (here / "account").string()},
      {"http://gpuward-remediator.gpuward.svc:10981", remediator.url()},
      {"127.0.0.1:10980", "127.0.0.1:0"}};
  const auto command_of = [&places](const Json& container) {
    std::vector<std::string> argv = member_at(container, "command");
    for (std::string& word : argv) {
      for (const auto& [theirs, ours] : places) {
        for (auto at = word.find(theirs); at != std::string::npos;
             at = word.find(theirs, at + ours.size()))
          word.replace(at, theirs.size(), ours);
      }
    }
    return argv;
  };
  const std::map<std::string, std::string> env = {
      {"PATH", GPUWARD_BIN_DIR ":/usr/bin:/bin"},
      {"NODE", "gpu-01"},
      {"KUBERNETES_SERVICE_HOST", "127.0.0.1"},
      {"KUBERNETES_SERVICE_PORT", plane_->url().substr(plane_->url().rfind(':') + 1)}};
  const auto run = [&](const Json& container) {
    const auto outcome = Process::run({.argv = command_of(container), .env = env});
    ASSERT_TRUE(outcome) << outcome.error().message;
    EXPECT_EQ(outcome->exit_code, 0) << outcome->output << outcome->error_output;
  };

  const Json& record = member_at(pods["gpuward-test-record"], "spec");
  run(member_at(record, "initContainers").at(0));
  std::vector<std::string> argv = command_of(member_at(record, "initContainers").at(1));
  argv.front() = GPUWARD_BIN_DIR "/gpuward-exporter";
  const auto exporter = spawn(argv, {}, env);
  const auto port = [&] { return support::serving_port(exporter->error_output()); };
  ASSERT_TRUE(wait_until([&] { return port() != 0; }, "the exporter")) << exporter->error_output();
  const std::string metrics = "127.0.0.1:" + std::to_string(port());
  places.back() = {"127.0.0.1:10980", metrics};
  places.emplace_back("gpuward-exporter.gpu-healthcheck.svc:10980", metrics);
  for (const char* name : {"exporter", "webhook", "record"}) {
    SCOPED_TRACE(name);
    run(member_at(member_at(pods["gpuward-test-" + std::string(name)], "spec"), "containers")
            .at(0));
  }
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
  // The test's arguments at the end override the pod's: this machine is not a node with GPUs.
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
    return fakes::label_of(object({"get", "node", "gpu-01"}), "gpuward.dev/status") == "fail";
  };
  EXPECT_TRUE(wait_until(says_it_failed, "the label")) << exporter->error_output();
  EXPECT_FALSE(fakes::has_taint(object({"get", "node", "gpu-01"}), "gpuward.dev/unhealthy"));
}

}  // namespace
}  // namespace gpuward::manifests
