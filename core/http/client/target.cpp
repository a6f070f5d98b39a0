#include "core/http/client/target.h"

#include <curl/curl.h>

#include <algorithm>
#include <memory>

namespace gpuward::http {
namespace {

struct UrlDeleter {
  void operator()(CURLU* url) const { curl_url_cleanup(url); }
};
using Url = std::unique_ptr<CURLU, UrlDeleter>;

std::string part_of(const Url& url, CURLUPart part) {
  char* text = nullptr;
  if (curl_url_get(url.get(), part, &text, CURLU_DEFAULT_PORT) != CURLUE_OK) return {};
  std::string copy(text);
  curl_free(text);
  return copy;
}

Url parse(const std::string& text) {
  Url url(curl_url());
  const bool has_control = std::ranges::any_of(
      text, [](char c) { return static_cast<unsigned char>(c) <= ' ' || c == 0x7F; });
  if (has_control || curl_url_set(url.get(), CURLUPART_URL, text.c_str(), 0) != CURLUE_OK) {
    url.reset();
  }
  return url;
}

}  // namespace

Result<ClientTarget> parse_target(const std::string& text) {
  const Url url = parse(text);
  if (!url) return fail(ErrorKind::kInvalid, "not a URL; expected http://HOST/... or https://...");
  const std::string scheme = part_of(url, CURLUPART_SCHEME);
  if (scheme != "http" && scheme != "https") {
    return fail(ErrorKind::kInvalid, "unsupported URL scheme " + scheme + "; use http or https");
  }
  ClientTarget target;
  target.host = part_of(url, CURLUPART_HOST);
  target.port = part_of(url, CURLUPART_PORT);
  target.is_tls = scheme == "https";
  const bool is_default = target.port == (target.is_tls ? "443" : "80");
  target.host_field = is_default ? target.host : target.host + ":" + target.port;
  return target;
}

Result<std::string> with_host(const std::string& text, const std::string& host) {
  const Url url = parse(text);
  if (!url || curl_url_set(url.get(), CURLUPART_HOST, host.c_str(), 0) != CURLUE_OK) {
    return fail(ErrorKind::kInvalid, "\"" + host + "\" is not a server name");
  }
  return part_of(url, CURLUPART_URL);
}

}  // namespace gpuward::http
