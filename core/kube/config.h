// The address of the Kubernetes API and the client's identity: the pod's service account, or a
// kubeconfig with its contexts, client certificates, tokens and exec plugins. Facts: client-go
// rest/config.go, tools/clientcmd, plugin/pkg/client/auth/exec.
#pragma once

#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/http/client/client.h"
#include "core/model/result.h"
#include "core/runtime/clock.h"

namespace gpuward::kube {

struct ExecPlugin {
  std::string command;
  std::vector<std::string> args;
  std::map<std::string, std::string> env;
  std::string api_version;  // client.authentication.k8s.io/v1 or /v1beta1
  std::string install_hint;
  bool provide_cluster_info = false;
};

struct ClusterConfig {
  std::string server;       // "https://10.0.0.1:443", no trailing slash
  std::string origin = {};  // for operators: `context "a" of /home/me/.kube/config`
  std::string user = {};    // the kubeconfig's name for the user; empty if it has none
  std::string default_namespace = "default";
  http::ClientTls tls;
  // At most one of these is set; if all are empty, the client certificate or anonymous.
  std::string token;
  // Wins over token. It is read again every 30 s and after a 401; a failed read keeps the old
  // token.
  std::filesystem::path token_file;
  std::string username, password;
  std::optional<ExecPlugin> exec;
};

// Reads KUBERNETES_SERVICE_HOST and _PORT and the service account's folder. kNotFound outside a
// pod; kInvalid in a pod without a token or CA (fail closed).
[[nodiscard]] Result<ClusterConfig> load_in_cluster(
    const std::filesystem::path& service_account = "/var/run/secrets/kubernetes.io/serviceaccount");

// An empty `path` means $KUBECONFIG (colon-separated; the first file that sets a key wins), else
// ~/.kube/config. An empty `context` means current-context. Errors name the file, line and field.
[[nodiscard]] Result<ClusterConfig> load_kubeconfig(const std::string& path,
                                                    const std::string& context);

// The client's certificate and key, PEM. Both are empty if it has none.
struct ClientCertificate {
  std::string certificate_pem, key_pem;
  bool operator==(const ClientCertificate&) const = default;
};

// The Authorization header for the next request. Thread-safe; a token is renewed once for all
// waiting threads.
class Credentials {
 public:
  virtual ~Credentials() = default;
  // Returns "" if requests go without the header.
  [[nodiscard]] virtual Result<std::string> authorization() = 0;
  // Call it after a 401: a credential obtained before must not be used again.
  virtual void reject(const std::string& authorization) = 0;
  // Returns the current certificate if an exec plugin supplies certificates.
  [[nodiscard]] virtual Result<ClientCertificate> client_certificate() {
    return ClientCertificate{};
  }
};

[[nodiscard]] std::unique_ptr<Credentials> make_credentials(const ClusterConfig& config,
                                                            Clock& clock);

// The real client for `config`. It presents the current certificate of `credentials`, so that a
// renewed one is used from the next request on. `credentials` must outlive it.
[[nodiscard]] std::unique_ptr<http::Client> make_http_client(const ClusterConfig& config,
                                                             Credentials& credentials);

}  // namespace gpuward::kube
