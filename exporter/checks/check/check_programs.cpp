#include "exporter/checks/check/check_programs.h"

#include <algorithm>
#include <string_view>

#include "core/runtime/child.h"

namespace gpuward::exporter {
namespace {

namespace fs = std::filesystem;

void append(std::string& list, std::string_view separator, const std::string& next) {
  if (!list.empty()) list += separator;
  list += next;
}

class Finder {
 public:
  explicit Finder(const std::vector<fs::path>& folders) : folders_(folders) {}

  // Returns whether the program is installed, and keeps its path once.
  bool has(const std::string& name) {
    const auto path = find_program(name, folders_);
    if (!path) return false;
    if (std::ranges::find(found_, *path) == found_.end()) found_.push_back(*path);
    return true;
  }
  std::vector<fs::path> take() { return std::move(found_); }

 private:
  const std::vector<fs::path>& folders_;
  std::vector<fs::path> found_;
};

}  // namespace

std::string FoundPrograms::why_not() const {
  return can_run() ? "" : "not on PATH or in the folders of checks.tool_dirs: " + missing;
}

FoundPrograms find_programs(const CheckPrograms& programs, const std::vector<fs::path>& folders) {
  FoundPrograms result;
  Finder finder(folders);
  bool has_whole_set = false;
  for (const auto& set : programs.any_of) {
    std::string lacking;
    for (const std::string& name : set) {
      if (!finder.has(name)) append(lacking, " and ", name);
    }
    has_whole_set |= lacking.empty();
    append(result.missing, ", or ", lacking);
  }
  if (has_whole_set) result.missing.clear();
  for (const OptionalProgram& program : programs.optional) {
    if (!finder.has(program.name))
      append(result.missing_optional, ", ", program.name + " (" + program.used + ")");
  }
  result.found = finder.take();
  return result;
}

}  // namespace gpuward::exporter
