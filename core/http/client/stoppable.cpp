#include "core/http/client/stoppable.h"

#include <utility>

namespace gpuward::http {

Result<ClientResponse> send_until_stopped(Client& client, const ClientRequest& request,
                                          gpuward::Clock& clock, const std::stop_token& stop) {
  const auto deadline = clock.steady() + request.timeout;
  std::string body;
  bool is_late = false;
  auto answer = client.stream(request, request.timeout, stop, [&](std::string_view bytes) {
    body += bytes;
    is_late = clock.steady() >= deadline;
    return !is_late && body.size() <= request.max_response_bytes;
  });
  if (!answer) return answer;
  if (stop.stop_requested())
    return fail(ErrorKind::kCancelled, "stopped before the response arrived");
  if (is_late) return fail(ErrorKind::kTimeout, "the response was not complete in time");
  if (body.size() > request.max_response_bytes)
    return fail(ErrorKind::kTooLarge, "the response is too large");
  // stream() has already put the body of a refusal into the response.
  if (!body.empty()) answer->body = std::move(body);
  return answer;
}

}  // namespace gpuward::http
