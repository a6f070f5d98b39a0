// Reads small files of /proc and /sys with a cap; a file without content counts as absent. A read
// of /sys can block in the driver. Used by exporter/host and exporter/gpu/amd.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace gpuward {

// Returns the text without surrounding blanks and line ends; nullopt if the file does not exist, is
// not readable, is empty, or holds more than `max_bytes` (sysfs shows at most a page of memory:
// kernel, Documentation/filesystems/sysfs.rst).
[[nodiscard]] std::optional<std::string> read_attribute(const std::filesystem::path& path,
                                                        std::size_t max_bytes = 4096);
// Reads a whole decimal number; nullopt for anything else.
[[nodiscard]] std::optional<std::uint64_t> read_number(const std::filesystem::path& path);
// Reads `0x10de`, also without the prefix.
[[nodiscard]] std::optional<std::uint32_t> read_hex(const std::filesystem::path& path);

// Returns the last name of a symbolic link's target (`nvidia` of ../../bus/pci/drivers/nvidia).
[[nodiscard]] std::string link_name(const std::filesystem::path& link);

struct Listing {
  std::vector<std::string> names;  // ascending
  // False if the folder exists but could not be read to its end, or holds more than `max`.
  bool is_complete = true;
};

// Lists a folder; empty and complete if it does not exist.
[[nodiscard]] Listing list_folder(const std::filesystem::path& folder, std::size_t max);

}  // namespace gpuward
