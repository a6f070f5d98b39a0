// What civetweb is told at its start: our limits in its words, and every feature that serves files,
// redirects or shares origins switched off. Pure; used by the server.
#pragma once

#include <string>
#include <vector>

#include "core/http/server/server.h"
#include "core/model/result.h"

namespace gpuward::http {

// Name, value, name, value, ...
[[nodiscard]] Result<std::vector<std::string>> civetweb_settings(const ServerOptions& options);

}  // namespace gpuward::http
