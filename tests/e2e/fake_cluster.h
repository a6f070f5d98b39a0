// The fake API server as a Cluster. Used by the demo and by the e2e test of a node on AWS, which
// plays kubelet and cloud controller through kube().
#pragma once

#include <filesystem>
#include <memory>
#include <string>

#include "core/runtime/clock.h"
#include "tests/e2e/cluster.h"
#include "tests/fakes/fake_api_server.h"

namespace gpuward::e2e {

class FakeCluster final : public Cluster {
 public:
  // Keeps its kubeconfig in `folder`.
  explicit FakeCluster(const std::filesystem::path& folder) : kubeconfig_(folder / "kubeconfig") {}
  [[nodiscard]] Status start();

  [[nodiscard]] std::string url() const override { return server_->url(); }
  [[nodiscard]] std::filesystem::path kubeconfig() const override { return kubeconfig_; }
  // The fake accepts every user; other tests check the remediator's permissions on a real API
  // server.
  [[nodiscard]] std::filesystem::path remediator_kubeconfig() const override { return kubeconfig_; }
  [[nodiscard]] Result<std::string> get(const std::string& path) const override;
  [[nodiscard]] Status add_gpu_node(const std::string& name) override;

  [[nodiscard]] fakes::FakeKube& kube() { return server_->kube(); }

 private:
  [[nodiscard]] Status create(const std::string& collection, const std::string& manifest);

  SystemClock clock_;
  std::filesystem::path kubeconfig_;
  std::unique_ptr<fakes::FakeApiServer> server_;
};

}  // namespace gpuward::e2e
