// The options that say who we are to a server that is read from or written to, and which authority
// it must be of. Used by the flags of both programs.
#pragma once

#include <CLI/CLI.hpp>
#include <string>

#include "core/http/client/authorized_client.h"

namespace gpuward {

// `prefix` is "--prometheus", "--loki": `--loki.ca-file`, `--loki.bearer-token-file` and so on.
// `files` has to outlive the app.
void add_client_file_options(CLI::App& app, const std::string& prefix, http::ClientFiles& files);

}  // namespace gpuward
