#include "core/http/client/client.h"

#include <curl/curl.h>

#include <mutex>
#include <utility>

#include "core/http/client/transfer.h"

namespace gpuward::http {
namespace {

// As many as the remediator's evictions in flight: a handshake costs an API server more than most
// requests.
constexpr std::size_t kMaxIdle = 64;

void initialise_curl() {
  static const CURLcode kOnce = curl_global_init(CURL_GLOBAL_DEFAULT);
  static_cast<void>(kOnce);
}

}  // namespace

class CurlClient::Impl {
 public:
  explicit Impl(ClientTls tls) : tls_(std::move(tls)) { initialise_curl(); }

  Result<ClientResponse> run(const ClientRequest& request, const StreamOptions* stream) {
    auto transfer = borrow();
    auto outcome = transfer->run(request, stream);
    give_back(std::move(transfer));
    return outcome;
  }

 private:
  std::unique_ptr<Transfer> borrow() {
    {
      const std::lock_guard lock(mutex_);
      if (!idle_.empty()) {
        auto transfer = std::move(idle_.back());
        idle_.pop_back();
        return transfer;
      }
    }
    return std::make_unique<Transfer>(tls_);
  }

  void give_back(std::unique_ptr<Transfer> transfer) {
    const std::lock_guard lock(mutex_);
    if (idle_.size() < kMaxIdle) idle_.push_back(std::move(transfer));
  }

  const ClientTls tls_;
  std::mutex mutex_;
  std::vector<std::unique_ptr<Transfer>> idle_;  // the last used one last; guarded by mutex_
};

CurlClient::CurlClient(ClientTls tls) : impl_(std::make_unique<Impl>(std::move(tls))) {}
CurlClient::~CurlClient() = default;

Result<ClientResponse> CurlClient::send(const ClientRequest& request) {
  return impl_->run(request, nullptr);
}

Result<ClientResponse> CurlClient::stream(const ClientRequest& request,
                                          std::chrono::milliseconds idle, std::stop_token stop,
                                          const std::function<bool(std::string_view)>& on_bytes) {
  const StreamOptions options{idle, std::move(stop), on_bytes};
  return impl_->run(request, &options);
}

}  // namespace gpuward::http
