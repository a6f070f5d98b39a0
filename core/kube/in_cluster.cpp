#include <cstdlib>
#include <string>

#include "core/kube/config.h"
#include "core/runtime/files.h"
#include "core/runtime/text.h"

namespace gpuward::kube {
namespace {

std::string environment(const char* name) {
  const char* value = std::getenv(name);  // NOLINT(concurrency-mt-unsafe): read at start, never set
  return value == nullptr ? std::string() : std::string(value);
}

std::string join_host_port(const std::string& host, const std::string& port) {
  return (host.contains(':') ? "[" + host + "]" : host) + ":" + port;
}

Status must_hold(const std::filesystem::path& path, std::string_view what, std::string_view mark) {
  const auto content = read_file(path);
  if (!content) {
    return fail(ErrorKind::kInvalid, "running in a pod without a usable " + std::string(what) +
                                         ": " + content.error().message +
                                         " (is automountServiceAccountToken set to false?)");
  }
  if (trim(*content).empty() || !content->contains(mark)) {
    return fail(ErrorKind::kInvalid, path.string() + " holds no " + std::string(what));
  }
  return {};
}

}  // namespace

Result<ClusterConfig> load_in_cluster(const std::filesystem::path& service_account) {
  const std::string host = environment("KUBERNETES_SERVICE_HOST");
  const std::string port = environment("KUBERNETES_SERVICE_PORT");
  if (host.empty() || port.empty()) {
    return fail(
        ErrorKind::kNotFound,
        "not running in a pod: KUBERNETES_SERVICE_HOST or KUBERNETES_SERVICE_PORT is not set");
  }
  ClusterConfig config;
  config.origin = "this pod's service account";
  config.server = "https://" + join_host_port(host, port);
  config.token_file = service_account / "token";
  // A path and not its content: the next TLS handshake uses a rotated CA.
  config.tls.ca_file = (service_account / "ca.crt").string();
  if (auto held = must_hold(config.token_file, "service account token", ""); !held)
    return std::unexpected(held.error());
  // Without the CA, a client would use the system's roots and accept any host with a public
  // certificate as the API server.
  if (auto held = must_hold(config.tls.ca_file, "CA certificate", "-----BEGIN CERTIFICATE-----");
      !held) {
    return std::unexpected(held.error());
  }
  if (const auto ns = read_file(service_account / "namespace"))
    config.default_namespace = trim(*ns);
  if (config.default_namespace.empty()) config.default_namespace = "default";
  return config;
}

}  // namespace gpuward::kube
