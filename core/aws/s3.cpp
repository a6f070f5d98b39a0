#include "core/aws/s3.h"

#include <algorithm>
#include <stop_token>
#include <thread>

#include "core/http/syntax/url.h"

namespace gpuward::aws {
namespace {

constexpr std::string_view kScheme = "s3://";
constexpr std::string_view kRegion = "region=";
// "Bucket naming rules" of S3.
constexpr std::size_t kShortestBucket = 3, kLongestBucket = 63;
// A key has at most 1,024 bytes; the names below the prefix need some of them.
constexpr std::size_t kLongestPrefix = 700;

bool is_lower_or_digit(char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9'); }

bool is_bucket(std::string_view name) {
  return name.size() >= kShortestBucket && name.size() <= kLongestBucket &&
         is_lower_or_digit(name.front()) && is_lower_or_digit(name.back()) &&
         !name.contains("..") && std::ranges::all_of(name, [](char c) {
           return is_lower_or_digit(c) || c == '-' || c == '.';
         });
}

// "Safe characters" of S3's object keys.
bool is_safe(char c) {
  return is_lower_or_digit(c) || (c >= 'A' && c <= 'Z') ||
         std::string_view("!-_.*'()/").contains(c);
}

// A slash at the end is allowed.
bool is_prefix(std::string_view key) {
  if (key.size() > kLongestPrefix || !std::ranges::all_of(key, is_safe)) return false;
  while (!key.empty()) {
    const std::size_t slash = std::min(key.find('/'), key.size());
    const std::string_view segment = key.substr(0, slash);
    if (segment.empty() || segment == "." || segment == "..") return false;
    key.remove_prefix(std::min(slash + 1, key.size()));
  }
  return true;
}

std::string path_of(std::string_view key) {
  std::string path;
  while (!key.empty()) {
    const std::size_t slash = std::min(key.find('/'), key.size());
    path += "/" + http::encode_path_segment(key.substr(0, slash));
    key.remove_prefix(std::min(slash + 1, key.size()));
  }
  return path;
}

}  // namespace

Result<S3Place> parse_s3_url(std::string_view url) {
  if (!url.starts_with(kScheme)) return fail(ErrorKind::kInvalid, "does not begin with s3://");
  url.remove_prefix(kScheme.size());
  S3Place place;
  if (const std::size_t mark = url.find('?'); mark != std::string_view::npos) {
    const std::string_view query = url.substr(mark + 1);
    place.region = query.starts_with(kRegion) ? query.substr(kRegion.size()) : std::string_view();
    if (!is_region(place.region))
      return fail(ErrorKind::kInvalid,
                  "only region= is allowed after ?, for example ?region=eu-west-1");
    url = url.substr(0, mark);
  }
  const std::size_t slash = std::min(url.find('/'), url.size());
  place.bucket = url.substr(0, slash);
  place.key = url.substr(std::min(slash + 1, url.size()));
  if (!is_bucket(place.bucket))
    return fail(ErrorKind::kInvalid, "does not contain a valid S3 bucket name");
  if (!is_prefix(place.key)) {
    return fail(ErrorKind::kInvalid,
                "the prefix may have letters, digits and !-_.*'() between single slashes");
  }
  return place;
}

std::string s3_url_of(const S3Place& place) {
  return std::string(kScheme) + place.bucket + "/" + place.key;
}

Status put_object(AwsClient& aws, Clock& clock, const S3Place& place, std::string content,
                  std::chrono::milliseconds timeout, const std::stop_token& stop) {
  const auto deadline = clock.steady() + timeout;
  std::stop_source late;
  const std::stop_callback stopped(stop, [&late] { late.request_stop(); });
  const std::jthread timer([&](const std::stop_token& done) {
    if (clock.sleep_for(timeout, done)) late.request_stop();
  });
  const auto answer = aws.call({.service = kS3,
                                .what = "PutObject",
                                .method = "PUT",
                                .path = path_of(place.key),
                                .bucket = place.bucket,
                                .headers = {{"Content-Type", "application/octet-stream"}},
                                .body = std::move(content),
                                .region = place.region,
                                .timeout = timeout,
                                .stop = late.get_token()});
  if (answer) return {};
  if (stop.stop_requested()) return fail(ErrorKind::kCancelled, "S3 PutObject: stopped");
  if (answer.error().kind != ErrorKind::kCancelled && clock.steady() < deadline)
    return std::unexpected(answer.error());
  return fail(ErrorKind::kTimeout,
              "S3 PutObject: timed out after " + std::to_string(timeout.count()) + " ms");
}

}  // namespace gpuward::aws
