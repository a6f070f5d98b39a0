// The root file system of an image, assembled from the programs of this build. Used by the tests of
// the images.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include "tests/places.inc"
#include "tests/support/process.h"
#include "tests/support/temp_dir.h"

namespace gpuward::image {

// Why this user cannot have a root of its own; root can, other users need user namespaces. For
// GPUWARD_REQUIRE.
[[nodiscard]] inline std::string why_no_root() {
  const auto outcome = support::Process::run(
      {.argv = {"unshare", "--user", "--map-root-user", "--mount", "chroot", "/", "/bin/true"}});
  if (outcome && outcome->exit_code == 0) return {};
  return "no user namespaces on this machine: " +
         (outcome ? outcome->error_output : outcome.error().message);
}

class RootFs {
 public:
  explicit RootFs(const std::string& image) {
    const auto outcome =
        support::Process::run({.argv = {GPUWARD_SOURCE_DIR "/manifests/image/rootfs", image,
                                        GPUWARD_BIN_DIR, path().string()}});
    if (!outcome || outcome->exit_code != 0) {
      ADD_FAILURE() << (outcome ? outcome->error_output : outcome.error().message);
    }
  }

  [[nodiscard]] std::filesystem::path path() const { return folder_ / "root"; }
  // For example `/usr/bin/sh -> dash`; the names of everything but folders, sorted.
  [[nodiscard]] std::vector<std::string> files() const {
    std::vector<std::string> out;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(path())) {
      if (entry.is_directory() && !entry.is_symlink()) continue;
      std::string line = "/" +
                         std::filesystem::relative(entry.path().parent_path(), path()).string() +
                         "/" + entry.path().filename().string();
      if (line.starts_with("/./")) line.erase(0, 2);
      if (entry.is_symlink()) line += " -> " + std::filesystem::read_symlink(entry.path()).string();
      out.push_back(std::move(line));
    }
    std::ranges::sort(out);
    return out;
  }
  [[nodiscard]] std::uintmax_t bytes() const {
    std::uintmax_t sum = 0;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(path())) {
      if (entry.is_regular_file() && !entry.is_symlink()) sum += entry.file_size();
    }
    return sum;
  }
  // A command inside, which sees the machine's /proc and nothing else of the machine.
  [[nodiscard]] support::ProcessOptions inside(const std::vector<std::string>& command) const {
    support::ProcessOptions options{
        .argv = {"unshare", "--user", "--map-root-user", "--mount", "--kill-child", "--fork", "sh",
                 "-c", R"(mount --rbind /proc "$0/proc" && exec chroot "$0" "$@")",
                 path().string()}};
    options.argv.insert(options.argv.end(), command.begin(), command.end());
    return options;
  }
  [[nodiscard]] std::string said_by(const std::vector<std::string>& command) const {
    const auto outcome = support::Process::run(inside(command));
    if (!outcome) return outcome.error().message;
    EXPECT_EQ(outcome->exit_code, 0) << outcome->error_output;
    return outcome->output;
  }

 private:
  support::TempDir folder_;
};

}  // namespace gpuward::image
