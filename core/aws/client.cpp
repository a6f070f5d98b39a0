#include "core/aws/client.h"

#include <time.h>

#include <optional>

#include "core/aws/key_source.h"
#include "core/aws/region.h"
#include "core/http/client/stoppable.h"
#include "core/http/client/target.h"
#include "core/runtime/backoff.h"

namespace gpuward::aws {
namespace {

using std::chrono::seconds;

constexpr int kMostAttempts = 5;
constexpr BackoffPolicy kThrottled{.first = std::chrono::milliseconds(250),
                                   .longest = std::chrono::milliseconds(4'000)};
// AWS takes signatures that are up to five minutes old.
constexpr seconds kSkewThatMatters{240};
constexpr std::size_t kLargestAnswer = 4U << 20U;

// "Sun, 22 Nov 2026 02:04:32 GMT"
std::optional<Clock::Wall> parse_http_date(const std::string& text) {
  std::tm parts{};
  const char* const end = ::strptime(text.c_str(), "%a, %d %b %Y %H:%M:%S GMT", &parts);
  if (end == nullptr || *end != '\0') return std::nullopt;
  return std::chrono::system_clock::from_time_t(::timegm(&parts));
}

// Encodes a blank as '+', as HTML forms do: a server that checks the signature by encoding the form
// again writes it in this way.
std::string form_of(const http::Query& fields) {
  std::string form = http::build_query(fields);
  for (std::size_t at = form.find("%20"); at != std::string::npos; at = form.find("%20", at))
    form.replace(at, 3, "+");
  return form;
}

// Masks `secret`, because a response may repeat the request.
std::string without(std::string text, const std::string& secret) {
  if (secret.empty()) return text;
  for (std::size_t at = text.find(secret); at != std::string::npos; at = text.find(secret))
    text.replace(at, secret.size(), "***");
  return text;
}

std::unexpected<Error> refusal(const AwsFailure& failure, const AwsKeys& keys) {
  return fail(kind_of(failure),
              without(without(words_of(failure), keys.session_token), keys.secret_access_key) +
                  (says_keys_expired(failure)
                       ? " (these credentials have expired, and no newer ones are available)"
                       : ""));
}

// AWS has not judged the request yet: an operator can still correct a region, keys or a
// certificate.
std::unexpected<Error> not_yet_asked(Error error) {
  if (error.kind == ErrorKind::kInvalid) error.kind = ErrorKind::kUnauthenticated;
  return std::unexpected(std::move(error));
}

}  // namespace

AwsClient::AwsClient(http::Client& http, AwsEnvironment environment, Clock& clock)
    : http_(http),
      environment_(std::move(environment)),
      clock_(clock),
      keys_([this] { return find_keys({http_, environment_, clock_}); }, clock),
      offset_(seconds(0)) {}

Result<std::string> AwsClient::region() {
  {
    const std::lock_guard lock(mutex_);
    if (!region_.empty()) return region_;
  }
  auto found = find_region({http_, environment_, clock_});
  const std::lock_guard lock(mutex_);
  if (found) region_ = *found;
  return found;
}

Result<AwsClient::Place> AwsClient::place_of(const AwsCall& call) {
  const auto where = call.region.empty() ? region() : Result<std::string>(call.region);
  if (!where) return std::unexpected(where.error());
  auto endpoint = endpoint_of(environment_, call.service, *where);
  if (!endpoint) return std::unexpected(endpoint.error());
  if (!call.bucket.empty()) {
    const bool is_in_path =
        call.bucket.contains('.') || has_own_endpoint(environment_, call.service);
    is_in_path ? endpoint->append("/" + call.bucket)
               : endpoint->insert(endpoint->find("://") + 3, call.bucket + ".");
  }
  Place place{.url = *endpoint + call.path, .path = {}, .host = {}, .region = *where};
  const auto target = http::parse_target(place.url);
  if (!target) return std::unexpected(target.error());
  place.host = target->host_field;
  // A configured endpoint may have a path in front of the call's; the signature covers it too.
  place.path = place.url.substr(place.url.find('/', place.url.find("://") + 3));
  return place;
}

Result<http::ClientResponse> AwsClient::call(const AwsCall& call) {
  const std::string what = std::string(call.service.title) + " " + call.what;
  const auto place = place_of(call);
  if (!place) return with_context(what, not_yet_asked(place.error()).error());
  auto answer = ask(call, *place);
  if (!answer) return with_context(what, answer.error());
  return answer;
}

Result<http::ClientResponse> AwsClient::ask(const AwsCall& call, const Place& place) {
  Backoff backoff(kThrottled);
  bool was_renewed = false;
  bool was_corrected = false;
  for (int attempt = 1;; ++attempt) {
    const auto keys = keys_.current();
    if (!keys) return not_yet_asked(keys.error());
    if (auto may = call.permit ? call.permit() : Status(); !may)
      return std::unexpected(may.error());
    auto answer = ask_once(call, place, *keys);
    if (!answer) return not_yet_asked(answer.error());
    if (answer->status / 100 == 2) return answer;
    const AwsFailure failure = read_failure(*answer);
    if (!was_corrected && corrects_clock(failure, *answer)) {
      was_corrected = true;
    } else if (!was_renewed && kind_of(failure) == ErrorKind::kUnauthenticated &&
               has_others_than(*keys)) {
      was_renewed = true;
    } else if (kind_of(failure) != ErrorKind::kOverloaded || attempt >= kMostAttempts) {
      return refusal(failure, *keys);
    } else {
      if (!clock_.sleep_for(backoff.next(), call.stop))
        return fail(ErrorKind::kCancelled, "stopped while AWS was throttling the request");
    }
  }
}

Result<http::ClientResponse> AwsClient::ask_once(const AwsCall& call, const Place& place,
                                                 const AwsKeys& keys) {
  http::ClientRequest request;
  request.method = call.method;
  request.url = place.url;
  request.headers = call.headers;
  request.headers.emplace_back("Host", place.host);
  request.body = call.body;
  request.timeout = call.timeout;
  request.max_response_bytes = kLargestAnswer;
  request.own_connection = true;  // so that a restart is requested only once
  const HeaderFields added =
      sign({.method = call.method,
            .path = place.path,
            .query = {},
            .headers = request.headers,
            .body = call.body},
           keys, {place.region, call.service.signing}, clock_.wall() + offset_.load());
  request.headers.insert(request.headers.end(), added.begin(), added.end());
  if (!call.stop.stop_possible()) return http_.send(request);
  return http::send_until_stopped(http_, request, clock_, call.stop);
}

bool AwsClient::has_others_than(const AwsKeys& keys) {
  keys_.reject(keys.access_key_id);
  const auto found = keys_.current();
  return found && (found->access_key_id != keys.access_key_id ||
                   found->secret_access_key != keys.secret_access_key ||
                   found->session_token != keys.session_token);
}

bool AwsClient::corrects_clock(const AwsFailure& failure, const http::ClientResponse& answer) {
  if (!may_be_clock_skew(failure)) return false;
  const auto theirs = parse_http_date(std::string(answer.header("Date")));
  if (!theirs) return false;
  const auto offset = std::chrono::round<seconds>(*theirs - clock_.wall());
  if (std::chrono::abs(offset - offset_.load()) < kSkewThatMatters) return false;
  offset_ = offset;
  return true;
}

Result<XmlElement> AwsClient::query(const AwsQuery& query) {
  http::Query fields = {{"Action", query.action}, {"Version", query.version}};
  fields.insert(fields.end(), query.parameters.begin(), query.parameters.end());
  const auto answer =
      call({.service = query.service,
            .what = query.action,
            .headers = {{"Content-Type", "application/x-www-form-urlencoded; charset=utf-8"}},
            .body = form_of(fields),
            .region = query.region,
            .timeout = query.timeout,
            .permit = query.permit,
            .stop = query.stop});
  if (!answer) return std::unexpected(answer.error());
  auto root = parse_xml(answer->body);
  if (root) return root;
  // AWS or a proxy has accepted the request.
  return fail(ErrorKind::kUnavailable, std::string(query.service.title) + " " + query.action +
                                           ": the response is " + root.error().message);
}

}  // namespace gpuward::aws
