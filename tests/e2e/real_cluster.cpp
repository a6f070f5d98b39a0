#include "tests/e2e/cluster.h"
#include "tests/places.inc"
#include "tests/support/control_plane.h"
#include "tests/support/wait.h"

namespace gpuward::e2e {
namespace {

constexpr const char* kRemediatorToken = "token-of-the-remediator-in-a-test";

std::filesystem::path manifests() {
  return std::filesystem::path(GPUWARD_SOURCE_DIR) / "manifests";
}

std::string node_yaml(const std::string& name) {
  return "apiVersion: v1\nkind: Node\nmetadata:\n  name: " + name +
         "\n  labels: {nvidia.com/gpu.present: \"true\"}\n";
}

class RealCluster final : public Cluster {
 public:
  explicit RealCluster(std::unique_ptr<support::ControlPlane> plane) : plane_(std::move(plane)) {
    remediator_kubeconfig_ = plane_->kubeconfig_for(kRemediatorToken);
  }

  [[nodiscard]] std::string url() const override { return plane_->url(); }
  [[nodiscard]] std::filesystem::path kubeconfig() const override { return plane_->kubeconfig(); }
  [[nodiscard]] std::filesystem::path remediator_kubeconfig() const override {
    return remediator_kubeconfig_;
  }

  [[nodiscard]] Result<std::string> get(const std::string& path) const override {
    const auto response = plane_->request("GET", path);
    if (!response) return std::unexpected(response.error());
    if (response->status != 200) {
      return fail(ErrorKind::kUnavailable,
                  "GET " + path + " gave HTTP " + std::to_string(response->status));
    }
    return response->body;
  }

  [[nodiscard]] Status add_gpu_node(const std::string& name) override {
    return plane_->apply_text(node_yaml(name));
  }

  [[nodiscard]] Status install() {
    for (const char* file : {"crd.yaml", "remediator-rbac.yaml", "remediator-switch.yaml",
                             "remediator-admission.yaml"}) {
      if (auto status = plane_->apply(manifests() / file); !status) return status;
    }
    const std::string list = "/apis/gpuward.dev/v1alpha1/remediations";
    if (!support::poll_until([&] { return get(list).has_value(); })) {
      return fail(ErrorKind::kTimeout, "the Remediation resource is not served: " + list);
    }
    return {};
  }

 private:
  std::unique_ptr<support::ControlPlane> plane_;
  std::filesystem::path remediator_kubeconfig_;
};

}  // namespace

Result<std::unique_ptr<Cluster>> start_real_cluster() {
  // The user that the API server sees for a pod with the service account that the manifest binds.
  support::TokenUser remediator{kRemediatorToken,
                                "system:serviceaccount:gpuward:gpuward-remediator",
                                {"system:serviceaccounts", "system:serviceaccounts:gpuward"}};
  auto plane = support::ControlPlane::start({.users = {std::move(remediator)}});
  if (!plane) return std::unexpected(plane.error());
  auto cluster = std::make_unique<RealCluster>(*std::move(plane));
  if (auto status = cluster->install(); !status) return std::unexpected(status.error());
  return std::unique_ptr<Cluster>(std::move(cluster));
}

}  // namespace gpuward::e2e
