// The result of anything that can fail: a value, or an Error that says what was attempted, on which
// object, and how to fix it. Code branches on `kind` only; the message is for operators. Used
// everywhere.
#pragma once

#include <chrono>
#include <cstdint>
#include <expected>
#include <string>
#include <utility>

namespace gpuward {

enum class ErrorKind : std::uint8_t {
  kInvalid,          // the input can never be right: HTTP 400/422, a config that does not parse
  kUnauthenticated,  // HTTP 401
  kForbidden,        // HTTP 403
  kNotFound,         // HTTP 404, a file that is not there
  kAlreadyExists,    // HTTP 409 with reason AlreadyExists
  kConflict,         // HTTP 409: the object has changed since it was read; read again
  kGone,             // HTTP 410: the resource version is too old; list again
  kBlocked,          // refused for now by a policy (a PodDisruptionBudget); not an overload
  kRefused,      // refused until an operator changes something (two PodDisruptionBudgets on a pod)
  kTooLarge,     // over one of gpuward's caps, or HTTP 413
  kOverloaded,   // HTTP 429 of the server, or a full queue of gpuward: back off the whole client
  kUnavailable,  // connection refused, HTTP 5xx: try again later
  kTimeout,      // gpuward's own deadline has passed; the other side may have acted
  kCancelled,    // a stop was requested
  kInternal,     // a broken program or a broken peer
};

struct Error {
  ErrorKind kind = ErrorKind::kInternal;
  std::string message;
  // How long the other side asked gpuward to wait; zero if it did not say.
  std::chrono::milliseconds retry_after{0};
};

template <typename T>
using Result = std::expected<T, Error>;
using Status = Result<void>;

[[nodiscard]] inline std::unexpected<Error> fail(ErrorKind kind, std::string message) {
  return std::unexpected(Error{kind, std::move(message), {}});
}

// Prefixes an error with the attempted operation, once at each border. The kind stays.
[[nodiscard]] inline std::unexpected<Error> with_context(const std::string& attempted,
                                                         Error error) {
  error.message = attempted + ": " + error.message;
  return std::unexpected(std::move(error));
}

}  // namespace gpuward
