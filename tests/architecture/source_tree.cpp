#include "tests/architecture/source_tree.h"

#include <algorithm>
#include <array>
#include <fstream>
#include <iterator>
#include <optional>
#include <sstream>

namespace gpuward::architecture {
namespace {

namespace fs = std::filesystem;

constexpr std::array<std::string_view, 4> kNotOurs{".git", "build", ".cache", "node_modules"};

std::string read_text(const fs::path& path) {
  std::ifstream stream(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), {}};
}

std::optional<Include> parse_include(std::string_view line) {
  constexpr std::string_view kBlank = " \t";
  const auto skip_blanks = [&] {
    line.remove_prefix(std::min(line.find_first_not_of(kBlank), line.size()));
  };
  skip_blanks();
  if (!line.starts_with('#')) return std::nullopt;
  line.remove_prefix(1);
  skip_blanks();
  if (!line.starts_with("include")) return std::nullopt;
  line.remove_prefix(std::string_view("include").size());
  skip_blanks();
  if (line.empty() || (line.front() != '"' && line.front() != '<')) return std::nullopt;
  const bool quoted = line.front() == '"';
  const auto end = line.find(quoted ? '"' : '>', 1);
  if (end == std::string_view::npos) return std::nullopt;
  return Include{0, std::string(line.substr(1, end - 1)), quoted};
}

std::vector<Include> parse_includes(const std::string& text) {
  std::vector<Include> includes;
  std::istringstream stream(text);
  std::string line;
  for (std::size_t number = 1; std::getline(stream, line); ++number) {
    if (auto include = parse_include(line)) {
      include->line = number;
      includes.push_back(std::move(*include));
    }
  }
  return includes;
}

SourceFile read_source_file(const fs::path& root, const fs::path& path) {
  SourceFile file;
  file.path = path.lexically_relative(root).generic_string();
  file.text = read_text(path);
  if (file.is_cpp()) {
    file.includes = parse_includes(file.text);
    file.code = blank_comments_and_literals(file.text);
  }
  return file;
}

bool is_text(const SourceFile& file) { return file.text.find('\0') == std::string::npos; }

// The end of the comment or literal that begins at `at`; `at` itself if none begins there.
std::size_t end_of_blank(std::string_view code, std::size_t at) {
  const std::string_view rest = code.substr(at);
  const auto until = [&](std::string_view end, std::size_t from) {
    const auto found = code.find(end, at + from);
    return found == std::string_view::npos ? code.size() : found + end.size();
  };
  if (rest.starts_with("//")) return std::min(code.find('\n', at), code.size());
  if (rest.starts_with("/*")) return until("*/", 2);
  if (rest.starts_with("R\"")) {
    const auto open = rest.find('(');
    if (open == std::string_view::npos) return code.size();
    return until(")" + std::string(rest.substr(2, open - 2)) + "\"", open);
  }
  const bool in_number = at > 0 && code[at - 1] >= '0' && code[at - 1] <= '9';  // 1'000
  if (rest.front() != '"' && (rest.front() != '\'' || in_number)) return at;
  for (std::size_t i = at + 1; i < code.size(); ++i) {
    if (code[i] == '\\') {
      ++i;
    } else if (code[i] == rest.front() || code[i] == '\n') {
      return i + 1;
    }
  }
  return code.size();
}

}  // namespace

bool lies_in(std::string_view path, std::string_view folder) {
  return path.starts_with(folder) && (path.size() == folder.size() || path[folder.size()] == '/');
}

std::string_view SourceFile::folder() const {
  const auto slash = path.rfind('/');
  return slash == std::string::npos ? std::string_view() : std::string_view(path).substr(0, slash);
}

std::string_view SourceFile::stem() const {
  std::string_view name(path);
  name.remove_prefix(path.rfind('/') + 1);  // npos + 1 is 0
  return name.substr(0, name.rfind('.'));
}

bool SourceFile::is_in(std::string_view wanted) const { return lies_in(folder(), wanted); }

bool SourceFile::is_product() const {
  return is_in("core") || is_in("exporter") || is_in("remediator");
}

SourceTree read_source_tree(const fs::path& root) {
  SourceTree tree;
  fs::recursive_directory_iterator entries(root);
  for (const auto& entry : entries) {
    const std::string name = entry.path().filename().string();
    if (std::ranges::find(kNotOurs, name) != kNotOurs.end()) {  // .git is a file in a worktree
      if (entry.is_directory()) entries.disable_recursion_pending();
    } else if (entry.is_regular_file()) {
      SourceFile file = read_source_file(root, entry.path());
      if (file.text.starts_with("\x7f"
                                "ELF"))
        tree.programs.push_back(file.path);
      if (is_text(file)) tree.files.push_back(std::move(file));
    }
  }
  std::ranges::sort(tree.files, {}, &SourceFile::path);
  std::ranges::sort(tree.programs);
  return tree;
}

std::string blank_comments_and_literals(std::string_view code) {
  std::string blanked(code);
  for (std::size_t at = 0; at < code.size();) {
    const std::size_t end = end_of_blank(code, at);
    for (std::size_t i = at; i < end; ++i) {
      if (blanked[i] != '\n') blanked[i] = ' ';
    }
    at = std::max(end, at + 1);
  }
  return blanked;
}

std::size_t line_at(std::string_view text, std::size_t offset) {
  return static_cast<std::size_t>(
             std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(offset), '\n')) +
         1;
}

}  // namespace gpuward::architecture
