// A kubeconfig as read from its files and merged, before a context is chosen. Inside core/kube
// only. Facts: client-go tools/clientcmd/loader.go, api/v1/types.go.
#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/kube/config.h"
#include "core/model/result.h"

namespace gpuward::kube {

struct KubeconfigCluster {
  std::string server;
  std::string server_name;
  std::string ca_file, ca_pem;
  bool skip_verify = false;
};

struct KubeconfigUser {
  std::string token, username, password;
  std::string token_file, certificate_file, key_file;
  std::string certificate_pem, key_pem;
  std::optional<ExecPlugin> exec;
};

struct KubeconfigContext {
  std::string cluster, user, ns;
};

struct Kubeconfig {
  std::map<std::string, KubeconfigCluster> clusters;
  std::map<std::string, KubeconfigUser> users;
  std::map<std::string, KubeconfigContext> contexts;
  std::string current_context;

  // Adds entries of `later`; existing ones stay.
  void merge(Kubeconfig later);
};

// Reads one file; paths in it are relative to its folder. kInvalid names file, line and field, also
// for features that gpuward does not support (proxy-url, impersonation, auth-provider): ignoring
// them would mean acting as another user.
[[nodiscard]] Result<Kubeconfig> read_kubeconfig(const std::filesystem::path& path);

// Combines the cluster and the user of `context` (empty: current-context).
[[nodiscard]] Result<ClusterConfig> resolve_context(const Kubeconfig& kubeconfig,
                                                    const std::string& context);

}  // namespace gpuward::kube
