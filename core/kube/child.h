// A short-lived child process whose output is wanted: an exec plugin. No shell, no terminal, its
// own process group, a deadline. Inside core/kube only. Any thread.
#pragma once

#include <chrono>
#include <cstddef>
#include <map>
#include <string>
#include <vector>

#include "core/model/result.h"
#include "core/runtime/clock.h"

namespace gpuward::kube {

struct ChildCommand {
  std::string program;  // looked for on PATH where it has no '/'
  std::vector<std::string> arguments;
  std::map<std::string, std::string> environment;  // on top of ours
  std::size_t max_output_bytes = 1U << 20U;
  std::chrono::milliseconds timeout{60'000};
};

// What it wrote to stdout, where it ended with 0. kNotFound: no such program; kTimeout, kTooLarge:
// it was killed, its children with it; kUnavailable: it failed (the message has the beginning of
// its stderr, never its stdout).
[[nodiscard]] Result<std::string> run_child(const ChildCommand& command, Clock& clock);

}  // namespace gpuward::kube
