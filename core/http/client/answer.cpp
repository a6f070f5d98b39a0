#include "core/http/client/answer.h"

#include <utility>

#include "core/runtime/clock.h"
#include "core/runtime/text.h"

namespace gpuward::http {
namespace {

using std::chrono::milliseconds;

constexpr std::size_t kMaxHeaderBytes = 256U << 10U;

// "HTTP/1.1 404 Not Found" gives 404; 0 for anything else.
int status_in(std::string_view line) {
  line.remove_prefix(std::min(line.find(' ') + 1, line.size()));
  return parse_integer<int>(line.substr(0, 3)).value_or(0);
}

}  // namespace

ClientAnswer::ClientAnswer(const ClientRequest& request, const StreamOptions* stream)
    : request_(request), stream_(stream), deadline_(SystemClock().steady() + request.timeout) {}

std::stop_token ClientAnswer::stop_token() const {
  return stream_ != nullptr ? stream_->stop : std::stop_token{};
}

bool ClientAnswer::take_header(std::string_view line) {
  header_bytes_ += line.size();
  if (header_bytes_ > kMaxHeaderBytes) {
    error_ = {ErrorKind::kTooLarge, "the response header is too large", {}};
    return false;
  }
  line = trim(line);
  if (line.empty()) {
    end_head();
  } else if (line.starts_with("HTTP/")) {
    begin_head(line);
  } else if (const auto colon = line.find(':'); colon != std::string_view::npos) {
    auto& fields = has_head_ ? response_.trailers : response_.headers;
    fields.emplace_back(line.substr(0, colon), trim(line.substr(colon + 1)));
  }
  return true;
}

void ClientAnswer::begin_head(std::string_view status_line) {
  response_.headers.clear();  // those of a 100 Continue
  response_.status = status_in(status_line);
}

void ClientAnswer::end_head() {
  has_head_ = response_.status >= 200;
  if (has_head_ && stream_ != nullptr) deadline_ = SystemClock().steady() + stream_->idle;
}

bool ClientAnswer::take_body(std::string_view bytes) {
  if (stream_ != nullptr && response_.status >= 200 && response_.status < 300) {
    deadline_ = SystemClock().steady() + stream_->idle;
    was_ended_by_caller_ = !stream_->on_bytes(bytes);
    return !was_ended_by_caller_;
  }
  if (response_.body.size() + bytes.size() > request_.max_response_bytes) {
    const std::string cap = std::to_string(request_.max_response_bytes);
    error_ = {ErrorKind::kTooLarge, "the response is larger than " + cap + " bytes", {}};
    return false;
  }
  response_.body.append(bytes);
  return true;
}

milliseconds ClientAnswer::time_left() {
  const auto left = std::chrono::ceil<milliseconds>(deadline_ - SystemClock().steady());
  if (stop_token().stop_requested()) {
    error_ = {ErrorKind::kCancelled, "stopped", {}};
  } else if (left <= milliseconds(0)) {
    error_ = {ErrorKind::kTimeout, timeout_text(), {}};
  }
  return left;
}

std::string ClientAnswer::timeout_text() const {
  if (stream_ != nullptr && has_head_) {
    return "no data received for " + std::to_string(stream_->idle.count()) + " ms";
  }
  return "no response within " + std::to_string(request_.timeout.count()) + " ms";
}

}  // namespace gpuward::http
