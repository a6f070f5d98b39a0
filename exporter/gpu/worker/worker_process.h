// One GPU worker as a child process with three pipes, none of which can block the exporter. Used by
// WorkerSource, on one thread.
#pragma once

#include <sys/types.h>

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/model/result.h"
#include "core/runtime/clock.h"
#include "exporter/gpu/report/gpu_choice.h"
#include "exporter/gpu/worker/message_lines.h"
#include "exporter/gpu/worker/protocol.h"
#include "exporter/gpu/worker/unreaped.h"

namespace gpuward::exporter {

// The program must ignore SIGPIPE (core/runtime/signals.h).
class WorkerProcess final : public Reapable {
 public:
  // Starts it in a new process group, with no signal blocked and no descriptors but its three
  // pipes. kUnavailable if it cannot be started.
  [[nodiscard]] static Result<std::unique_ptr<WorkerProcess>> start(
      const std::vector<std::string>& argv);
  ~WorkerProcess() override;  // kill(); does not wait
  WorkerProcess(const WorkerProcess&) = delete;
  WorkerProcess& operator=(const WorkerProcess&) = delete;

  [[nodiscard]] pid_t pid() const { return pid_; }
  // Descriptors to poll: its messages and its stderr; -1 once read() has reached the end.
  [[nodiscard]] int output() const { return output_; }
  [[nodiscard]] int complaints() const { return complaints_; }

  // Returns false if the pipe does not accept it now.
  [[nodiscard]] bool send(std::string_view request) const;
  // Returns the available bytes, at most 64 KiB; empty if there are none. Closes the descriptor at
  // its end.
  [[nodiscard]] std::string read_output() { return read(output_); }
  [[nodiscard]] std::string read_complaints() { return read(complaints_); }
  void close_input();  // asks it to end
  void kill() const;   // SIGKILL to its group
  [[nodiscard]] std::optional<int> try_reap() override;

 private:
  WorkerProcess(pid_t pid, int input, int output, int complaints)
      : pid_(pid), input_(input), output_(output), complaints_(complaints) {}
  static std::string read(int& descriptor);

  pid_t pid_;
  int input_, output_, complaints_;
  std::optional<int> status_;
};

// A separate worker process that reads one hung GPU once, so that another hang there does not delay
// the readings of the others.
class GpuProbe {
 public:
  // The process has just been started to read only that GPU.
  GpuProbe(std::unique_ptr<WorkerProcess> process, GpuName gpu, Clock::Steady deadline);

  enum class Outcome : std::uint8_t { kWaiting, kAnswered, kSilent };
  // Checks for a response. Silent: none in time, or the process has ended.
  [[nodiscard]] Outcome look(Clock::Steady now);

  [[nodiscard]] const GpuName& gpu() const { return gpu_; }
  [[nodiscard]] int output() const { return process_->output(); }  // to poll
  [[nodiscard]] Clock::Steady deadline() const { return deadline_; }
  // Kills the process, whose exit may take time.
  [[nodiscard]] std::unique_ptr<Reapable> end();

 private:
  std::unique_ptr<WorkerProcess> process_;
  GpuName gpu_;
  Clock::Steady deadline_;
  MessageLines messages_{kMostMessageBytes};
  bool has_answered_ = false;
};

// Wakes a thread that polls descriptors, from any other thread. WorkerSource uses it for a stop and
// for hurry().
class Wakeup {
 public:
  Wakeup();
  ~Wakeup();
  Wakeup(const Wakeup&) = delete;
  Wakeup& operator=(const Wakeup&) = delete;

  [[nodiscard]] int descriptor() const { return descriptor_; }  // readable after signal()
  void signal() const;                                          // any thread
  void clear() const;                                           // the thread that polls

 private:
  int descriptor_;
};

}  // namespace gpuward::exporter
