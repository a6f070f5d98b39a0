// Makes the place of a unix socket ready: its folder, and nothing in the way. Used by
// gpuward-amd-health before it listens.
#pragma once

#include <filesystem>

#include "core/model/result.h"

namespace gpuward::exporter::amd_health {

// Makes the folder (mode 0755) where there is none, and removes a socket that nobody listens on.
// kAlreadyExists: somebody does listen (AMD's own exporter); kInvalid: the path is too long for a
// socket, or something else lies there, which is left alone; kForbidden, kUnavailable.
[[nodiscard]] Status prepare_socket_place(const std::filesystem::path& socket);

}  // namespace gpuward::exporter::amd_health
