#include "core/kube/transport.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "core/kube/errors.h"

namespace gpuward::kube {
namespace {

using std::chrono::milliseconds;

constexpr BackoffPolicy kBetweenTries{milliseconds(100), milliseconds(10'000), 2.0};
constexpr milliseconds kLongestPause{30'000};  // even if Retry-After asks for more
constexpr milliseconds kDefaultPause{1'000};   // for a 429 without Retry-After

bool worth_repeating(const Error& error, Repeat repeat) {
  switch (error.kind) {
    case ErrorKind::kOverloaded:
      return repeat != Repeat::kNever;
    case ErrorKind::kUnavailable:
    case ErrorKind::kTimeout:
      return repeat == Repeat::kAlways;
    case ErrorKind::kInvalid:
    case ErrorKind::kUnauthenticated:
    case ErrorKind::kForbidden:
    case ErrorKind::kNotFound:
    case ErrorKind::kAlreadyExists:
    case ErrorKind::kConflict:
    case ErrorKind::kGone:
    case ErrorKind::kBlocked:
    case ErrorKind::kRefused:
    case ErrorKind::kTooLarge:
    case ErrorKind::kCancelled:
    case ErrorKind::kInternal:
      return false;
  }
  return false;
}

bool is_success(int status) { return status >= 200 && status < 300; }

bool may_be_of_proxy(ErrorKind kind) {
  return kind == ErrorKind::kUnauthenticated || kind == ErrorKind::kUnavailable ||
         kind == ErrorKind::kTimeout || kind == ErrorKind::kOverloaded;
}

Result<Answer> read_answer(const Call& call, const http::ClientResponse& answer) {
  if (call.answers == Answers::kText && is_success(answer.status)) return Answer{Json()};
  JsonLimits limits;
  limits.max_bytes = call.max_response_bytes;
  auto json = parse_json(answer.body, limits);
  if (!is_success(answer.status)) {
    Error error = classify(answer, json ? *json : Json());
    const bool is_foreign = !json || string_at(*json, "kind") != "Status";
    if (call.answers == Answers::kKubernetes && is_foreign && !may_be_of_proxy(error.kind))
      error.kind = ErrorKind::kInternal;
    return std::unexpected(std::move(error));
  }
  if (!json)
    return with_context("the response is not JSON",
                        Error{ErrorKind::kInternal, json.error().message, {}});
  if (auto failure = failure_in(answer, *json)) return std::unexpected(std::move(*failure));
  return Answer{std::move(*json)};
}

std::string path_of(std::string_view target) {
  return std::string(target.substr(0, target.find('?')));
}

}  // namespace

Transport::Transport(const ApiOptions& options, http::Client& http, Credentials& credentials,
                     Clock& clock)
    : options_(options), http_(http), credentials_(credentials), clock_(clock) {}

std::uint64_t Transport::next_seed() {
  return options_.jitter_seed == 0 ? 0 : options_.jitter_seed + seeds_taken_.fetch_add(1);
}

Result<Answer> Transport::send(const Call& call) {
  if (!call.target) return std::unexpected(call.target.error());
  const auto deadline = clock_.steady() + std::max(options_.retry_deadline, call.patience);
  auto answer = send_until(call, deadline);
  if (!answer)
    return with_context(call.method + " " + path_of(*call.target), std::move(answer.error()));
  return answer;
}

Status Transport::send_only(const Call& call) {
  const auto answer = send(call);
  if (!answer) return std::unexpected(answer.error());
  return {};
}

Result<Answer> Transport::send_until(const Call& call, Deadline deadline) {
  auto authorization = credentials_.authorization();
  if (!authorization) return std::unexpected(std::move(authorization.error()));
  std::optional<Backoff> backoff;
  std::optional<Error> unknown;  // of an attempt that may have been carried out
  bool renewed = false;
  while (true) {
    if (auto turn = wait_for_pause(call.repeat == Repeat::kNever ? Deadline::min() : deadline);
        !turn)
      return std::unexpected(std::move(turn.error()));
    if (auto may = call.permit ? call.permit() : Status(); !may)
      return std::unexpected(unknown.value_or(may.error()));
    auto answer = attempt(call, *authorization, deadline);
    if (answer) return answer;
    const Error& error = answer.error();
    const bool may_have_arrived =
        error.kind == ErrorKind::kUnavailable || error.kind == ErrorKind::kTimeout;
    if (may_have_arrived) unknown = error;
    if (error.kind == ErrorKind::kUnauthenticated && !renewed) {
      renewed = true;  // the server did nothing: retry once with a new token, for any call
      if (auto other = renewed_authorization(*authorization); !other.empty()) {
        *authorization = std::move(other);
        continue;
      }
    }
    if (error.kind == ErrorKind::kOverloaded) pause(error.retry_after);
    if (!worth_repeating(error, call.repeat)) return answer;
    if (!backoff) backoff.emplace(kBetweenTries, next_seed());
    const milliseconds wait = std::max(backoff->next(), std::min(error.retry_after, kLongestPause));
    if (clock_.steady() + wait >= deadline) return answer;
    if (!clock_.sleep_for(wait, options_.stop))
      return fail(ErrorKind::kCancelled, "stopped after: " + error.message);
  }
}

Result<Answer> Transport::attempt(const Call& call, const std::string& authorization,
                                  Deadline deadline) {
  const auto left = std::chrono::duration_cast<milliseconds>(deadline - clock_.steady());
  http::ClientRequest request = request_for(call, authorization);
  request.timeout =
      std::clamp(left, milliseconds(1), std::max(options_.request_timeout, call.patience));
  auto answer = http_.send(request);
  if (!answer) return std::unexpected(std::move(answer.error()));
  return read_answer(call, *answer);
}

std::string Transport::renewed_authorization(const std::string& rejected) {
  credentials_.reject(rejected);
  auto other = credentials_.authorization();
  return other && *other != rejected ? std::move(*other) : std::string();
}

Status Transport::wait_for_pause(Deadline deadline) {
  Deadline until;
  {
    const std::lock_guard lock(mutex_);
    until = paused_until_;
  }
  const Deadline now = clock_.steady();
  if (now >= until) return {};
  if (until >= deadline) {
    return std::unexpected(
        Error{ErrorKind::kOverloaded,
              "not sent: the API server asked gpuward to wait beyond the request deadline",
              std::chrono::ceil<milliseconds>(until - now)});
  }
  if (!clock_.sleep_until(until, options_.stop))
    return fail(ErrorKind::kCancelled, "stopped during a pause that the API server asked for");
  return {};
}

void Transport::pause(milliseconds duration) {
  const milliseconds asked =
      duration.count() > 0 ? std::min(duration, kLongestPause) : kDefaultPause;
  const std::lock_guard lock(mutex_);
  paused_until_ = std::max(paused_until_, clock_.steady() + asked);
}

http::ClientRequest Transport::request_for(const Call& call,
                                           const std::string& authorization) const {
  http::ClientRequest request;
  request.method = call.method;
  request.url = options_.server + *call.target;
  request.headers = {{"Accept", std::string(call.accepts)}, {"User-Agent", options_.user_agent}};
  if (!call.body.empty()) request.headers.emplace_back("Content-Type", call.content_type);
  if (!authorization.empty()) request.headers.emplace_back("Authorization", authorization);
  request.body = call.body;
  request.max_response_bytes = call.max_response_bytes;
  request.is_last_of_program = options_.ends_program;
  return request;
}

Status Transport::stream(const std::string& target, milliseconds idle, std::stop_token stop,
                         const std::function<bool(std::string_view)>& on_bytes) {
  const Call call{.target = target};
  const auto open = [&](const std::string& authorization) -> Status {
    http::ClientRequest request = request_for(call, authorization);
    request.timeout = options_.request_timeout;
    auto answer = http_.stream(request, idle, stop, on_bytes);
    if (!answer) return std::unexpected(std::move(answer.error()));
    if (is_success(answer->status)) return {};
    const auto json = parse_json(answer->body);
    return std::unexpected(classify(*answer, json ? *json : Json()));
  };
  const auto authorization = credentials_.authorization();
  if (!authorization) return with_context("watch " + path_of(target), authorization.error());
  auto done = open(*authorization);
  if (!done && done.error().kind == ErrorKind::kUnauthenticated) {
    if (const auto other = renewed_authorization(*authorization); !other.empty())
      done = open(other);
  }
  if (!done) return with_context("watch " + path_of(target), std::move(done.error()));
  return {};
}

}  // namespace gpuward::kube
