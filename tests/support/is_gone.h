// Tells whether a process has ended, also if the test is not its parent. Used by tests of programs
// that must not leave a process behind.
#pragma once

#include <sys/types.h>

#include <fstream>
#include <iterator>
#include <string>

namespace gpuward::support {

// True for a zombie too: init reaps it later, on some machines never.
[[nodiscard]] inline bool is_gone(pid_t pid) {
  std::ifstream file("/proc/" + std::to_string(pid) + "/stat");
  const std::string stat{std::istreambuf_iterator<char>(file), {}};
  return stat.empty() || stat.find(") Z ") != std::string::npos;
}

}  // namespace gpuward::support
