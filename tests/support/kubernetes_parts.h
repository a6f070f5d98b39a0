// Finds the real Kubernetes programs: KUBE_APISERVER, or the versioned cache that `.ci/run` and
// `./dev deps --all` fill (GPUWARD_CACHE, default ~/.cache/gpuward). Used by ControlPlane.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace gpuward::support {

struct KubernetesParts {
  std::filesystem::path etcd, apiserver, controller_manager, scheduler;  // empty if missing
};

[[nodiscard]] KubernetesParts find_kubernetes_parts();

// The addresses and files of one test's control plane.
struct ControlPlaneLayout {
  std::filesystem::path folder;
  int etcd_port = 0, etcd_peer_port = 0, api_port = 0;
  std::string admin_token;
};

[[nodiscard]] std::vector<std::string> etcd_command(const KubernetesParts& parts,
                                                    const ControlPlaneLayout& layout);
[[nodiscard]] std::vector<std::string> apiserver_command(const KubernetesParts& parts,
                                                         const ControlPlaneLayout& layout);
[[nodiscard]] std::vector<std::string> controller_manager_command(
    const KubernetesParts& parts, const std::filesystem::path& kubeconfig);
[[nodiscard]] std::vector<std::string> scheduler_command(const KubernetesParts& parts,
                                                         const std::filesystem::path& kubeconfig);

[[nodiscard]] std::string kubeconfig_text(const std::string& server,
                                          const std::filesystem::path& ca_file,
                                          const std::string& token);

}  // namespace gpuward::support
