// The Kubernetes API that a Stack uses: a real kube-apiserver in the e2e test, the fake one in the
// demo. Both have the CRD and the nodes before the remediator starts.
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "core/model/result.h"

namespace gpuward::e2e {

class Cluster {
 public:
  virtual ~Cluster() = default;

  [[nodiscard]] virtual std::string url() const = 0;
  [[nodiscard]] virtual std::filesystem::path kubeconfig() const = 0;  // for operators
  // For the remediator's own account: if the API server checks permissions, it has only those of
  // manifests/remediator-rbac.yaml.
  [[nodiscard]] virtual std::filesystem::path remediator_kubeconfig() const = 0;
  // GET as an administrator; the body of a 200.
  [[nodiscard]] virtual Result<std::string> get(const std::string& path) const = 0;
  [[nodiscard]] virtual Status add_gpu_node(const std::string& name) = 0;
};

// With CRD, RBAC and the switch from manifests/.
[[nodiscard]] Result<std::unique_ptr<Cluster>> start_real_cluster();
// With CRD and switch. Keeps its kubeconfig in `folder`.
[[nodiscard]] Result<std::unique_ptr<Cluster>> start_fake_cluster(
    const std::filesystem::path& folder);

}  // namespace gpuward::e2e
