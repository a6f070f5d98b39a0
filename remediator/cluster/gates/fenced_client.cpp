#include "remediator/cluster/gates/fenced_client.h"

#include <utility>

namespace gpuward::remediator {

FencedClient::FencedClient(http::Client& behind, MayWrite may_write)
    : behind_(behind), may_write_(std::move(may_write)) {}

Result<http::ClientResponse> FencedClient::send(const http::ClientRequest& request) {
  if (auto permitted = permit(request); !permitted) return std::unexpected(permitted.error());
  return behind_.send(request);
}

Result<http::ClientResponse> FencedClient::stream(
    const http::ClientRequest& request, std::chrono::milliseconds idle, std::stop_token stop,
    const std::function<bool(std::string_view)>& on_bytes) {
  if (auto permitted = permit(request); !permitted) return std::unexpected(permitted.error());
  return behind_.stream(request, idle, std::move(stop), on_bytes);
}

Status FencedClient::permit(const http::ClientRequest& request) const {
  if (request.method == "GET" || may_write_()) return {};
  return fail(ErrorKind::kCancelled, "not sent: this replica is not the leader");
}

}  // namespace gpuward::remediator
