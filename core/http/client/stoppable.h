// Client::send() that a stop can cancel, for requests with slow responses. Used by core/aws and by
// triage.
#pragma once

#include <stop_token>

#include "core/http/client/client.h"
#include "core/runtime/clock.h"

namespace gpuward::http {

// Like send(), but a call whose body stalls may take up to twice `request.timeout`.
// `request.max_response_bytes` holds. A stop is kCancelled within 100 ms. Thread-safe.
[[nodiscard]] Result<ClientResponse> send_until_stopped(Client& client,
                                                        const ClientRequest& request,
                                                        gpuward::Clock& clock,
                                                        const std::stop_token& stop);

}  // namespace gpuward::http
