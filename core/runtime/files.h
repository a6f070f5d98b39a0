// Whole files, safely: reads with a cap, writes that a crash cannot halve. Used for configuration,
// tokens and certificates, and for the exporter's state.
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <string_view>

#include "core/model/result.h"

namespace gpuward {

// kNotFound, kTooLarge, kForbidden, kUnavailable; the message names the path.
[[nodiscard]] Result<std::string> read_file(const std::filesystem::path& path,
                                            std::size_t max_bytes = 1U << 20U);

// Temporary file in the same folder, fsync, rename, fsync of the folder. Mode as given.
[[nodiscard]] Status write_file_atomically(const std::filesystem::path& path,
                                           std::string_view content, unsigned mode = 0644);

}  // namespace gpuward
