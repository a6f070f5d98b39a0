#include "core/upload/target.h"

#include <algorithm>

#include "core/http/client/target.h"

namespace gpuward {
namespace {

constexpr std::size_t kLongest = 1024;

bool is_plain(char c) { return c > ' ' && c < 0x7f && c != '$' && c != '"' && c != '\\'; }

bool climbs(std::string_view path) { return (std::string(path) + "/").contains("/../"); }

Result<UploadTarget> parse_url(std::string_view text) {
  const std::size_t host = text.find("://") + 3;
  const std::size_t path = std::min(text.find('/', host), text.size());
  // Checked first, because later errors repeat the URL.
  if (text.substr(host, path - host).contains('@')) {
    return fail(ErrorKind::kInvalid,
                "must not contain credentials: put them in a token file instead");
  }
  if (text.find_first_of("?#") != std::string_view::npos)
    return fail(ErrorKind::kInvalid, "must not contain a query or a fragment");
  // curl would take the first word of the path as the host.
  if (path == host || !http::parse_target(std::string(text)))
    return fail(ErrorKind::kInvalid, "is not a valid HTTP URL");
  return HttpPlace{std::string(text) + (text.ends_with('/') ? "" : "/")};
}

}  // namespace

Result<UploadTarget> parse_upload_target(std::string_view text) {
  if (text.size() > kLongest) return fail(ErrorKind::kInvalid, "is too long");
  if (!std::ranges::all_of(text, is_plain))
    return fail(ErrorKind::kInvalid,
                "must not contain a space, a $, a quote, a backslash or a non-ASCII character");
  if (climbs(text)) return fail(ErrorKind::kInvalid, "must not contain ..");
  if (text.starts_with("s3://")) {
    auto place = aws::parse_s3_url(text);
    if (!place) return std::unexpected(place.error());
    return *std::move(place);
  }
  if (text.starts_with("https://") || text.starts_with("http://")) return parse_url(text);
  if (text.starts_with('/') && text != "/") return FolderPlace{std::filesystem::path(text)};
  return fail(ErrorKind::kInvalid,
              "must be s3://bucket/prefix, https://host/path/ or the absolute path of a directory");
}

UploadTarget below(UploadTarget target, std::string_view name) {
  if (auto* s3 = std::get_if<aws::S3Place>(&target)) {
    if (!s3->key.empty() && !s3->key.ends_with('/')) s3->key += '/';
    s3->key += name;
  } else if (auto* http = std::get_if<HttpPlace>(&target)) {
    http->url += name;
  } else {
    std::get<FolderPlace>(target).path /= name;
  }
  return target;
}

std::string to_text(const UploadTarget& target) {
  if (const auto* s3 = std::get_if<aws::S3Place>(&target)) return aws::s3_url_of(*s3);
  if (const auto* http = std::get_if<HttpPlace>(&target)) return http->url;
  return std::get<FolderPlace>(target).path.string();
}

}  // namespace gpuward
