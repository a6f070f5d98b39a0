// Client::send() that ends at a stop as well, for questions whose answer may take its time. Used by
// core/aws and by triage.
#pragma once

#include <stop_token>

#include "core/http/client/client.h"
#include "core/runtime/clock.h"

namespace gpuward::http {

// As send(), but that the answer's body has `request.timeout` for itself once more.
// `request.max_response_bytes` holds. A stop is kCancelled within 100 ms. Any thread.
[[nodiscard]] Result<ClientResponse> send_until_stopped(Client& client,
                                                        const ClientRequest& request,
                                                        gpuward::Clock& clock,
                                                        const std::stop_token& stop);

}  // namespace gpuward::http
