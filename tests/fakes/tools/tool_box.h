// A folder of programs that replay a test's answers, instead of those of NVIDIA, AWS and others
// (see replay.sh). Used by the tests of checks that run programs.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "tests/support/temp_dir.h"

namespace gpuward::fakes {

struct ToolReply {
  std::string output = {}, complaint = {};
  int exit_code = 0;
  bool hangs = false, is_deaf = false, floods = false;
  std::string needs = {}, up = {};  // names of services: one needs what another is
};

class ToolBox {
 public:
  [[nodiscard]] const std::filesystem::path& path() const { return folder_.path(); }

  // Adds the program and its answer in that case, instead of its earlier answer; "" is the case of
  // a program without cases.
  ToolBox& add(const std::string& tool, const std::string& in_case, const ToolReply& reply);
  // Only for the first call in that case.
  ToolBox& add_once(const std::string& tool, const std::string& in_case, const ToolReply& reply);

  // "dcgmi diag -r 2 -j", in the order of the calls.
  [[nodiscard]] std::vector<std::string> calls(const std::string& tool) const;
  // The variables of its last call, "NAME=value"; only for launchers.
  [[nodiscard]] std::vector<std::string> environment(const std::string& tool) const;
  // The child of a program that hangs; nullopt if there is none yet.
  [[nodiscard]] std::optional<int> child_of(const std::string& tool) const;
  [[nodiscard]] bool is_up(const std::string& service) const;

 private:
  void write_case(const std::filesystem::path& folder, const ToolReply& reply) const;

  support::TempDir folder_;
};

}  // namespace gpuward::fakes
