#include <memory>
#include <mutex>
#include <utility>

#include "core/kube/config.h"

namespace gpuward::kube {
namespace {

// Makes a new curl client when the certificate changes; requests in progress keep the one that they
// began with.
class CertifiedClient final : public http::Client {
 public:
  CertifiedClient(http::ClientTls tls, Credentials& credentials)
      : tls_(std::move(tls)), credentials_(credentials) {}

  Result<http::ClientResponse> send(const http::ClientRequest& request) override {
    const auto client = current();
    if (!client) return std::unexpected(client.error());
    return (*client)->send(request);
  }

  Result<http::ClientResponse> stream(
      const http::ClientRequest& request, std::chrono::milliseconds idle, std::stop_token stop,
      const std::function<bool(std::string_view)>& on_bytes) override {
    const auto client = current();
    if (!client) return std::unexpected(client.error());
    return (*client)->stream(request, idle, std::move(stop), on_bytes);
  }

 private:
  Result<std::shared_ptr<http::CurlClient>> current() {
    const auto certificate = credentials_.client_certificate();
    if (!certificate) return std::unexpected(certificate.error());
    const std::lock_guard lock(mutex_);
    if (!client_ || *certificate != shown_) {
      http::ClientTls tls = tls_;
      if (!certificate->certificate_pem.empty()) {
        tls.certificate_pem = certificate->certificate_pem;
        tls.key_pem = certificate->key_pem;
      }
      client_ = std::make_shared<http::CurlClient>(std::move(tls));
      shown_ = *certificate;
    }
    return client_;
  }

  const http::ClientTls tls_;
  Credentials& credentials_;
  std::mutex mutex_;
  ClientCertificate shown_;
  std::shared_ptr<http::CurlClient> client_;
};

}  // namespace

std::unique_ptr<http::Client> make_http_client(const ClusterConfig& config,
                                               Credentials& credentials) {
  if (!config.exec) return std::make_unique<http::CurlClient>(config.tls);
  return std::make_unique<CertifiedClient>(config.tls, credentials);
}

}  // namespace gpuward::kube
