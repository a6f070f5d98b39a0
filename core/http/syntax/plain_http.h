// The one rule about credentials that leave the process: no token, password or key is sent over
// plain HTTP, where everybody on the way can read it, unless to this machine itself or by explicit
// leave. Used where URLs are configured, and by AuthorizedClient for each request.
#pragma once

#include <string>
#include <string_view>

#include "core/model/result.h"

namespace gpuward::http {

enum class PlainHttp : bool { kRefused, kAllowed };

// Whether the URL names a user or a password: `https://user:password@host/`.
[[nodiscard]] bool has_user(std::string_view url);

// http:// to another machine.
[[nodiscard]] bool is_sent_in_the_clear(std::string_view url);

// kInvalid for such a URL unless it is allowed; says what to do. `permit` is the flag or key that
// allows it.
[[nodiscard]] Status check_credentials_for(std::string_view url, PlainHttp plain,
                                           std::string_view permit);

}  // namespace gpuward::http
