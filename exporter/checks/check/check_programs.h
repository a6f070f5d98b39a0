// The external programs that a check runs. Each check declares them once, in its entry. The check
// takes its reason for a skip from there, and preflight.h which checks can run in this image or on
// this node.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace gpuward::exporter {

// A program that the check can run without.
struct OptionalProgram {
  std::string name;
  std::string used;  // when or what for: "where none runs on the node"
};

struct CheckPrograms {
  // Sets of names. One complete set is enough, and the first is preferred. Empty: none is needed.
  std::vector<std::vector<std::string>> any_of;
  std::vector<OptionalProgram> optional;
};

struct FoundPrograms {
  std::vector<std::filesystem::path> found;
  // The programs that the check needs and that are missing: "fi_info, or ib_write_bw". Empty if the
  // check can run.
  std::string missing;
  std::string missing_optional;  // "nv-hostengine (where none runs on the node)"

  [[nodiscard]] bool can_run() const { return missing.empty(); }
  // Returns the reason for a skip, for its details and for logs.
  [[nodiscard]] std::string why_not() const;
};

// Searches `folders` before PATH.
[[nodiscard]] FoundPrograms find_programs(const CheckPrograms& programs,
                                          const std::vector<std::filesystem::path>& folders);

}  // namespace gpuward::exporter
