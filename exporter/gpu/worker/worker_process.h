// One GPU worker as a child process with three pipes, none of which can block us. Used by
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

// SIGPIPE has to be ignored where it is used (core/runtime/signals.h).
class WorkerProcess final : public Reapable {
 public:
  // Own process group, no signal blocked, no descriptor but its three pipes. kUnavailable where it
  // cannot be started.
  [[nodiscard]] static Result<std::unique_ptr<WorkerProcess>> start(
      const std::vector<std::string>& argv);
  ~WorkerProcess() override;  // kill(); waits for nothing
  WorkerProcess(const WorkerProcess&) = delete;
  WorkerProcess& operator=(const WorkerProcess&) = delete;

  [[nodiscard]] pid_t pid() const { return pid_; }
  // To poll: what it answers, what it complains about; -1 once read() has met the end.
  [[nodiscard]] int output() const { return output_; }
  [[nodiscard]] int complaints() const { return complaints_; }

  // False where the pipe does not take it now.
  [[nodiscard]] bool send(std::string_view request) const;
  // What is there now, at most 64 KiB; empty where nothing is. Closes the descriptor at its end.
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

// A worker process of its own that reads one GPU that has hung, once, so that another hang there
// takes no reading of the others with it.
class GpuProbe {
 public:
  // The process has just been started to ask that GPU alone.
  GpuProbe(std::unique_ptr<WorkerProcess> process, GpuName gpu, Clock::Steady deadline);

  enum class Outcome : std::uint8_t { kWaiting, kAnswered, kSilent };
  // What has come by now. Silent: not in time, or the process has ended instead.
  [[nodiscard]] Outcome look(Clock::Steady now);

  [[nodiscard]] const GpuName& gpu() const { return gpu_; }
  [[nodiscard]] int output() const { return process_->output(); }  // to poll
  [[nodiscard]] Clock::Steady deadline() const { return deadline_; }
  // Kills the process, which may take its time.
  [[nodiscard]] std::unique_ptr<Reapable> end();

 private:
  std::unique_ptr<WorkerProcess> process_;
  GpuName gpu_;
  Clock::Steady deadline_;
  MessageLines messages_{kMostMessageBytes};
  bool has_answered_ = false;
};

// Wakes a thread that polls descriptors, from any other thread. Used by WorkerSource for a stop and
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
