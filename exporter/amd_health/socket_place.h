// Prepares the path of a unix socket: creates its folder and removes a stale socket. Used by
// gpuward-amd-health before it listens.
#pragma once

#include <filesystem>

#include "core/model/result.h"

namespace gpuward::exporter::amd_health {

// Creates the folder (mode 0755) if it does not exist, and removes a socket without a listener.
// kAlreadyExists: another process listens (AMD's own exporter); kInvalid: the path is too long for
// a socket, or another file is there, which stays; kForbidden, kUnavailable.
[[nodiscard]] Status prepare_socket_place(const std::filesystem::path& socket);

}  // namespace gpuward::exporter::amd_health
