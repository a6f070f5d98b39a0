#include "core/upload/upload.h"

#include "core/http/client/stoppable.h"
#include "core/runtime/child.h"
#include "core/runtime/text.h"

namespace gpuward {
namespace {

constexpr std::size_t kLargestAnswer = 64U << 10U;
// Writes under another name first, so that a reader never finds half of a file.
constexpr const char* kCopy =
    R"(umask 077 && cat >"$1.partial" && mv -f "$1.partial" "$1" || { rm -f "$1.partial"; exit 1; })";

ErrorKind kind_of_status(int status) {
  if (status == 401) return ErrorKind::kUnauthenticated;
  if (status == 403) return ErrorKind::kForbidden;
  if (status == 404) return ErrorKind::kNotFound;
  if (status == 413) return ErrorKind::kTooLarge;
  if (status == 429) return ErrorKind::kOverloaded;
  return status >= 500 ? ErrorKind::kUnavailable : ErrorKind::kRefused;
}

Status put_url(const HttpPlace& place, const std::string& content,
               std::chrono::milliseconds timeout, const UploadParts& parts) {
  http::ClientRequest request;
  request.method = "PUT";
  request.url = place.url;
  request.headers = {{"Content-Type", "application/octet-stream"}};
  request.body = content;
  request.timeout = timeout;
  request.max_response_bytes = kLargestAnswer;
  const auto answer = http::send_until_stopped(parts.http, request, parts.clock, parts.stop);
  if (!answer) return std::unexpected(answer.error());
  if (answer->status / 100 == 2) return {};
  const bool is_redirect = answer->status / 100 == 3;
  return fail(kind_of_status(answer->status),
              "HTTP " + std::to_string(answer->status) +
                  (is_redirect ? ": gpuward does not follow redirects" : ""));
}

Status copy(const FolderPlace& place, const std::string& content, std::chrono::milliseconds timeout,
            const UploadParts& parts) {
  ChildCommand command;
  command.program = "sh";
  command.arguments = {"-c", kCopy, "sh", place.path.string()};
  command.input = content;
  command.timeout = timeout;
  command.stop = parts.stop;
  const auto ended = run_child(command, parts.clock);
  if (!ended) return with_context("copying", ended.error());
  if (ended->exit_code == 0) return {};
  return fail(ErrorKind::kUnavailable, "copying " + how_it_ended(*ended) + ": " +
                                           to_valid_utf8(trim(ended->complaint), 200));
}

}  // namespace

Status upload(const UploadTarget& place, const std::string& content,
              std::chrono::milliseconds timeout, const UploadParts& parts) {
  if (const auto* s3 = std::get_if<aws::S3Place>(&place))
    return aws::put_object(parts.aws, parts.clock, *s3, content, timeout, parts.stop);
  if (const auto* url = std::get_if<HttpPlace>(&place))
    return put_url(*url, content, timeout, parts);
  return copy(std::get<FolderPlace>(place), content, timeout, parts);
}

}  // namespace gpuward
