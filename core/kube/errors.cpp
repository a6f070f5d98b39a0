#include "core/kube/errors.h"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "core/runtime/text.h"

namespace gpuward::kube {
namespace {

using std::chrono::seconds;

constexpr std::size_t kLongestMessage = 1024;
constexpr int kLongestRetryAfter = 3600;

struct Reason {
  std::string_view reason;
  ErrorKind kind;
};

// Only the reason distinguishes the two kinds of 409; ServerTimeout comes with 500 and does not
// mean that the request timed out.
constexpr Reason kReasons[] = {
    {"NotFound", ErrorKind::kNotFound},
    {"AlreadyExists", ErrorKind::kAlreadyExists},
    {"Conflict", ErrorKind::kConflict},
    {"Unauthorized", ErrorKind::kUnauthenticated},
    {"Forbidden", ErrorKind::kForbidden},
    {"Gone", ErrorKind::kGone},
    {"Expired", ErrorKind::kGone},
    {"Invalid", ErrorKind::kInvalid},
    {"BadRequest", ErrorKind::kInvalid},
    {"MethodNotAllowed", ErrorKind::kInvalid},
    {"NotAcceptable", ErrorKind::kInvalid},
    {"UnsupportedMediaType", ErrorKind::kInvalid},
    {"TooManyRequests", ErrorKind::kOverloaded},
    {"ServiceUnavailable", ErrorKind::kUnavailable},
    {"ServerTimeout", ErrorKind::kUnavailable},
    {"InternalError", ErrorKind::kUnavailable},
    {"StorageReadError", ErrorKind::kUnavailable},
    {"Timeout", ErrorKind::kTimeout},
    {"RequestEntityTooLarge", ErrorKind::kTooLarge},
};

// Returns which budget refuses, and why: the message itself does not name it.
std::string said_by_budget(const Json& status) {
  const Json& causes = member_at(member_at(status, "details"), "causes");
  if (!causes.is_array()) return {};
  for (const Json& cause : causes) {
    if (string_at(cause, "reason") == "DisruptionBudget") return string_at(cause, "message");
  }
  return {};
}

std::optional<ErrorKind> kind_of_reason(std::string_view reason) {
  for (const Reason& row : kReasons) {
    if (row.reason == reason) return row.kind;
  }
  return std::nullopt;
}

ErrorKind kind_of_code(int code) {
  switch (code) {
    case 401:
      return ErrorKind::kUnauthenticated;
    case 403:
      return ErrorKind::kForbidden;
    case 404:
      return ErrorKind::kNotFound;
    case 409:
      return ErrorKind::kConflict;
    case 410:
      return ErrorKind::kGone;
    case 413:
      return ErrorKind::kTooLarge;
    case 429:
      return ErrorKind::kOverloaded;
    case 504:
      return ErrorKind::kTimeout;
    default:
      break;  // ranges: below
  }
  if (code >= 500) return ErrorKind::kUnavailable;
  if (code >= 400) return ErrorKind::kInvalid;
  return ErrorKind::kInternal;  // a redirect, or a code that the API never uses
}

bool has_cause(const Json& status, std::string_view reason, std::string_view field = {}) {
  const Json& causes = member_at(member_at(status, "details"), "causes");
  if (!causes.is_array()) return false;
  return std::any_of(causes.begin(), causes.end(), [&](const Json& cause) {
    return (reason.empty() || string_at(cause, "reason") == reason) &&
           (field.empty() || string_at(cause, "field") == field);
  });
}

// The eviction subresource reports these two in its message and causes, with codes that have
// another meaning.
std::optional<ErrorKind> kind_of_eviction(const Json& status, std::string_view message) {
  if (message.contains("more than one PodDisruptionBudget")) return ErrorKind::kRefused;
  if (has_cause(status, "DisruptionBudget") ||
      message.starts_with("Cannot evict pod as it would violate the pod's disruption budget")) {
    return ErrorKind::kBlocked;
  }
  return std::nullopt;
}

// A webhook chooses the code of its refusal. KubeVirt's returns 429 for a virtual machine that it
// migrates itself, or never: the API server is not busy, and other requests need not wait.
bool is_denied_by_webhook(std::string_view message) {
  return message.starts_with("admission webhook ") && message.contains(" denied the request");
}

ErrorKind kind_of(const Json& status, std::string_view message, int code) {
  if (const auto kind = kind_of_eviction(status, message)) return *kind;
  if (code == 429 && is_denied_by_webhook(message)) return ErrorKind::kUnavailable;
  // The watch cache is behind the requested version: list again without a version.
  if (has_cause(status, "ResourceVersionTooLarge")) return ErrorKind::kGone;
  // A patch that names another object's UID: the object was re-created under the same name.
  if (has_cause(status, {}, "metadata.uid")) return ErrorKind::kConflict;
  if (const auto kind = kind_of_reason(string_at(status, "reason"))) return *kind;
  return kind_of_code(code);
}

seconds retry_after_of(const Json& status, const http::ClientResponse* answer) {
  int wait = 0;
  const Json& in_body = member_at(member_at(status, "details"), "retryAfterSeconds");
  if (in_body.is_number_unsigned()) {
    wait =
        static_cast<int>(std::min<std::uint64_t>(in_body.get<std::uint64_t>(), kLongestRetryAfter));
  }
  if (answer != nullptr) {
    const auto header = parse_integer<unsigned>(trim(answer->header("Retry-After")));
    if (header)
      wait = std::max(wait, static_cast<int>(std::min<unsigned>(*header, kLongestRetryAfter)));
  }
  return seconds(wait);
}

bool is_status(const Json& body) { return string_at(body, "kind") == "Status"; }

int code_in(const Json& status, int fallback) {
  const Json& code = member_at(status, "code");
  return code.is_number_unsigned()
             ? static_cast<int>(std::min<std::uint64_t>(code.get<std::uint64_t>(), 999))
             : fallback;
}

Error make_error(const Json& status, int code, const http::ClientResponse* answer) {
  const std::string message = string_at(status, "message");
  Error error;
  error.kind = kind_of(status, message, code);
  error.message = "HTTP " + std::to_string(code);
  if (const std::string reason = string_at(status, "reason"); !reason.empty()) {
    error.message += " " + to_valid_utf8(reason, 64);
  }
  if (!message.empty()) error.message += ": " + to_valid_utf8(message, kLongestMessage);
  if (const std::string budget = said_by_budget(status); !budget.empty())
    error.message += " " + to_valid_utf8(budget, kLongestMessage);
  error.retry_after = retry_after_of(status, answer);
  return error;
}

// Never quotes the body: it does not come from the API server.
Error make_foreign_error(const http::ClientResponse& answer) {
  Error error;
  error.kind = kind_of_code(answer.status);
  error.message = "HTTP " + std::to_string(answer.status) + " without a Kubernetes Status (" +
                  std::to_string(answer.body.size()) + " bytes of " +
                  to_valid_utf8(answer.header("Content-Type"), 64) + ")";
  error.retry_after = retry_after_of(Json(), &answer);
  return error;
}

}  // namespace

Error classify(const http::ClientResponse& answer, const Json& body) {
  return is_status(body) ? make_error(body, answer.status, &answer) : make_foreign_error(answer);
}

std::optional<Error> failure_in(const http::ClientResponse& answer, const Json& body) {
  if (!is_status(body) || string_at(body, "status") != "Failure") return std::nullopt;
  return make_error(body, code_in(body, 500), &answer);
}

Error classify_status(const Json& status) {
  return make_error(status, code_in(status, 500), nullptr);
}

}  // namespace gpuward::kube
