// Attributes of AMD's driver in /sys. Inside exporter/gpu/amd only. A read can block in the driver:
// the GPU worker's main thread calls.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/runtime/attribute.h"

namespace gpuward::exporter::amd {

// The text of an attribute, empty where it says nothing: for names and versions.
[[nodiscard]] std::string read_word(const std::filesystem::path& path);
// A whole decimal number; nullopt for anything else, and for all ones (AMD's "not supported").
[[nodiscard]] std::optional<std::uint64_t> read_number(const std::filesystem::path& path);

// The names in a folder, ascending, at most 4096; empty where there is none.
[[nodiscard]] std::vector<std::string> list_names(const std::filesystem::path& folder);

// Each line of `text`, without its blanks; empty ones too.
[[nodiscard]] std::vector<std::string_view> lines_of(std::string_view text);

}  // namespace gpuward::exporter::amd
