#include "core/runtime/attribute.h"

#include <algorithm>
#include <system_error>

#include "core/runtime/files.h"
#include "core/runtime/text.h"

namespace gpuward {

namespace fs = std::filesystem;

std::optional<std::string> read_attribute(const fs::path& path, std::size_t max_bytes) {
  const auto content = read_file(path, max_bytes);
  if (!content) return std::nullopt;
  const std::string_view text = trim(*content);
  if (text.empty()) return std::nullopt;
  return std::string(text);
}

std::optional<std::uint64_t> read_number(const fs::path& path) {
  const auto text = read_attribute(path);
  return text ? parse_integer<std::uint64_t>(*text) : std::nullopt;
}

std::optional<std::uint32_t> read_hex(const fs::path& path) {
  const std::string text = read_attribute(path).value_or("");
  const bool is_prefixed = text.starts_with("0x") || text.starts_with("0X");
  return parse_integer<std::uint32_t>(std::string_view(text).substr(is_prefixed ? 2 : 0), 16);
}

std::string link_name(const fs::path& link) {
  std::error_code ignored;
  return fs::read_symlink(link, ignored).filename().string();
}

Listing list_folder(const fs::path& folder, std::size_t max) {
  Listing listing;
  std::error_code failed;
  fs::directory_iterator at(folder, failed);
  if (failed) {
    listing.is_complete = failed == std::errc::no_such_file_or_directory;
    return listing;
  }
  for (; at != fs::directory_iterator(); at.increment(failed)) {
    if (listing.names.size() == max) {
      listing.is_complete = false;
      break;
    }
    listing.names.push_back(at->path().filename().string());
  }
  if (failed) listing.is_complete = false;
  std::ranges::sort(listing.names);
  return listing;
}

}  // namespace gpuward
