#include "exporter/announcements/answers.h"

#include <time.h>

#include <ctime>
#include <utility>

#include "core/runtime/text.h"

namespace gpuward::exporter {
namespace {

// The service is on the machine itself, or absent.
constexpr std::chrono::seconds kTimeout{1};
constexpr std::size_t kLargestAnswer = 64U << 10U;

}  // namespace

Result<MetadataAnswer> get_metadata(http::Client& http, const std::string& url, std::string header,
                                    std::string value) {
  http::ClientRequest request;
  request.url = url;
  request.timeout = kTimeout;
  request.max_response_bytes = kLargestAnswer;
  request.headers = {{std::move(header), std::move(value)}};
  const auto answer = http.send(request);
  if (!answer) return std::unexpected(answer.error());
  return MetadataAnswer{answer->status, std::string(trim(answer->body))};
}

std::unexpected<Error> refused(std::string_view service, int status) {
  return fail(ErrorKind::kUnavailable, "the metadata service returned HTTP " +
                                           std::to_string(status) + " for " + std::string(service));
}

std::optional<std::chrono::system_clock::time_point> parse_gmt(const std::string& text) {
  for (const char* const form : {"%d %b %Y %H:%M:%S GMT", "%a, %d %b %Y %H:%M:%S GMT"}) {
    std::tm parts{};
    const char* const end = ::strptime(text.c_str(), form, &parts);
    if (end != nullptr && *end == '\0')
      return std::chrono::system_clock::from_time_t(::timegm(&parts));
  }
  return std::nullopt;
}

}  // namespace gpuward::exporter
