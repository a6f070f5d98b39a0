// The real gpuward-remediator as a child process, against the fake API server over a socket. Base
// of the process tests, which see it as an Alertmanager and a kubelet would.
#pragma once

#include <gmock/gmock.h>

#include <algorithm>
#include <map>
#include <memory>
#include <regex>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "core/runtime/clock.h"
#include "core/runtime/files.h"
#include "core/runtime/json.h"
#include "remediator/model/node_mark.h"
#include "tests/fakes/fake_api_server.h"
#include "tests/fakes/kube_objects.h"
#include "tests/places.inc"
#include "tests/support/http_get.h"
#include "tests/support/process.h"
#include "tests/support/temp_dir.h"
#include "tests/support/wait.h"
#include "tests/unit/remediator/act/cluster_fixture.h"

namespace gpuward::remediator {

inline constexpr const char* kBinary = GPUWARD_BIN_DIR "/gpuward-remediator";
inline constexpr const char* kCtl = GPUWARD_BIN_DIR "/gpuwardctl";

class RemediatorProcess : public ::testing::Test {
 protected:
  void SetUp() override {
    auto started = fakes::FakeApiServer::start(clock_);
    ASSERT_TRUE(started) << started.error().message;
    server_ = std::move(*started);
    server_->kube().create(kDefinitions, remediation_definition());
    server_->kube().create("/api/v1/nodes", fakes::ready_node("gpu-01"));
    server_->kube().create("/api/v1/namespaces", {{"metadata", {{"name", "gpuward"}}}});
    set_stop("false");
    write("kubeconfig", kubeconfig("fake", {{"fake", server_->url()}}));
    write("token", "old-token-0123456789\nsesame-open-0123456789\n");
  }

  // Sets the switch that stops every step.
  void set_stop(const std::string& value) {
    const std::string all = "/api/v1/namespaces/gpuward/configmaps";
    const Json data = {{"stop", value}};
    if (server_->kube().has(all + "/gpuward-remediator-switch")) {
      server_->kube().patch(all + "/gpuward-remediator-switch", {{"data", data}});
    } else {
      server_->kube().create(
          all, {{"metadata", {{"name", "gpuward-remediator-switch"}}}, {"data", data}});
    }
  }

  // Returns a kubeconfig with a context for each server. Context and cluster have the name of the
  // server.
  static std::string kubeconfig(const std::string& current,
                                const std::map<std::string, std::string>& servers) {
    std::string clusters, contexts;
    for (const auto& [name, url] : servers) {
      clusters += "- {name: " + name + ", cluster: {server: \"" + url + "\"}}\n";
      contexts += "- {name: " + name + ", context: {cluster: " + name + ", user: me}}\n";
    }
    return "apiVersion: v1\nkind: Config\ncurrent-context: " + current +
           "\nusers: [{name: me, user: {}}]\nclusters:\n" + clusters + "contexts:\n" + contexts;
  }
  std::string path(const std::string& name) { return (folder_.path() / name).string(); }
  void write(const std::string& name, const std::string& text) {
    ASSERT_TRUE(write_file_atomically(path(name), text));
  }

  std::unique_ptr<support::Process> spawn(std::vector<std::string> flags) {
    std::vector<std::string> argv = {kBinary, "--web.listen-address=127.0.0.1:0",
                                     "--web.telemetry-address=127.0.0.1:0",
                                     "--kubeconfig=" + path("kubeconfig"), "--log.format=json"};
    argv.insert(argv.end(), flags.begin(), flags.end());
    auto process = support::Process::spawn({.argv = std::move(argv)});
    EXPECT_TRUE(process);
    return process ? std::move(*process) : nullptr;
  }

  void start(std::vector<std::string> flags = {"--mode=cordon"}) {
    flags.push_back("--web.bearer-token-file=" + path("token"));
    process_ = spawn(std::move(flags));
    const bool serves = support::poll_until(
        [&] { return !process_->running() || port_in("Telemetry is served") != 0; });
    if (!serves || !process_->running()) throw std::runtime_error(process_->error_output());
  }
  void start_ready(std::vector<std::string> flags = {"--mode=cordon"}) {
    start(std::move(flags));
    ASSERT_TRUE(support::wait_until(
        [&] { return support::http_get(telemetry("/readyz")).status == 200; }, "ready"));
  }

  int port_in(const std::string& message) {
    const std::string log = process_->error_output();
    std::smatch match;
    const std::regex line("[^\n]*" + message + "[^\n]*");
    if (!std::regex_search(log, match, line)) return 0;
    const std::string found = match.str();
    const std::regex port("\"port\":\"?([0-9]+)");
    return std::regex_search(found, match, port) ? std::stoi(match[1].str()) : 0;
  }
  std::string telemetry(const std::string& target) {
    return "http://127.0.0.1:" + std::to_string(port_in("Telemetry is served")) + target;
  }
  std::string webhook() {
    return "http://127.0.0.1:" + std::to_string(port_in("Webhook is served")) + "/api/v1/alerts";
  }
  static support::HeaderList credentials(const std::string& token = "sesame-open-0123456789") {
    return {{"Content-Type", "application/json"}, {"Authorization", "Bearer " + token}};
  }
  Json firing(const std::string& node = "gpu-01") {
    return {{"status", "firing"},
            {"labels", {{"alertname", "Bad"}, {"node", node}, {"remediation", "reboot"}}},
            {"annotations", Json::object()},
            {"startsAt", to_rfc3339_ms(clock_.wall())},
            {"endsAt", "0001-01-01T00:00:00Z"},
            {"fingerprint", "ab12"}};
  }
  static std::string notification(const Json& alert, int truncated = 0) {
    return dump_json(
        {{"version", "4"}, {"truncatedAlerts", truncated}, {"alerts", Json::array({alert})}});
  }
  std::string alert() { return notification(firing()); }
  // Alertmanager repeats a notification that got a 503, which a busy machine may cause.
  http::ClientResponse send(const std::string& body, const support::HeaderList& headers) {
    http::ClientResponse answer;
    (void)support::poll_until([&] {
      answer = support::http_post(webhook(), body, headers);
      return answer.status != 503;
    });
    return answer;
  }
  void deliver(const std::string& body) {
    const auto answer = send(body, credentials());
    ASSERT_EQ(answer.status, 200) << answer.body;
  }
  Json spec_of(const std::string& node) {
    return server_->kube().get("/api/v1/nodes/" + node)["spec"];
  }
  bool is_cordoned(const std::string& node = "gpu-01") {
    return spec_of(node).value("unschedulable", false);
  }
  bool is_tainted(const std::string& node = "gpu-01") {
    const Json spec = spec_of(node);
    const Json& taints = member_at(spec, "taints");
    return std::ranges::any_of(taints, [](const Json& taint) { return taint["key"] == kTaintKey; });
  }

  SystemClock clock_;
  support::TempDir folder_;
  std::unique_ptr<fakes::FakeApiServer> server_;
  std::unique_ptr<support::Process> process_;
};

}  // namespace gpuward::remediator
