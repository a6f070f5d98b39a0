// Links between the pages: the file and the heading that each of them names are there.
#include <gmock/gmock.h>

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <map>
#include <regex>
#include <set>
#include <sstream>

#include "tests/places.inc"
#include "tests/reference/page.h"

namespace gpuward::reference {
namespace {

namespace fs = std::filesystem;

std::vector<std::string> pages() {
  std::vector<std::string> found{"README.md", "CONTRIBUTING.md", "SECURITY.md"};
  const fs::path root = GPUWARD_SOURCE_DIR;
  for (const char* folder : {"docs", "alerts/runbooks"}) {
    for (const auto& entry : fs::recursive_directory_iterator(root / folder)) {
      if (entry.path().extension() == ".md")
        found.push_back(entry.path().lexically_relative(root).string());
    }
  }
  return found;
}

// The lines outside of fenced code.
std::vector<std::string> prose_of(const std::string& page) {
  std::vector<std::string> prose;
  bool is_code = false;
  std::istringstream lines(tree_file(page));
  for (std::string line; std::getline(lines, line);) {
    const bool is_fence = line.starts_with("```");
    if (is_fence) is_code = !is_code;
    if (!is_fence && !is_code) prose.push_back(line);
  }
  return prose;
}

// As GitHub makes it of a heading: "What's `new`?" is whats-new.
std::string anchor_of(std::string_view heading) {
  std::string anchor;
  for (const char letter : heading) {
    const auto c = static_cast<unsigned char>(letter);
    if (c == ' ') anchor += '-';
    if (std::isalnum(c) != 0 || c == '-' || c == '_' || c >= 0x80)
      anchor += static_cast<char>(std::tolower(c));
  }
  return anchor;
}

std::set<std::string> anchors_of(const std::string& page) {
  std::set<std::string> anchors;
  const std::regex heading("#+ (.*)");
  for (const std::string& line : prose_of(page)) {
    std::smatch parts;
    if (std::regex_match(line, parts, heading)) anchors.insert(anchor_of(parts[1].str()));
  }
  return anchors;
}

TEST(Links, NameFilesAndHeadingsThatAreThere) {
  const std::regex link(R"(\]\(([^)#:]*)(#([^)]*))?\))");
  std::size_t count = 0;
  for (const std::string& page : pages()) {
    for (const std::string& line : prose_of(page)) {
      for (std::sregex_iterator at(line.begin(), line.end(), link), end; at != end; ++at) {
        const std::string name = (*at)[1], anchor = (*at)[3];
        const std::string target =
            name.empty() ? page : (fs::path(page).parent_path() / name).lexically_normal().string();
        ++count;
        EXPECT_TRUE(fs::exists(fs::path(GPUWARD_SOURCE_DIR) / target)) << page << ": " << line;
        if (anchor.empty() || !target.ends_with(".md")) continue;
        EXPECT_TRUE(anchors_of(target).contains(anchor))
            << page << " links to " << target << "#" << anchor;
      }
    }
  }
  EXPECT_GT(count, 200U);
}

}  // namespace
}  // namespace gpuward::reference
