// The meaning of a response of the API server. The body's Status decides first (its reason, causes
// and message), then the HTTP code: proxies, old servers and admission webhooks do not always set
// both consistently. Facts: apimachinery pkg/api/errors, the eviction subresource of
// kubernetes/kubernetes.
#pragma once

#include <optional>

#include "core/http/client/client.h"
#include "core/model/result.h"
#include "core/runtime/json.h"

namespace gpuward::kube {

// Returns the error of a response with a status outside 2xx. `body` is its JSON, or null if it is
// not JSON.
[[nodiscard]] Error classify(const http::ClientResponse& answer, const Json& body);

// Returns the error that a 2xx response carries in its body (a Status with status Failure); nullopt
// for a success.
[[nodiscard]] std::optional<Error> failure_in(const http::ClientResponse& answer, const Json& body);

// A Status object without an HTTP answer, as an ERROR event of a watch carries it.
[[nodiscard]] Error classify_status(const Json& status);

}  // namespace gpuward::kube
