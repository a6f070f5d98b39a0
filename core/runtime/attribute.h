// Small files of /proc and /sys: read with a cap, absent where they say nothing. A read of /sys can
// block in the driver. Used by exporter/host and exporter/gpu/amd.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace gpuward {

// The text without the blanks and line ends around it; nullopt where there is no such file, it may
// not be read, is empty, or holds more than `max_bytes` (a page of memory is the most that sysfs
// shows: kernel, Documentation/filesystems/sysfs.rst).
[[nodiscard]] std::optional<std::string> read_attribute(const std::filesystem::path& path,
                                                        std::size_t max_bytes = 4096);
// A whole decimal number; nullopt for anything else.
[[nodiscard]] std::optional<std::uint64_t> read_number(const std::filesystem::path& path);
// `0x10de`, also without the prefix.
[[nodiscard]] std::optional<std::uint32_t> read_hex(const std::filesystem::path& path);

// Where a symbolic link points, the last name of it only (`nvidia` of
// ../../bus/pci/drivers/nvidia).
[[nodiscard]] std::string link_name(const std::filesystem::path& link);

struct Listing {
  std::vector<std::string> names;  // ascending
  // False where the folder is there and could not be read to its end, or holds more than `max`.
  bool is_complete = true;
};

// Of a folder; empty and complete where there is none.
[[nodiscard]] Listing list_folder(const std::filesystem::path& folder, std::size_t max);

}  // namespace gpuward
