// Small files of /sys: read with a cap, absent where they say nothing. Inside exporter/gpu/amd
// only. A read can block in the driver: the GPU worker's main thread calls.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace gpuward::exporter::amd {

// Without the blanks and line ends around it; nullopt where there is no such file, it may not be
// read, is empty, or holds more than `max_bytes` (a page is the most that an attribute shows).
[[nodiscard]] std::optional<std::string> read_text(const std::filesystem::path& path,
                                                   std::size_t max_bytes = 4096);
// The same, and empty for nullopt: for names and versions.
[[nodiscard]] std::string read_word(const std::filesystem::path& path);
// A whole decimal number; nullopt for anything else, and for all ones (AMD's "not supported").
[[nodiscard]] std::optional<std::uint64_t> read_number(const std::filesystem::path& path);
// `0x1002`, also without the prefix.
[[nodiscard]] std::optional<std::uint64_t> read_hex(const std::filesystem::path& path);
[[nodiscard]] std::optional<std::uint64_t> parse_hex(std::string_view text);

// The names in a folder, ascending, at most 4096; empty where there is none.
[[nodiscard]] std::vector<std::string> list_names(const std::filesystem::path& folder);

// Each line of `text`, without its blanks; empty ones too.
[[nodiscard]] std::vector<std::string_view> lines_of(std::string_view text);

}  // namespace gpuward::exporter::amd
