#include "core/http/syntax/plain_http.h"

#include <string>

#include "core/http/syntax/headers.h"
#include "core/http/syntax/host.h"

namespace gpuward::http {
namespace {

constexpr std::string_view kPlain = "http:";  // without slashes: curl accepts one or three

// The part between the scheme and the path.
std::string_view authority_of(std::string_view url) {
  const auto scheme = url.find("://");
  if (scheme == std::string_view::npos) return {};
  url.remove_prefix(scheme + 3);
  return url.substr(0, url.find_first_of("/?#"));
}

std::string_view without_user(std::string_view authority) {
  const auto at = authority.rfind('@');
  return at == std::string_view::npos ? authority : authority.substr(at + 1);
}

}  // namespace

bool has_user(std::string_view url) { return authority_of(url).contains('@'); }

bool is_sent_in_the_clear(std::string_view url) {
  const bool is_plain = same_name(url.substr(0, kPlain.size()), kPlain);
  return is_plain && !is_loopback(host_of(without_user(authority_of(url))));
}

Status check_credentials_for(std::string_view url, PlainHttp plain, std::string_view permit) {
  if (plain == PlainHttp::kAllowed || !is_sent_in_the_clear(url)) return {};
  const std::string host = host_of(without_user(authority_of(url)));
  return fail(ErrorKind::kInvalid, "credentials would be sent unencrypted to " +
                                       (host.empty() ? "another machine" : host) +
                                       ": use https://, or set " + std::string(permit) +
                                       " to allow it");
}

}  // namespace gpuward::http
