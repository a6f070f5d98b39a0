#include "remediator/notify/json_post.h"

#include <algorithm>
#include <array>
#include <utility>

#include "core/http/client/authorized_client.h"
#include "core/runtime/files.h"
#include "core/runtime/text.h"

namespace gpuward::remediator {
namespace {

constexpr std::size_t kLargestUrlFile = 8U << 10U;
constexpr std::size_t kLargestAnswer = 64U << 10U;
constexpr std::array kNeverTaken{400, 413, 415, 422};
constexpr std::chrono::seconds kLongestRetryAfter{600};

// Only in seconds: the other form, a date, is ignored.
std::chrono::seconds asked_for(const http::ClientResponse& response) {
  const auto wait = parse_integer<int>(response.header("Retry-After")).value_or(0);
  return std::clamp(std::chrono::seconds(wait), std::chrono::seconds(0), kLongestRetryAfter);
}

Status judge_answer(const http::ClientResponse& response) {
  if (response.status >= 200 && response.status < 300) return {};
  const bool is_final = std::ranges::find(kNeverTaken, response.status) != kNeverTaken.end();
  return std::unexpected(Error{is_final ? ErrorKind::kInvalid : ErrorKind::kUnavailable,
                               "the receiver answered " + std::to_string(response.status),
                               asked_for(response)});
}

}  // namespace

Result<std::unique_ptr<JsonPost>> JsonPost::open(const SinkSettings& settings) {
  std::unique_ptr<JsonPost> post(new JsonPost(settings));
  if (post->url_watch_) {
    if (auto read = post->read_url(); !read) return std::unexpected(read.error());
  }
  http::ClientFiles files;
  files.ca_file = settings.ca_file;
  files.bearer_token_file = settings.bearer_token_file;
  files.has_secret_url = post->url_watch_.has_value();
  if (settings.credentials_over_http) files.plain_http = http::PlainHttp::kAllowed;
  auto client = http::AuthorizedClient::open(std::move(files), post->url_);
  if (!client) return std::unexpected(client.error());
  post->client_ = *std::move(client);
  return post;
}

JsonPost::JsonPost(const SinkSettings& settings) : timeout_(settings.timeout), url_(settings.url) {
  if (!settings.url_file.empty()) url_watch_.emplace(settings.url_file);
}

Status JsonPost::read_url() {
  const auto content = read_file(url_watch_->path(), kLargestUrlFile);
  if (!content) return std::unexpected(content.error());
  const std::string_view url = trim(*content);
  const bool is_url = url.starts_with("https://") || url.starts_with("http://");
  if (!is_url || url.find_first_of(" \t\r\n") != std::string_view::npos) {
    return fail(ErrorKind::kInvalid, url_watch_->path().string() +
                                         ": expected one line with an http:// or https:// URL");
  }
  url_ = url;
  return {};
}

Status JsonPost::send(const std::string& body, const std::stop_token& stop) {
  // If the new file is invalid, the previous address stays in force.
  if (url_watch_ && url_watch_->changed()) (void)read_url();
  http::ClientRequest request;
  request.method = "POST";
  request.url = url_;
  request.headers = {{"Content-Type", "application/json"}};
  request.body = body;
  request.timeout = timeout_;
  request.max_response_bytes = kLargestAnswer;
  // Only the status of an answer matters: its body is not read.
  const auto response =
      client_->stream(request, timeout_, stop, [](std::string_view) { return false; });
  if (response) return judge_answer(*response);
  Error error = response.error();
  // This does not mean that the receiver refuses the event: a URL or certificate may be corrected.
  if (error.kind == ErrorKind::kInvalid) error.kind = ErrorKind::kUnavailable;
  return std::unexpected(std::move(error));
}

}  // namespace gpuward::remediator
