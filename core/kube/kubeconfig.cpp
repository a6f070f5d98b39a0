#include "core/kube/kubeconfig.h"

#include <initializer_list>
#include <string_view>
#include <utility>

#include "core/runtime/encoding.h"
#include "core/runtime/yaml.h"

namespace gpuward::kube {
namespace {

namespace fs = std::filesystem;

void refuse(const YamlMap& map, std::initializer_list<std::string_view> keys,
            std::string_view why) {
  for (const std::string_view key : keys) {
    if (map.has(key)) map.reject(key, "is not supported: " + std::string(why));
  }
}

void read_path(const YamlMap& map, std::string_view key, const fs::path& folder, std::string& out) {
  std::string text;
  map.read(key, text);
  if (!text.empty()) out = (folder / text).lexically_normal().string();  // an absolute path stays
}

void read_data(const YamlMap& map, std::string_view key, std::string& out) {
  std::string text;
  map.read(key, text);
  const auto decoded = decode_base64(text);
  if (!decoded) return map.reject(key, "must be base64");
  out = *decoded;
}

KubeconfigCluster read_cluster(const YamlMap& map, const fs::path& folder) {
  KubeconfigCluster cluster;
  map.ignore_unknown();
  map.require("server", cluster.server);
  map.read("tls-server-name", cluster.server_name);
  map.read("insecure-skip-tls-verify", cluster.skip_verify);
  read_path(map, "certificate-authority", folder, cluster.ca_file);
  read_data(map, "certificate-authority-data", cluster.ca_pem);
  refuse(map, {"proxy-url"}, "gpuward talks to the API server directly");
  const bool web = cluster.server.starts_with("https://") || cluster.server.starts_with("http://");
  if (!cluster.server.empty() && !web) map.reject("server", "must begin with https:// or http://");
  while (cluster.server.ends_with('/')) cluster.server.pop_back();
  if (cluster.skip_verify && (!cluster.ca_file.empty() || !cluster.ca_pem.empty())) {
    map.reject("insecure-skip-tls-verify",
               "conflicts with certificate-authority: remove one of them");
  }
  return cluster;
}

ExecPlugin read_exec(const YamlMap& map, const fs::path& folder) {
  ExecPlugin exec;
  std::string interactive_mode;
  map.ignore_unknown();
  map.require("command", exec.command);
  map.require("apiVersion", exec.api_version);
  map.read("args", exec.args);
  map.read("installHint", exec.install_hint);
  map.read("provideClusterInfo", exec.provide_cluster_info);
  map.read("interactiveMode", interactive_mode);
  for (const YamlMap& variable : map.maps("env")) {
    std::string name;
    variable.require("name", name);
    variable.read("value", exec.env[name]);
  }
  const bool known = exec.api_version == "client.authentication.k8s.io/v1" ||
                     exec.api_version == "client.authentication.k8s.io/v1beta1";
  if (!exec.api_version.empty() && !known) {
    map.reject("apiVersion",
               "must be client.authentication.k8s.io/v1 or client.authentication.k8s.io/v1beta1");
  }
  if (interactive_mode == "Always")
    map.reject("interactiveMode", "must not be Always: gpuward has no terminal");
  // A name with a folder is relative to the file; a bare one is searched on PATH.
  if (exec.command.contains('/'))
    exec.command = (folder / exec.command).lexically_normal().string();
  return exec;
}

KubeconfigUser read_user(const YamlMap& map, const fs::path& folder) {
  KubeconfigUser user;
  map.ignore_unknown();
  map.read("token", user.token);
  map.read("username", user.username);
  map.read("password", user.password);
  read_path(map, "tokenFile", folder, user.token_file);
  read_path(map, "client-certificate", folder, user.certificate_file);
  read_path(map, "client-key", folder, user.key_file);
  read_data(map, "client-certificate-data", user.certificate_pem);
  read_data(map, "client-key-data", user.key_pem);
  refuse(map, {"as", "as-uid", "as-groups", "as-user-extra"},
         "gpuward does not impersonate another user");
  refuse(map, {"auth-provider"}, "Kubernetes removed it; use an exec plugin");
  if (map.has("exec")) user.exec = read_exec(map.map("exec"), folder);
  return user;
}

KubeconfigContext read_context(const YamlMap& map) {
  KubeconfigContext context;
  map.ignore_unknown();
  map.require("cluster", context.cluster);
  map.read("user", context.user);
  map.read("namespace", context.ns);
  return context;
}

// Reads [{name: a, <member>: {...}}, ...]; the first entry of a name counts.
template <typename T, typename Read>
void read_named(const YamlMap& root, std::string_view list, std::string_view member,
                std::map<std::string, T>& out, Read read) {
  for (const YamlMap& entry : root.maps(list)) {
    std::string name;
    entry.ignore_unknown();
    entry.require("name", name);
    out.try_emplace(name, read(entry.map(member)));
  }
}

}  // namespace

void Kubeconfig::merge(Kubeconfig later) {
  clusters.merge(later.clusters);
  users.merge(later.users);
  contexts.merge(later.contexts);
  if (current_context.empty()) current_context = std::move(later.current_context);
}

Result<Kubeconfig> read_kubeconfig(const fs::path& path) {
  const auto file = YamlFile::load(path);
  if (!file) return std::unexpected(file.error());
  const fs::path folder = fs::absolute(path).parent_path();
  const YamlMap root = file->root();
  Kubeconfig kubeconfig;
  root.ignore_unknown();
  root.read("current-context", kubeconfig.current_context);
  read_named(root, "clusters", "cluster", kubeconfig.clusters,
             [&](const YamlMap& map) { return read_cluster(map, folder); });
  read_named(root, "users", "user", kubeconfig.users,
             [&](const YamlMap& map) { return read_user(map, folder); });
  read_named(root, "contexts", "context", kubeconfig.contexts, read_context);
  if (auto sound = file->finish(); !sound) return std::unexpected(sound.error());
  return kubeconfig;
}

}  // namespace gpuward::kube
