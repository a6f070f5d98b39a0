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
  std::string input;                               // its stdin; empty: /dev/null
  std::vector<std::filesystem::path> search;
  std::size_t max_output_bytes = 1U << 20U;
  std::chrono::milliseconds timeout{60'000};
  // At the deadline, or a stop, the whole group is sent SIGTERM and, this much later, SIGKILL;
  // zero: SIGKILL at once.
  std::chrono::milliseconds grace{0};
  // After a stop was requested, the child has this much time to end by itself before that.
  std::chrono::milliseconds patience{0};
  std::stop_token stop;
};

// Of a child that has ended by itself.
struct ChildResult {
  int exit_code = -1;  // -1: ended by `signal`
  int signal = 0;
  std::string output;     // stdout, whole
  std::string complaint;  // the first 4 KiB of stderr
};

// How it ended, whatever its exit code. kNotFound: no such program; kUnavailable: it cannot be
// started; kTimeout, kTooLarge, kCancelled: it was killed, its children with it, and is gone when
// this returns (the message says so where the kernel would not let go of it within 5 s).
//
// Either way nothing of its process group is left: what it started in the background and left
// behind is killed when it ends. A daemon that is meant to stay leaves the group (setsid); it can
// hold our pipes open and is not waited for.
[[nodiscard]] Result<ChildResult> run_child(const ChildCommand& command, Clock& clock);

// `ended with 3`, `was ended by signal 9`.
[[nodiscard]] std::string how_it_ended(const ChildResult& result);

// Where the program is; kNotFound names the places looked at.
[[nodiscard]] Result<std::filesystem::path> find_program(
    const std::string& program, const std::vector<std::filesystem::path>& search);

}  // namespace gpuward
