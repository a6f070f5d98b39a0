#include "exporter/evidence/tools.h"

#include <array>
#include <system_error>

#include "core/runtime/child.h"

namespace gpuward::exporter {
namespace {

namespace fs = std::filesystem;

// The second is the root of the GPU operator's driver container on the node.
constexpr std::array<const char*, 2> kRoots = {"1/root", "1/root/run/nvidia/driver"};
constexpr std::array<const char*, 4> kFolders = {"usr/bin", "usr/local/bin", "usr/sbin",
                                                 "opt/rocm/bin"};

constexpr int kMostLinks = 40;  // the limit of Linux

// Resolves `path` as a process within `root` would: an absolute link begins at that root, not at
// this process's. Empty if it leads nowhere.
fs::path resolved_below(const fs::path& root, const fs::path& path) {
  fs::path done, rest = path.relative_path();
  for (int links = 0; !rest.empty();) {
    const fs::path next = *rest.begin();
    rest = rest.lexically_relative(next);
    if (rest == ".") rest.clear();
    if (next == "..") {
      done = done.parent_path();
      continue;
    }
    std::error_code error;
    const fs::path link = fs::read_symlink(root / done / next, error);
    if (error) {
      done /= next;  // not a link
      continue;
    }
    if (++links > kMostLinks) return {};
    if (link.is_absolute()) done.clear();
    rest = rest.empty() ? link.relative_path() : link.relative_path() / rest;
  }
  return root / done;
}

bool is_program(const fs::path& path) {
  constexpr fs::perms kMayRun = fs::perms::owner_exec | fs::perms::group_exec;
  std::error_code error;
  const fs::file_status status = fs::status(path, error);
  return !error && fs::is_regular_file(status) &&
         (status.permissions() & kMayRun) != fs::perms::none;
}

}  // namespace

std::optional<EvidenceTool> find_tool(const std::string& program, const fs::path& proc) {
  if (const auto own = find_program(program, {})) return EvidenceTool{"/", *own};
  for (const char* root : kRoots) {
    for (const char* folder : kFolders) {
      const fs::path within = fs::path(folder) / program;
      if (is_program(resolved_below(proc / root, within)))
        return EvidenceTool{proc / root, fs::path("/") / within};
    }
  }
  return std::nullopt;
}

std::vector<std::string> command_of(const EvidenceTool& tool,
                                    const std::vector<std::string>& arguments) {
  std::vector<std::string> command;
  if (tool.root != "/") command = {"chroot", tool.root.string()};
  command.push_back(tool.within.string());
  command.insert(command.end(), arguments.begin(), arguments.end());
  return command;
}

}  // namespace gpuward::exporter
