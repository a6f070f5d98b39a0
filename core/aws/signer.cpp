#include "core/aws/signer.h"

#include <algorithm>
#include <array>
#include <map>

#include "core/http/syntax/url.h"
#include "core/runtime/digest.h"
#include "core/runtime/encoding.h"
#include "core/runtime/text.h"

namespace gpuward::aws {
namespace {

constexpr std::string_view kAlgorithm = "AWS4-HMAC-SHA256";

// Proxies and curl may change these headers on the way.
constexpr std::array<std::string_view, 10> kUnsigned = {
    "authorization", "connection",        "expect",  "keep-alive", "te",
    "trailer",       "transfer-encoding", "upgrade", "user-agent", "x-amzn-trace-id"};

// 20150830T123600Z
std::string basic_time(Clock::Wall now) {
  std::string text = to_rfc3339(now);
  std::erase_if(text, [](char c) { return c == '-' || c == ':'; });
  return text;
}

// Resolves dots, then encodes each segment of the sent path once more, its escapes included.
std::string canonical_path(std::string_view path) {
  std::vector<std::string_view> kept;
  bool ends_open = true;
  while (!path.empty()) {
    const std::size_t slash = std::min(path.find('/'), path.size());
    const std::string_view segment = path.substr(0, slash);
    ends_open = slash < path.size() || segment == "." || segment == "..";
    path.remove_prefix(std::min(slash + 1, path.size()));
    if (segment == ".." && !kept.empty()) kept.pop_back();
    if (!segment.empty() && segment != "." && segment != "..") kept.push_back(segment);
  }
  std::string out;
  for (const std::string_view segment : kept) out += "/" + http::encode_query_value(segment);
  return out.empty() || ends_open ? out + "/" : out;
}

std::string canonical_query(std::string_view query) {
  std::vector<std::pair<std::string_view, std::string_view>> pairs;
  while (!query.empty()) {
    const std::size_t end = std::min(query.find('&'), query.size());
    const std::string_view part = query.substr(0, end);
    const std::size_t equals = std::min(part.find('='), part.size());
    pairs.emplace_back(part.substr(0, equals), part.substr(std::min(equals + 1, part.size())));
    query.remove_prefix(std::min(end + 1, query.size()));
  }
  std::ranges::sort(pairs);
  std::string out;
  for (const auto& [name, value] : pairs) {
    out += out.empty() ? "" : "&";
    out.append(name).append("=").append(value);
  }
  return out;
}

bool is_carriers(const std::string& name) {
  return name.starts_with("proxy-") || std::ranges::find(kUnsigned, name) != kUnsigned.end();
}

// Folds a run of white space to one blank.
std::string folded(std::string_view value) {
  std::string out;
  for (const char c : trim(value)) {
    const bool is_blank = c == ' ' || c == '\t' || c == '\r' || c == '\n';
    if (!is_blank || out.back() != ' ') out += is_blank ? ' ' : c;
  }
  return out;
}

std::map<std::string, std::string> signed_fields(const HeaderFields& headers) {
  std::map<std::string, std::string> fields;
  for (const auto& [name, value] : headers) {
    const std::string key = to_lower(name);
    if (is_carriers(key)) continue;
    const auto [place, is_new] = fields.try_emplace(key, folded(value));
    if (!is_new) place->second += "," + folded(value);
  }
  return fields;
}

std::string names_of(const std::map<std::string, std::string>& fields) {
  std::string names;
  for (const auto& [name, value] : fields) names += (names.empty() ? "" : ";") + name;
  return names;
}

// S3 takes the path as it is sent: a key may have dots and empty segments, and is encoded once.
bool is_s3(const SigningScope& scope) { return scope.service == "s3"; }

std::string canonical_request(const SignableRequest& request, const SigningScope& scope,
                              const std::map<std::string, std::string>& fields,
                              const std::string& body_hash) {
  std::string text(request.method);
  text += "\n" + (is_s3(scope) ? std::string(request.path) : canonical_path(request.path));
  text += "\n" + canonical_query(request.query) + "\n";
  for (const auto& [name, value] : fields) text += name + ":" + value + "\n";
  return text + "\n" + names_of(fields) + "\n" + body_hash;
}

std::string signature_of(const std::string& text, const AwsKeys& keys, const SigningScope& scope,
                         std::string_view day) {
  auto key = keyed_digest_of("AWS4" + keys.secret_access_key, day);
  key = keyed_digest_of(view_of(key), scope.region);
  key = keyed_digest_of(view_of(key), scope.service);
  key = keyed_digest_of(view_of(key), "aws4_request");
  return to_hex(view_of(keyed_digest_of(view_of(key), text)));
}

}  // namespace

HeaderFields sign(const SignableRequest& request, const AwsKeys& keys, const SigningScope& scope,
                  Clock::Wall now) {
  const std::string time = basic_time(now);
  const std::string day = time.substr(0, 8);
  const std::string body_hash = to_hex(view_of(digest_of(request.body)));
  HeaderFields added{{"X-Amz-Date", time}};
  if (is_s3(scope)) added.emplace_back("X-Amz-Content-Sha256", body_hash);
  if (!keys.session_token.empty()) added.emplace_back("X-Amz-Security-Token", keys.session_token);
  HeaderFields all = request.headers;
  all.insert(all.end(), added.begin(), added.end());
  const auto fields = signed_fields(all);
  const std::string place =
      day + "/" + std::string(scope.region) + "/" + std::string(scope.service) + "/aws4_request";
  const std::string text =
      std::string(kAlgorithm) + "\n" + time + "\n" + place + "\n" +
      to_hex(view_of(digest_of(canonical_request(request, scope, fields, body_hash))));
  added.emplace_back("Authorization", std::string(kAlgorithm) +
                                          " Credential=" + keys.access_key_id + "/" + place +
                                          ", SignedHeaders=" + names_of(fields) +
                                          ", Signature=" + signature_of(text, keys, scope, day));
  return added;
}

}  // namespace gpuward::aws
