// The one rule about credentials that leave the process: no token, password or key is sent over
// plain HTTP, where others can read it, except to this machine itself or if the operator allows it.
// Used by the readers of configured URLs, and by AuthorizedClient for each request.
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

// kInvalid for a URL that is_sent_in_the_clear() unless that is allowed; the message says how to
// fix it. `permit` is the flag or key that allows it.
[[nodiscard]] Status check_credentials_for(std::string_view url, PlainHttp plain,
                                           std::string_view permit);

}  // namespace gpuward::http
