// Reads the two pipes of the worker that runs now, and notices when it ends. Does not trust what it
// reads. Used by WorkerSource, on one thread; nothing in it blocks.
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
  // Why it is to be killed: "The GPU worker ..."; nullopt where it is not.
  using Fault = std::optional<std::string>;
  using OnMessage = std::function<Fault(WorkerMessage)>;

  // It has just been started. `log` must outlive it.
  RunningWorker(std::unique_ptr<WorkerProcess> process, Log& log);

  void ask();  // for a reading; where it is not taken, the worker ends or is given up
  // Hands out the messages that have come, up to the first fault.
  [[nodiscard]] Fault read(const OnMessage& on_message);
  // It has answered: what it may say before the next answer begins anew.
  void answered();
  void log_complaints();
  // That it is gone, or has closed its pipe and does not go.
  [[nodiscard]] Fault end(Clock::Steady now);
  // What is left to be reaped, which may take its time.
  [[nodiscard]] std::unique_ptr<WorkerProcess> kill();

  // What it was about to ask the driver when it said so last; empty where it has nothing to do.
  [[nodiscard]] const std::string& progress() const { return progress_; }
  [[nodiscard]] bool has_spoken() const { return has_spoken_; }  // in the last read()
  // A look will soon show that it is gone.
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
