#include "exporter/gpu/amd/sysfs.h"

#include <algorithm>
#include <limits>
#include <system_error>

#include "core/runtime/files.h"
#include "core/runtime/text.h"

namespace gpuward::exporter::amd {

namespace fs = std::filesystem;

std::optional<std::string> read_text(const fs::path& path, std::size_t max_bytes) {
  const auto content = read_file(path, max_bytes);
  if (!content) return std::nullopt;
  const std::string_view text = trim(*content);
  if (text.empty()) return std::nullopt;
  return std::string(text);
}

std::string read_word(const fs::path& path) {
  const auto text = read_text(path);
  return text ? to_valid_utf8(*text, 256) : std::string();
}

std::optional<std::uint64_t> read_number(const fs::path& path) {
  const auto text = read_text(path);
  const auto number = text ? parse_integer<std::uint64_t>(*text) : std::nullopt;
  if (number == std::numeric_limits<std::uint64_t>::max()) return std::nullopt;
  return number;
}

std::optional<std::uint64_t> parse_hex(std::string_view text) {
  if (text.starts_with("0x")) text.remove_prefix(2);
  return parse_integer<std::uint64_t>(text, 16);
}

std::optional<std::uint64_t> read_hex(const fs::path& path) {
  const auto text = read_text(path);
  return text ? parse_hex(*text) : std::nullopt;
}

std::vector<std::string> list_names(const fs::path& folder) {
  constexpr std::size_t kMost = 4096;
  std::vector<std::string> names;
  std::error_code failed;
  for (fs::directory_iterator at(folder, failed); !failed && at != fs::directory_iterator();
       at.increment(failed)) {
    if (names.size() == kMost) break;
    names.push_back(at->path().filename().string());
  }
  std::ranges::sort(names);
  return names;
}

std::vector<std::string_view> lines_of(std::string_view text) {
  std::vector<std::string_view> lines;
  while (!text.empty()) {
    const auto end = text.find('\n');
    lines.push_back(trim(text.substr(0, end)));
    text = end == std::string_view::npos ? std::string_view() : text.substr(end + 1);
  }
  return lines;
}

}  // namespace gpuward::exporter::amd
