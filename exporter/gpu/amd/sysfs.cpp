#include "exporter/gpu/amd/sysfs.h"

#include <limits>

#include "core/runtime/text.h"

namespace gpuward::exporter::amd {

namespace fs = std::filesystem;

std::string read_word(const fs::path& path) {
  return to_valid_utf8(read_attribute(path).value_or(""), 256);
}

std::optional<std::uint64_t> read_number(const fs::path& path) {
  const auto number = gpuward::read_number(path);
  return number == std::numeric_limits<std::uint64_t>::max() ? std::nullopt : number;
}

std::vector<std::string> list_names(const fs::path& folder) {
  return list_folder(folder, 4096).names;
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
