// ClusterHands on the fake API server. Uses its shortcuts for tests, without its faults and its
// log.
#pragma once

#include <chrono>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>

#include "tests/fakes/fake_api_server.h"
#include "tests/support/temp_dir.h"
#include "tests/unit/remediator/act/cluster_fixture.h"
#include "tests/unit/remediator/cluster_hands.h"

namespace gpuward::remediator {

class FakeHands final : public ClusterHands {
 public:
  FakeHands() {
    auto started = fakes::FakeApiServer::start(lasting_clock());
    if (!started) throw std::runtime_error(started.error().message);
    server_ = std::move(*started);
    kube().create(kDefinitions, remediation_definition());
    kube().create("/api/v1/namespaces", {{"metadata", {{"name", "gpuward"}}}});
  }
  fakes::FakeKube& kube() { return server_->kube(); }
  bool has(const std::string& path) override { return kube().has(path); }
  void make_old(const std::string& node) override {
    kube().backdate("/api/v1/nodes/" + node, std::chrono::hours(24));
  }
  std::string kubeconfig() override {
    return folder_.write("kubeconfig", server_->kubeconfig()).string();
  }
  std::string kubeconfig_of_human() override { return kubeconfig(); }

 protected:
  Json ask(const std::string& method, const std::string& path, const Json& body) override {
    if (method == "GET") return kube().get(path);
    if (method == "POST") return kube().create(path, body);
    if (method == "PATCH") return kube().patch(path, body);
    kube().remove(path);
    return nullptr;
  }

 private:
  support::TempDir folder_;
  std::unique_ptr<fakes::FakeApiServer> server_;
};

}  // namespace gpuward::remediator
