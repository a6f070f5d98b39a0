// A kubeconfig as its files say it, merged, before a context is chosen. Inside core/kube only.
// Facts: client-go tools/clientcmd/loader.go, api/v1/types.go.
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

  // What `later` adds; what is there already stays.
  void merge(Kubeconfig later);
};

// One file; paths in it are relative to its folder. kInvalid names file, line and field, also for
// what gpuward cannot do (proxy-url, impersonation, auth-provider): to leave it out silently would
// be to act as somebody else.
[[nodiscard]] Result<Kubeconfig> read_kubeconfig(const std::filesystem::path& path);

// The cluster and the user of `context` (empty: current-context) together.
[[nodiscard]] Result<ClusterConfig> resolve_context(const Kubeconfig& kubeconfig,
                                                    const std::string& context);

}  // namespace gpuward::kube
