// Converts the fake's decisions to HTTP responses.
#pragma once

#include <stdexcept>

#include "core/http/server/server.h"
#include "core/runtime/clock.h"
#include "core/runtime/json.h"
#include "tests/fakes/kube/failure.h"
#include "tests/fakes/kube/faults.h"
#include "tests/fakes/kube/resource.h"

namespace gpuward::fakes {

// Thrown out of a response's stream to cut the connection in the middle.
class ConnectionCut : public std::runtime_error {
 public:
  ConnectionCut() : std::runtime_error("connection cut on purpose") {}
};

// Whether the Accept header asks for a Table, as kubectl's does.
[[nodiscard]] bool wants_table(const http::Request& request);

// Whether the Accept header asks only for the metadata of the objects.
[[nodiscard]] bool wants_metadata_alone(const http::Request& request);

[[nodiscard]] http::Response json_response(int status, const Json& body);
// A Status; with Retry-After if its details contain it.
[[nodiscard]] http::Response failure_response(const Failure& failure);
[[nodiscard]] http::Response written_response(int status, const Json& object,
                                              const http::Request& request);
[[nodiscard]] http::Response object_response(const Resource& resource, const Json& object,
                                             const http::Request& request, Clock::Wall now);
[[nodiscard]] http::Response list_response(const Resource& resource, const Json& list,
                                           const http::Request& request, Clock::Wall now);

// --- Faults
[[nodiscard]] http::Response injected_response(const Fault& fault, const Failure& failure);
[[nodiscard]] http::Response dropped_response();  // status 0
// The stream of `response`, cut or expired after fault.after_events lines.
[[nodiscard]] http::Response with_broken_stream(const Fault& fault, http::Response response);

}  // namespace gpuward::fakes
