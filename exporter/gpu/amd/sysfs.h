// Attributes of AMD's driver in /sys. Inside exporter/gpu/amd only. A read can block in the driver,
// so only the GPU worker's main thread calls it.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/runtime/attribute.h"

namespace gpuward::exporter::amd {

// Returns the text of an attribute, empty if it has none: for names and versions.
[[nodiscard]] std::string read_word(const std::filesystem::path& path);
// Reads a whole decimal number; nullopt for anything else, and for all ones (AMD's "not
// supported").
[[nodiscard]] std::optional<std::uint64_t> read_number(const std::filesystem::path& path);

// Returns the names in a folder, ascending, at most 4096; empty if the folder does not exist.
[[nodiscard]] std::vector<std::string> list_names(const std::filesystem::path& folder);

// Returns each line of `text` without surrounding blanks, empty ones included.
[[nodiscard]] std::vector<std::string_view> lines_of(std::string_view text);

}  // namespace gpuward::exporter::amd
