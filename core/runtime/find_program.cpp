#include <unistd.h>

#include <cstdlib>
#include <string_view>
#include <system_error>

#include "core/runtime/child.h"

namespace gpuward {
namespace {

namespace fs = std::filesystem;

// execvp(3): the search path if PATH is not set.
constexpr std::string_view kDefaultPath = "/bin:/usr/bin";

bool is_program(const fs::path& path) {
  std::error_code ignored;
  return fs::is_regular_file(path, ignored) && ::access(path.c_str(), X_OK) == 0;
}

std::vector<fs::path> places(const std::vector<fs::path>& search) {
  std::vector<fs::path> all = search;
  const char* const path = std::getenv("PATH");
  std::string_view rest = path == nullptr ? kDefaultPath : path;
  while (!rest.empty()) {
    const auto colon = rest.find(':');
    const std::string_view folder = rest.substr(0, colon);
    if (!folder.empty()) all.emplace_back(folder);  // not the working directory
    rest.remove_prefix(colon == std::string_view::npos ? rest.size() : colon + 1);
  }
  return all;
}

}  // namespace

Result<fs::path> find_program(const std::string& program, const std::vector<fs::path>& search) {
  if (program.contains('/')) {
    if (is_program(program)) return program;
    return fail(ErrorKind::kNotFound, program + " does not exist or is not executable");
  }
  std::string looked_at;
  for (const fs::path& folder : places(search)) {
    if (!program.empty() && is_program(folder / program)) return folder / program;
    looked_at += (looked_at.empty() ? "" : ", ") + folder.string();
  }
  return fail(ErrorKind::kNotFound, "program `" + program + "` not found in " + looked_at);
}

}  // namespace gpuward
