#include <cstdlib>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/kube/kubeconfig.h"
#include "core/runtime/files.h"

namespace gpuward::kube {
namespace {

namespace fs = std::filesystem;

std::string environment(const char* name) {
  const char* value = std::getenv(name);  // NOLINT(concurrency-mt-unsafe): read at start, never set
  return value == nullptr ? std::string() : std::string(value);
}

std::vector<fs::path> split_paths(std::string_view text) {
  std::vector<fs::path> paths;
  while (!text.empty()) {
    const std::size_t colon = text.find(':');
    if (colon != 0) paths.emplace_back(text.substr(0, colon));
    text.remove_prefix(colon == std::string_view::npos ? text.size() : colon + 1);
  }
  return paths;
}

struct Merged {
  Kubeconfig kubeconfig;
  std::string files;  // the files that it was read from
};

// A file named on the command line must exist; the others are optional.
Result<Merged> read_files(const std::string& named) {
  if (!named.empty()) {
    auto one = read_kubeconfig(named);
    if (!one) return std::unexpected(one.error());
    return Merged{*std::move(one), named};
  }
  auto paths = split_paths(environment("KUBECONFIG"));
  if (paths.empty()) paths.push_back(fs::path(environment("HOME")) / ".kube" / "config");
  Merged merged;
  std::string missing;
  for (const fs::path& path : paths) {
    auto one = read_kubeconfig(path);
    if (!one && one.error().kind == ErrorKind::kNotFound) {
      missing += (missing.empty() ? "" : ", ") + path.string();
      continue;
    }
    if (!one) return std::unexpected(one.error());
    merged.kubeconfig.merge(std::move(*one));
    merged.files += (merged.files.empty() ? "" : ":") + path.string();
  }
  if (merged.files.empty())
    return fail(
        ErrorKind::kNotFound,
        "no kubeconfig: " + (environment("KUBECONFIG").empty()
                                 ? missing + " does not exist, and $KUBECONFIG is not set"
                                 : "$KUBECONFIG names " + missing + ", which does not exist"));
  return merged;
}

// "a, b"
template <typename T>
std::string names_of(const std::map<std::string, T>& entries) {
  std::string names;
  for (const auto& [name, entry] : entries) names += (names.empty() ? "" : ", ") + name;
  return names;
}

template <typename T>
Result<T> look_up(const std::map<std::string, T>& entries, const std::string& name,
                  const std::string& what) {
  const auto at = entries.find(name);
  if (at != entries.end()) return at->second;
  return fail(ErrorKind::kInvalid, "kubeconfig: " + what + " \"" + name +
                                       "\" not found; available: " + names_of(entries));
}

// `*-data` wins over the file, whose content is read now.
Result<std::string> pem_of(const std::string& data, const std::string& file) {
  if (!data.empty() || file.empty()) return data;
  return read_file(file);
}

Status set_certificate(const KubeconfigUser& user, http::ClientTls& tls) {
  auto certificate = pem_of(user.certificate_pem, user.certificate_file);
  if (!certificate)
    return with_context("kubeconfig: client-certificate", std::move(certificate.error()));
  auto key = pem_of(user.key_pem, user.key_file);
  if (!key) return with_context("kubeconfig: client-key", std::move(key.error()));
  if (certificate->empty() != key->empty()) {
    return fail(ErrorKind::kInvalid,
                "kubeconfig: client-certificate and client-key must be set together");
  }
  tls.certificate_pem = std::move(*certificate);
  tls.key_pem = std::move(*key);
  return {};
}

void set_identity(const KubeconfigUser& user, ClusterConfig& config) {
  config.token = user.token;
  config.token_file = user.token_file;
  config.username = user.username;
  config.password = user.password;
  config.exec = user.exec;
}

}  // namespace

Result<ClusterConfig> resolve_context(const Kubeconfig& kubeconfig, const std::string& context) {
  const std::string& name = context.empty() ? kubeconfig.current_context : context;
  if (kubeconfig.contexts.empty())
    return fail(ErrorKind::kInvalid,
                "kubeconfig is empty or has no context; set --kubeconfig or $KUBECONFIG to another "
                "file, or create one as your cluster provider describes");
  if (name.empty())
    return fail(ErrorKind::kInvalid,
                "kubeconfig: current-context is not set: name one with --context: " +
                    names_of(kubeconfig.contexts));
  const auto chosen = look_up(kubeconfig.contexts, name, "context");
  if (!chosen) return std::unexpected(chosen.error());
  const auto cluster = look_up(kubeconfig.clusters, chosen->cluster, "cluster");
  if (!cluster) return with_context("context \"" + name + "\"", cluster.error());
  ClusterConfig config;
  config.server = cluster->server;
  config.tls.ca_file = cluster->ca_file;
  config.tls.ca_pem = cluster->ca_pem;
  config.tls.server_name = cluster->server_name;
  config.tls.skip_verify = cluster->skip_verify;
  if (!chosen->ns.empty()) config.default_namespace = chosen->ns;
  config.user = chosen->user;
  if (chosen->user.empty()) return config;  // anonymous
  const auto user = look_up(kubeconfig.users, chosen->user, "user");
  if (!user) return with_context("context \"" + name + "\"", user.error());
  if (auto set = set_certificate(*user, config.tls); !set) return std::unexpected(set.error());
  set_identity(*user, config);
  return config;
}

Result<ClusterConfig> load_kubeconfig(const std::string& path, const std::string& context) {
  const auto merged = read_files(path);
  if (!merged) return std::unexpected(merged.error());
  auto config = resolve_context(merged->kubeconfig, context);
  if (!config) return with_context(merged->files, config.error());
  config->origin = "context \"" + (context.empty() ? merged->kubeconfig.current_context : context) +
                   "\" of " + merged->files;
  return config;
}

}  // namespace gpuward::kube
