// A child process whose output is wanted: an exec plugin, a diagnostic. No shell, no terminal, its
// own process group, a deadline, caps on what it may write. Any thread.
#pragma once

#include <chrono>
#include <cstddef>
#include <filesystem>
#include <map>
#include <stop_token>
#include <string>
#include <vector>

#include "core/model/result.h"
#include "core/runtime/clock.h"

namespace gpuward {

struct ChildCommand {
  std::string program;  // looked for in `search` and then on PATH where it has no '/'
  std::vector<std::string> arguments;
  std::map<std::string, std::string> environment;  // on top of ours
  std::vector<std::filesystem::path> search;
  std::size_t max_output_bytes = 1U << 20U;
  std::chrono::milliseconds timeout{60'000};
  // At the deadline, or a stop, the whole group is sent SIGTERM and, this much later, SIGKILL; zero:
  // SIGKILL at once.
  std::chrono::milliseconds grace{0};
  std::stop_token stop;
};

// Of a child that has ended by itself.
struct ChildResult {
  int exit_code = -1;  // -1: ended by `signal`
  int signal = 0;
  std::string output;     // stdout, whole
  std::string complaint;  // the first 4 KiB of stderr
};

// How it ended, whatever its exit code. kNotFound: no such program; kTimeout, kTooLarge, kCancelled:
// it was killed, its children with it, and is gone when this returns.
[[nodiscard]] Result<ChildResult> run_child(const ChildCommand& command, Clock& clock);

// Where the program is; kNotFound names the places looked at.
[[nodiscard]] Result<std::filesystem::path> find_program(
    const std::string& program, const std::vector<std::filesystem::path>& search);

}  // namespace gpuward
