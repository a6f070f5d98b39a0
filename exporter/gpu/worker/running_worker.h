// Reads the two pipes of the current worker, and notices when it ends. Does not trust its input.
// Used by WorkerSource, on one thread; nothing in it blocks.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "core/runtime/clock.h"
#include "core/runtime/log.h"
#include "exporter/gpu/worker/message_lines.h"
#include "exporter/gpu/worker/protocol.h"
#include "exporter/gpu/worker/worker_process.h"

namespace gpuward::exporter {

class RunningWorker {
 public:
  // Why the worker must be killed: "The GPU worker ..."; nullopt if it need not be.
  using Fault = std::optional<std::string>;
  using OnMessage = std::function<Fault(WorkerMessage)>;

  // The process has just been started. `log` must outlive it.
  RunningWorker(std::unique_ptr<WorkerProcess> process, Log& log);

  void ask();  // requests a reading; if the request is not taken, the worker ends or times out
  // Passes on the pending messages, up to the first fault.
  [[nodiscard]] Fault read(const OnMessage& on_message);
  // The worker has responded: resets the limits on its output until the next response.
  void answered();
  void log_complaints();
  // Returns a fault if it has ended, or has closed its pipe but does not exit.
  [[nodiscard]] Fault end(Clock::Steady now);
  // Returns the process, still to be reaped, which may take time.
  [[nodiscard]] std::unique_ptr<WorkerProcess> kill();

  // The last progress, about the next query to the driver; empty if it is idle.
  [[nodiscard]] const std::string& progress() const { return progress_; }
  [[nodiscard]] bool has_spoken() const { return has_spoken_; }  // in the last read()
  // The next check will probably find that it has ended.
  [[nodiscard]] bool is_leaving() const { return leaves_since_.has_value(); }
  [[nodiscard]] WorkerProcess& process() { return *process_; }

 private:
  [[nodiscard]] Fault take(std::string_view line, const OnMessage& on_message);

  std::unique_ptr<WorkerProcess> process_;
  Log& log_;
  MessageLines messages_;
  MessageLines complaints_;
  int complaint_count_ = 0;
  std::size_t bytes_since_answer_ = 0;
  std::size_t messages_since_answer_ = 0;
  std::string progress_;
  bool has_spoken_ = false;
  std::optional<Clock::Steady> leaves_since_;
};

}  // namespace gpuward::exporter
