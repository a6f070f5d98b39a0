// A child process of a test: has its own process group, its output is kept in memory (with a
// limit), and it is ended by its pid with the object. Used by every test that runs a real program.
//
// The child gets SIGKILL when the thread that spawned it ends (PR_SET_PDEATHSIG), so that an
// aborted test leaves nothing behind: spawn from a thread that outlives the child.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstddef>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/model/result.h"
#include "tests/support/deadline.h"

namespace gpuward::support {

struct ProcessOptions {
  std::vector<std::string> argv = {};            // argv[0] is looked up on PATH
  std::map<std::string, std::string> env = {};   // added to this process's
  std::filesystem::path working_directory = {};  // empty: this process's
  std::string input = {};                    // written to the child's stdin, which is then closed
  std::size_t max_output_bytes = 8U << 20U;  // of each stream; the rest is read and dropped
};

class Process {
 public:
  // kNotFound if the program cannot be run.
  [[nodiscard]] static Result<std::unique_ptr<Process>> spawn(ProcessOptions options);
  // Spawns, waits for the end and returns; kTimeout (and killed) after `limit`.
  struct Outcome {
    int exit_code = 0;  // 128 + signal for a child that was killed
    std::string output, error_output;
  };
  [[nodiscard]] static Result<Outcome> run(ProcessOptions options,
                                           std::chrono::milliseconds limit = kGenerous);

  Process(const Process&) = delete;
  Process& operator=(const Process&) = delete;
  ~Process();  // SIGKILL to the group, then reaps

  [[nodiscard]] pid_t pid() const;
  [[nodiscard]] bool running() const;
  void signal(int number) const;  // only to the child
  // The exit code (128 + signal for a killed one); nullopt while it runs after `limit`. Repeatable.
  [[nodiscard]] std::optional<int> wait_exit(std::chrono::milliseconds limit = kGenerous) const;
  // Sends SIGTERM, then SIGKILL after `grace`. Returns the exit code, which shows whether it ended
  // by itself: 128 + SIGKILL if not.
  [[nodiscard]] int stop(std::chrono::milliseconds grace = kTimeToStop);
  // The output so far; complete once the child has ended.
  [[nodiscard]] std::string output() const;        // stdout
  [[nodiscard]] std::string error_output() const;  // stderr

 private:
  class Impl;
  explicit Process(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

// The path of a program: `name` itself if it has a slash, otherwise the first match on PATH; empty
// if there is none.
[[nodiscard]] std::filesystem::path find_program(const std::string& name);

}  // namespace gpuward::support
