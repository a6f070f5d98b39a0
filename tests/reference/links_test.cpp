// Compares the pages with the tree: each link leads to an existing file and heading, and each path
// in backticks exists.
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

// The anchor that GitHub makes from a heading: "What's `new`?" is whats-new.
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

// A path of AMD's GPU operator.
constexpr std::string_view kPathOfAmd = "docs/autoremediation";

// A `*` in the name of the file matches any text: `manifests/*.yaml`.
bool is_in_tree(const fs::path& path) {
  const fs::path full = fs::path(GPUWARD_SOURCE_DIR) / path;
  const std::string name = full.filename().string();
  const auto star = name.find('*');
  if (star == std::string::npos) return fs::exists(full);
  if (!fs::is_directory(full.parent_path())) return false;
  const std::string before = name.substr(0, star), after = name.substr(star + 1);
  return std::ranges::any_of(fs::directory_iterator(full.parent_path()), [&](const auto& entry) {
    const std::string found = entry.path().filename().string();
    return found.starts_with(before) && found.ends_with(after);
  });
}

TEST(Paths, OfTheTreeExistOnEachPage) {
  const std::regex path(
      "(core|exporter|remediator|tests|manifests|kustomize|docs|alerts|dashboards|bench)"
      "/[A-Za-z0-9_./*-]+");
  std::size_t count = 0;
  for (const std::string& page : pages()) {
    for (const std::string& word : code_words(tree_file(page))) {
      if (!std::regex_match(word, path) || word == kPathOfAmd) continue;
      ++count;
      EXPECT_TRUE(is_in_tree(word)) << page << " names " << word;
    }
  }
  EXPECT_GT(count, 150U);
}

}  // namespace
}  // namespace gpuward::reference
