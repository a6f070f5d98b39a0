// The options for a client's identity (credentials, certificate) and for the authority that must
// have signed the server's certificate. Used by the flags of both programs.
#pragma once

#include <CLI/CLI.hpp>
#include <string>

#include "core/http/client/authorized_client.h"

namespace gpuward {

// `prefix` is "--prometheus", "--loki": `--loki.ca-file`, `--loki.bearer-token-file` and so on.
// `files` must outlive the app.
void add_client_file_options(CLI::App& app, const std::string& prefix, http::ClientFiles& files);

}  // namespace gpuward
