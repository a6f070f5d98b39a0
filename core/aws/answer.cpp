#include "core/aws/answer.h"

#include <algorithm>
#include <array>

#include "core/aws/xml.h"
#include "core/runtime/json.h"
#include "core/runtime/text.h"

namespace gpuward::aws {
namespace {

constexpr std::size_t kLongestWords = 400;
constexpr std::size_t kLongestCode = 80;
// EC2 appends it for administrators who may decode it: long, different each time, and about
// policies.
constexpr std::string_view kEncoded = " Encoded authorization failure message:";

struct CodeKind {
  std::string_view code;  // an * at the end matches any rest
  ErrorKind kind;
};

// EC2's "Error codes", and the common errors of Auto Scaling and STS. A code that is not listed is
// classed by the HTTP status.
constexpr std::array kCodeKinds = {
    CodeKind{"RequestLimitExceeded", ErrorKind::kOverloaded},
    CodeKind{"Throttl*", ErrorKind::kOverloaded},
    CodeKind{"TooManyRequestsException", ErrorKind::kOverloaded},
    CodeKind{"RequestThrottled*", ErrorKind::kOverloaded},
    CodeKind{"SlowDown", ErrorKind::kOverloaded},
    CodeKind{"ResourceContention*", ErrorKind::kOverloaded},
    CodeKind{"ScalingActivityInProgress*", ErrorKind::kBlocked},
    CodeKind{"InsufficientInstanceCapacity", ErrorKind::kBlocked},
    CodeKind{"UnauthorizedOperation", ErrorKind::kForbidden},
    CodeKind{"AccessDenied*", ErrorKind::kForbidden},
    CodeKind{"OptInRequired", ErrorKind::kForbidden},
    CodeKind{"AuthFailure", ErrorKind::kUnauthenticated},
    CodeKind{"AuthorizationError*", ErrorKind::kForbidden},
    CodeKind{"InvalidClientTokenId", ErrorKind::kUnauthenticated},
    CodeKind{"UnrecognizedClientException", ErrorKind::kUnauthenticated},
    CodeKind{"SignatureDoesNotMatch", ErrorKind::kUnauthenticated},
    CodeKind{"InvalidSignatureException", ErrorKind::kUnauthenticated},
    CodeKind{"IncompleteSignature", ErrorKind::kUnauthenticated},
    CodeKind{"MissingAuthenticationToken*", ErrorKind::kUnauthenticated},
    CodeKind{"RequestTimeTooSkewed", ErrorKind::kUnauthenticated},
    CodeKind{"RequestExpired", ErrorKind::kUnauthenticated},
    CodeKind{"InvalidAccessKeyId", ErrorKind::kUnauthenticated},
    CodeKind{"ExpiredToken*", ErrorKind::kUnauthenticated},
    CodeKind{"InvalidIdentityToken*", ErrorKind::kUnauthenticated},
    CodeKind{"InvalidInstanceID.NotFound", ErrorKind::kNotFound},
    CodeKind{"NotFound*", ErrorKind::kNotFound},
    CodeKind{"ResourceNotFound*", ErrorKind::kNotFound},
    CodeKind{"ResourceAlreadyExists*", ErrorKind::kConflict},
    CodeKind{"OperationNotPermitted", ErrorKind::kRefused},
    CodeKind{"IncorrectInstanceState", ErrorKind::kRefused},
    CodeKind{"IncorrectState", ErrorKind::kRefused},
    CodeKind{"UnsupportedOperation", ErrorKind::kRefused},
    CodeKind{"Unavailable", ErrorKind::kUnavailable},
    CodeKind{"InternalError", ErrorKind::kUnavailable},
    CodeKind{"InternalFailure", ErrorKind::kUnavailable},
    CodeKind{"ServiceUnavailable", ErrorKind::kUnavailable},
};

bool matches(const CodeKind& row, std::string_view code) {
  if (!row.code.ends_with('*')) return row.code == code;
  return code.starts_with(row.code.substr(0, row.code.size() - 1));
}

bool is_one_of(std::string_view code, std::initializer_list<std::string_view> codes) {
  return std::ranges::find(codes, code) != codes.end();
}

ErrorKind kind_of_status(int status) {
  switch (status) {
    case 401:
      return ErrorKind::kUnauthenticated;
    case 403:
      return ErrorKind::kForbidden;
    case 404:
      return ErrorKind::kNotFound;
    case 413:
      return ErrorKind::kTooLarge;
    case 429:
      return ErrorKind::kOverloaded;
    default:  // a number: classed by its hundreds
      return status >= 500 ? ErrorKind::kUnavailable : ErrorKind::kInvalid;
  }
}

// Reads <Response><Errors><Error>, <ErrorResponse><Error> or <Error> itself.
AwsFailure failure_in(const XmlElement& root) {
  const XmlElement& errors = root.child("Errors");
  const XmlElement& error = root.name == "Error"  ? root
                            : errors.name.empty() ? root.child("Error")
                                                  : errors.child("Error");
  return {.code = error.child("Code").text, .message = error.child("Message").text};
}

// "com.amazonaws.lambda#TooManyRequestsException:http://..." is TooManyRequestsException.
std::string bare_code(std::string_view code) {
  code = code.substr(0, code.find(':'));
  return std::string(code.substr(code.find('#') + 1));
}

AwsFailure failure_in(const Json& body, const http::ClientResponse& answer) {
  std::string code(answer.header("x-amzn-errortype"));
  if (code.empty()) code = string_at(body, "__type");
  std::string message = string_at(body, "message");
  if (message.empty()) message = string_at(body, "Message");
  return {.code = bare_code(code), .message = std::move(message)};
}

AwsFailure failure_in(const http::ClientResponse& answer) {
  if (const auto json = parse_json(answer.body); json && json->is_object())
    return failure_in(*json, answer);
  if (const auto xml = parse_xml(answer.body)) return failure_in(*xml);
  return {};
}

}  // namespace

AwsFailure read_failure(const http::ClientResponse& answer) {
  AwsFailure failure = failure_in(answer);
  failure.status = answer.status;
  // Keeps the first line only: the others of a wrong signature repeat the request with its token.
  failure.message.erase(std::min(failure.message.find('\n'), failure.message.size()));
  failure.message.erase(std::min(failure.message.find(kEncoded), failure.message.size()));
  failure.message = to_valid_utf8(failure.message, kLongestWords);
  failure.code = to_valid_utf8(failure.code, kLongestCode);
  return failure;
}

ErrorKind kind_of(const AwsFailure& failure) {
  const auto row = std::ranges::find_if(
      kCodeKinds, [&](const CodeKind& candidate) { return matches(candidate, failure.code); });
  return row == kCodeKinds.end() ? kind_of_status(failure.status) : row->kind;
}

std::string words_of(const AwsFailure& failure) {
  const std::string words =
      failure.code.empty() ? "HTTP " + std::to_string(failure.status) : failure.code;
  return failure.message.empty() ? words : words + ": " + failure.message;
}

bool may_be_clock_skew(const AwsFailure& failure) {
  return is_one_of(failure.code, {"RequestTimeTooSkewed", "RequestExpired", "AuthFailure",
                                  "SignatureDoesNotMatch", "InvalidSignatureException"});
}

bool says_keys_expired(const AwsFailure& failure) {
  return failure.code.starts_with("ExpiredToken") || failure.code == "RequestExpired";
}

}  // namespace gpuward::aws
