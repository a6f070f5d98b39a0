#include "core/http/client/error.h"

#include <curl/curl.h>

namespace gpuward::http {
namespace {

ErrorKind kind_of(int code) {
  switch (
      code) {  // an int: curl has a hundred codes, all but these are a connection's or the peer's
    case CURLE_OPERATION_TIMEDOUT:
      return ErrorKind::kTimeout;
    case CURLE_URL_MALFORMAT:
    case CURLE_SSL_CERTPROBLEM:
    case CURLE_SSL_CACERT_BADFILE:
      return ErrorKind::kInvalid;
    case CURLE_OUT_OF_MEMORY:
    case CURLE_FAILED_INIT:
      return ErrorKind::kInternal;
  }
  return ErrorKind::kUnavailable;
}

}  // namespace

Error error_of_curl(int code, const std::string& detail) {
  const std::string message =
      detail.empty() ? curl_easy_strerror(static_cast<CURLcode>(code)) : detail;
  return {kind_of(code), message, {}};
}

}  // namespace gpuward::http
