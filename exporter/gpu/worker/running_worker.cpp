#include "exporter/gpu/worker/running_worker.h"

#include <sys/wait.h>

#include <cstring>
#include <utility>

#include "core/runtime/text.h"

namespace gpuward::exporter {
namespace {

// The limits between two responses; a healthy worker never exceeds them.
constexpr std::size_t kMostBytesPerReading = 4 * kMostMessageBytes;
constexpr std::size_t kMostMessagesPerReading = 10'000;
constexpr std::size_t kMostComplaintBytes = 512;
constexpr int kMostComplaints = 20;
// A process that has closed its pipes exits a moment later, or never will.
constexpr std::chrono::milliseconds kLongestFarewell{250};

std::string how_it_ended(int status) {
  if (WIFSIGNALED(status)) {
    const int number = WTERMSIG(status);
    const char* const name = ::sigabbrev_np(number);
    return "The GPU worker was terminated by signal " + std::to_string(number) +
           (name != nullptr ? std::string(" (SIG") + name + ")" : std::string());
  }
  return "The GPU worker ended with exit code " + std::to_string(WEXITSTATUS(status));
}

}  // namespace

RunningWorker::RunningWorker(std::unique_ptr<WorkerProcess> process, Log& log)
    : process_(std::move(process)),
      log_(log),
      messages_(kMostMessageBytes),
      complaints_(kMostComplaintBytes) {}

void RunningWorker::ask() {
  (void)process_->send(kReadRequest);
  progress_.clear();
}

RunningWorker::Fault RunningWorker::read(const OnMessage& on_message) {
  const std::string bytes = process_->read_output();
  has_spoken_ = !bytes.empty();
  bytes_since_answer_ += bytes.size();
  Fault fault;
  messages_.feed(bytes, [&](std::string_view line) {
    if (!fault) fault = take(line, on_message);
  });
  if (fault) return fault;
  const bool says_too_much = messages_.has_overflowed() ||
                             bytes_since_answer_ > kMostBytesPerReading ||
                             messages_since_answer_ > kMostMessagesPerReading;
  if (!says_too_much) return std::nullopt;
  return "The GPU worker wrote too much output and was killed";
}

RunningWorker::Fault RunningWorker::take(std::string_view line, const OnMessage& on_message) {
  ++messages_since_answer_;
  auto message = decode_message(line);
  if (!message)
    return "The GPU worker sent an invalid answer and was killed: " + message.error().message;
  if (message->progress) progress_ = *message->progress;
  return on_message(*std::move(message));
}

void RunningWorker::answered() { bytes_since_answer_ = messages_since_answer_ = 0; }

void RunningWorker::log_complaints() {
  const std::string bytes = process_->read_complaints();
  bytes_since_answer_ += bytes.size();
  complaints_.feed(bytes, [&](std::string_view line) {
    if (++complaint_count_ > kMostComplaints) return;
    log_.warn("GPU worker wrote to stderr", {{"text", to_valid_utf8(line, kMostComplaintBytes)}});
  });
}

RunningWorker::Fault RunningWorker::end(Clock::Steady now) {
  const auto status = process_->try_reap();
  const bool is_open = process_->output() >= 0;
  if (status && !is_open) return how_it_ended(*status);
  if (!status && is_open) {
    leaves_since_.reset();
    return std::nullopt;
  }
  // The process has ended but its pipe is still open elsewhere, or the pipe is closed but the
  // process runs.
  if (!leaves_since_) leaves_since_ = now;
  if (now - *leaves_since_ < kLongestFarewell) return std::nullopt;
  return status ? how_it_ended(*status) : "The GPU worker has closed its pipe and was killed";
}

std::unique_ptr<WorkerProcess> RunningWorker::kill() {
  log_complaints();
  process_->kill();
  return std::move(process_);
}

}  // namespace gpuward::exporter
