// What curl's failures mean to us: which of them are a deadline, an unreachable server, a wrong
// certificate. Used by the client.
#pragma once

#include <string>

#include "core/model/result.h"

namespace gpuward::http {

// `code` is a CURLcode; `detail` is curl's own words, which name hosts and files but no header.
[[nodiscard]] Error error_of_curl(int code, const std::string& detail);

}  // namespace gpuward::http
