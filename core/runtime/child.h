// Runs a child process and returns its output: an exec plugin, a diagnostic. No shell, no terminal,
// its own process group, a deadline, caps on its output. Thread-safe.
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
  std::string program;  // without a '/': searched in `search`, then on PATH
  std::vector<std::string> arguments;
  std::map<std::string, std::string> environment;  // in addition to this process's
  std::string input;                               // its stdin; empty: /dev/null
  std::vector<std::filesystem::path> search;
  std::size_t max_output_bytes = 1U << 20U;
  std::chrono::milliseconds timeout{60'000};
  // At the deadline or a stop, the whole group gets SIGTERM and, this much later, SIGKILL; zero:
  // SIGKILL at once.
  std::chrono::milliseconds grace{0};
  // After a stop request, the child has this much time to end by itself first.
  std::chrono::milliseconds patience{0};
  std::stop_token stop;
};

// The result of a child that has ended by itself.
struct ChildResult {
  int exit_code = -1;  // -1: ended by `signal`
  int signal = 0;
  std::string output;     // stdout, whole
  std::string complaint;  // the first 4 KiB of stderr
};

// Returns how it ended, for any exit code. kNotFound: no such program; kUnavailable: it cannot be
// started; kTimeout, kTooLarge, kCancelled: it was killed with its children and no longer exists
// when this returns (if the kernel did not release it within 5 s, the message says so).
//
// In all cases nothing of its process group remains: background processes that it left behind are
// killed when it ends. A daemon that is meant to stay leaves the group (setsid); it can hold the
// pipes open, and this function does not wait for it.
[[nodiscard]] Result<ChildResult> run_child(const ChildCommand& command, Clock& clock);

// `ended with 3`, `was ended by signal 9`.
[[nodiscard]] std::string how_it_ended(const ChildResult& result);

// Returns the path of the program; kNotFound names the searched folders.
[[nodiscard]] Result<std::filesystem::path> find_program(
    const std::string& program, const std::vector<std::filesystem::path>& search);

}  // namespace gpuward
