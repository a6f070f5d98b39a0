// What an answer of the API server means. Decided on the body's Status first (its reason, causes
// and message) and on the HTTP code second: proxies, old servers and admission webhooks do not
// always agree with both. Facts: apimachinery pkg/api/errors, the eviction subresource of
// kubernetes/kubernetes.
#pragma once

#include <optional>

#include "core/http/client/client.h"
#include "core/model/result.h"
#include "core/runtime/json.h"

namespace gpuward::kube {

// The error of an answer with a status outside 2xx. `body` is the answer's as JSON, null where it
// is none.
[[nodiscard]] Error classify(const http::ClientResponse& answer, const Json& body);

// The error that a 2xx answer carries nevertheless (a Status with status Failure); nullopt for a
// success.
[[nodiscard]] std::optional<Error> failure_in(const http::ClientResponse& answer, const Json& body);

// A Status object without an HTTP answer, as an ERROR event of a watch carries it.
[[nodiscard]] Error classify_status(const Json& status);

}  // namespace gpuward::kube
