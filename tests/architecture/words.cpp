#include <algorithm>
#include <array>
#include <regex>
#include <sstream>

#include "tests/architecture/rules.h"

namespace gpuward::architecture {
namespace {

std::vector<std::string> lines_of(const std::string& text) {
  std::istringstream stream(text);
  std::vector<std::string> lines;
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

// Lines of the first comment before anything other than `#pragma once` and empty lines.
std::size_t opening_comment_lines(const std::string& text) {
  std::size_t count = 0;
  for (const std::string& line : lines_of(text)) {
    if (line.starts_with("//")) {
      ++count;
    } else if (count > 0 || (!line.empty() && line != "#pragma once")) {
      break;
    }
  }
  return count;
}

// In two halves, so that this file does not contain the text that it searches for.
struct Forbidden {
  std::string_view first;
  std::string_view second;
  std::string_view why;
};
constexpr std::string_view kMachine = "a path of one machine";
constexpr std::string_view kRegistry = "a registry's host name: the machine's own settings decide";
constexpr std::array<Forbidden, 12> kForbidden{{
    {"/wo", "rk/", kMachine},
    {"/ro", "ot/", kMachine},
    {"/home/", "build/", kMachine},
    {"deb.debian", ".org", kRegistry},
    {"security.debian", ".org", kRegistry},
    {"snapshot.debian", ".org", kRegistry},
    {"proxy.golang", ".org", kRegistry},
    {"sum.golang", ".org", kRegistry},
    {"pypi", ".org", kRegistry},
    {"pythonhosted", ".org", kRegistry},
    {"registry.npmjs", ".org", kRegistry},
    {"static.crates", ".io", kRegistry},
}};

// Whether a path found at `at` begins there: `$HOME/x/` is not a path of one machine, and neither
// is `a/x/`.
bool begins_a_path(std::string_view text, std::size_t at) {
  if (at == 0 || text[at] != '/') return true;
  const char before = text[at - 1];
  const bool word = (before >= 'a' && before <= 'z') || (before >= 'A' && before <= 'Z') ||
                    (before >= '0' && before <= '9');
  return !word && std::string_view("_.-})$*/").find(before) == std::string_view::npos;
}

void find_forbidden(const SourceFile& file, const Forbidden& forbidden, Violations& found) {
  const std::string needle = std::string(forbidden.first).append(forbidden.second);
  for (auto at = file.text.find(needle); at != std::string::npos;
       at = file.text.find(needle, at + 1)) {
    if (!begins_a_path(file.text, at)) continue;
    found.push_back(
        {file.path, line_at(file.text, at), needle + ": " + std::string(forbidden.why)});
  }
}

}  // namespace

// The root of a program contains only the files that put it together.
Violations roots_are_small(const SourceTree& tree) {
  constexpr std::ptrdiff_t kMostFiles = 6;
  Violations found;
  for (const std::string root : {"exporter", "remediator"}) {
    const auto files = std::ranges::count_if(
        tree.files, [&](const SourceFile& file) { return file.folder() == root; });
    if (files > kMostFiles)
      found.push_back({root, 0, std::to_string(files) + " files at its root"});
  }
  return found;
}

Violations names_say_something(const SourceTree& tree) {
  static const std::regex kEmptyWord(
      R"((^|[/_.-])(utils?|helpers?|common|misc|managers?)([/_.-]|$))");
  static const std::regex kNameOfOthers("kube-controller-manager");
  Violations found;
  for (const SourceFile& file : tree.files) {
    const std::string path = std::regex_replace(file.path, kNameOfOthers, "");
    if (std::regex_search(path, kEmptyWord)) {
      found.push_back({file.path, 0, "a name that says nothing"});
    }
  }
  return found;
}

Violations headers_say_what_they_are_for(const SourceTree& tree) {
  Violations found;
  for (const SourceFile& file : tree.files) {
    if (!file.is_header()) continue;
    if (file.text.find("#pragma once") == std::string::npos)
      found.push_back({file.path, 0, "no #pragma once"});
    const std::size_t wanted = file.is_product() ? 2 : 1;
    if (opening_comment_lines(file.text) < wanted) {
      found.push_back({file.path, 1, "opens without saying what it is for and who uses it"});
    }
  }
  return found;
}

Violations nothing_is_left_to_do(const SourceTree& tree) {
  static const std::regex kMark(R"(\b(TO)(DO)\b|\b(FIX)(ME)\b|\b(XX)(X)\b)");
  Violations found;
  for (const SourceFile& file : tree.files) {
    if (!file.is_cpp()) continue;
    for (std::sregex_iterator match(file.text.begin(), file.text.end(), kMark), end; match != end;
         ++match) {
      found.push_back({file.path, line_at(file.text, static_cast<std::size_t>(match->position())),
                       match->str()});
    }
  }
  return found;
}

Violations programs_stay_in_build(const SourceTree& tree) {
  Violations found;
  for (const std::string& path : tree.programs)
    found.push_back({path, 0, "a built program is not a source: keep it below build/"});
  return found;
}

Violations texts_name_no_machine_or_registry(const SourceTree& tree) {
  Violations found;
  for (const SourceFile& file : tree.files) {
    for (const Forbidden& forbidden : kForbidden) find_forbidden(file, forbidden, found);
  }
  return found;
}

}  // namespace gpuward::architecture
