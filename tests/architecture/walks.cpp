#include <algorithm>
#include <array>
#include <regex>
#include <set>
#include <sstream>

#include "tests/architecture/rules.h"

namespace gpuward::architecture {
namespace {

constexpr std::string_view kWalksPage = "docs/architecture.md";

struct Stop {
  std::size_t line = 0;
  std::string file,
      through;  // the header that it shares with a file above; empty: one includes the other
};

struct Walk {
  std::string title;  // the heading above it
  std::vector<Stop> stops;
};

// The maximum number of files in a walk.
struct WalkLimit {
  std::string_view title;
  std::size_t most = 0;
};
constexpr std::array<WalkLimit, 2> kLimits{
    {{"An alert becomes a cordon", 9}, {"A Remediation evicts a pod", 12}}};

// Each table is a walk.
std::vector<Walk> walks_in(const std::string& text) {
  static const std::regex kRow(R"(\| `([^`]+)` \| (?:`([^`]+)` )?\|.*)");
  std::vector<Walk> walks;
  std::istringstream stream(text);
  std::size_t number = 0;
  bool goes_on = false;
  std::string title;
  for (std::string line; std::getline(stream, line);) {
    ++number;
    if (line.starts_with("## ")) title = line.substr(3);
    std::smatch match;
    const bool is_row = std::regex_match(line, match, kRow);
    if (is_row && !goes_on) walks.push_back({title, {}});
    if (is_row) walks.back().stops.push_back({number, match[1], match[2]});
    goes_on = is_row;
  }
  return walks;
}

std::string header_of(const std::string& file) { return file.substr(0, file.rfind('.')) + ".h"; }

void add_includes(const SourceTree& tree, const std::string& file, std::set<std::string>& known) {
  const auto source = std::ranges::lower_bound(tree.files, file, {}, &SourceFile::path);
  if (source == tree.files.end() || source->path != file) return;
  for (const Include& include : source->includes) {
    if (include.quoted) known.insert(include.target);
  }
}

// The includes of a source and its header, that header, and the includes of all of these.
std::set<std::string> known_to(const SourceTree& tree, const std::string& file) {
  std::set<std::string> known{header_of(file)};
  add_includes(tree, file, known);
  add_includes(tree, header_of(file), known);
  for (const std::string& header : std::set<std::string>(known)) add_includes(tree, header, known);
  return known;
}

bool meets(const SourceTree& tree, const Stop& earlier, const Stop& later) {
  const auto known_there = known_to(tree, earlier.file), known_here = known_to(tree, later.file);
  if (!later.through.empty())
    return known_there.contains(later.through) && known_here.contains(later.through);
  return known_there.contains(header_of(later.file)) ||
         known_here.contains(header_of(earlier.file));
}

void check_walk(const SourceTree& tree, const Walk& walk, Violations& found) {
  const auto& stops = walk.stops;
  for (auto stop = stops.begin(); stop != stops.end(); ++stop) {
    if (std::ranges::find(tree.files, stop->file, &SourceFile::path) == tree.files.end()) {
      found.push_back({std::string(kWalksPage), stop->line, "there is no " + stop->file});
      continue;
    }
    const bool is_met =
        stop == stops.begin() || std::any_of(stops.begin(), stop, [&](const Stop& earlier) {
          return meets(tree, earlier, *stop);
        });
    if (is_met) continue;
    const std::string how = stop->through.empty() ? "including it" : "through " + stop->through;
    found.push_back(
        {std::string(kWalksPage), stop->line, "no file above meets " + stop->file + " by " + how});
  }
}

bool has_file_twice(const Walk& walk) {
  std::set<std::string> files;
  return !std::ranges::all_of(walk.stops,
                              [&](const Stop& stop) { return files.insert(stop.file).second; });
}

}  // namespace

Violations walks_are_short(const SourceTree& tree) {
  const auto page = std::ranges::find(tree.files, kWalksPage, &SourceFile::path);
  if (page == tree.files.end()) return {{std::string(kWalksPage), 0, "is missing"}};
  Violations found;
  const std::vector<Walk> walks = walks_in(page->text);
  for (const WalkLimit& limit : kLimits) {
    const auto walk = std::ranges::find(walks, limit.title, &Walk::title);
    if (walk == walks.end()) {
      found.push_back({std::string(kWalksPage), 0, "no walk: " + std::string(limit.title)});
    } else if (walk->stops.size() > limit.most) {
      found.push_back({std::string(kWalksPage), walk->stops.front().line,
                       std::to_string(walk->stops.size()) + " files, " +
                           std::to_string(limit.most) + " are allowed"});
    }
  }
  for (const Walk& walk : walks) {
    if (has_file_twice(walk))
      found.push_back({std::string(kWalksPage), walk.stops.front().line, "names a file twice"});
  }
  return found;
}

Violations folders_are_in_the_map(const SourceTree& tree) {
  const auto page = std::ranges::find(tree.files, kWalksPage, &SourceFile::path);
  if (page == tree.files.end()) return {{std::string(kWalksPage), 0, "is missing"}};
  static const std::regex kFolder("((?:exporter|remediator)/[^/]+/).*");
  std::set<std::string> missing;
  for (const SourceFile& file : tree.files) {
    std::smatch match;
    if (!std::regex_match(file.path, match, kFolder)) continue;
    if (!page->text.contains("`" + match[1].str() + "`")) missing.insert(match[1]);
  }
  Violations found;
  for (const std::string& folder : missing)
    found.push_back({std::string(kWalksPage), 0, "does not say what " + folder + " is for"});
  return found;
}

Violations walks_lead_from_file_to_file(const SourceTree& tree) {
  const auto page = std::ranges::find(tree.files, kWalksPage, &SourceFile::path);
  if (page == tree.files.end()) return {{std::string(kWalksPage), 0, "is missing"}};
  Violations found;
  const std::vector<Walk> walks = walks_in(page->text);
  if (walks.size() != 4)
    found.push_back({std::string(kWalksPage), 0, "does not have its four walks"});
  for (const Walk& walk : walks) check_walk(tree, walk, found);
  return found;
}

}  // namespace gpuward::architecture
