// The programs of others that a check runs. Each check declares them once, in its entry; from there
// the check itself takes why it is skipped, and preflight.h what this image or node can run.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace gpuward::exporter {

// The check can run without it.
struct OptionalProgram {
  std::string name;
  std::string used;  // when, or for what: "where none runs on the node"
};

struct CheckPrograms {
  // Each a set of names; one whole set is enough, the first is preferred. Empty: none is needed.
  std::vector<std::vector<std::string>> any_of;
  std::vector<OptionalProgram> optional;
};

struct FoundPrograms {
  std::vector<std::filesystem::path> found;
  // What the check cannot run without: "fi_info, or ib_write_bw". Empty where it can run.
  std::string missing;
  std::string missing_optional;  // "nv-hostengine (where none runs on the node)"

  [[nodiscard]] bool can_run() const { return missing.empty(); }
  // For the details of a skip, and for logs.
  [[nodiscard]] std::string why_not() const;
};

// `folders` are looked through before PATH.
[[nodiscard]] FoundPrograms find_programs(const CheckPrograms& programs,
                                          const std::vector<std::filesystem::path>& folders);

}  // namespace gpuward::exporter
