// The answer of anything that can fail: a value, or an Error that says what was attempted, on what,
// and what to do about it. Code branches on `kind` only; the message is for people. Used
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
  kBlocked,      // refused for now by somebody's policy (a PodDisruptionBudget); not an overload
  kRefused,      // refused for good until somebody changes it (two PodDisruptionBudgets on a pod)
  kTooLarge,     // over a cap of ours or HTTP 413
  kOverloaded,   // HTTP 429 of the server itself, a full queue of ours: back off the whole client
  kUnavailable,  // connection refused, HTTP 5xx: try again later
  kTimeout,      // our own deadline has passed; the other side may have acted
  kCancelled,    // a stop was requested
  kInternal,     // a broken program or a broken peer
};

struct Error {
  ErrorKind kind = ErrorKind::kInternal;
  std::string message;
  // How long the other side asked us to wait; zero where it said nothing.
  std::chrono::milliseconds retry_after{0};
};

template <typename T>
using Result = std::expected<T, Error>;
using Status = Result<void>;

[[nodiscard]] inline std::unexpected<Error> fail(ErrorKind kind, std::string message) {
  return std::unexpected(Error{kind, std::move(message), {}});
}

// Puts what was attempted in front of an error, once a border. The kind stays.
[[nodiscard]] inline std::unexpected<Error> with_context(const std::string& attempted,
                                                         Error error) {
  error.message = attempted + ": " + error.message;
  return std::unexpected(std::move(error));
}

}  // namespace gpuward
