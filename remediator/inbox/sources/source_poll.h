// Reads one source at its interval, and passes its findings to the intake, as a webhook does with
// alerts. Only the leader reads. A failed round is counted, and the next round follows anyway.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <thread>

#include "core/runtime/clock.h"
#include "core/runtime/log.h"
#include "remediator/inbox/sources/intake.h"
#include "remediator/inbox/sources/source.h"

namespace gpuward::remediator {

// The counts of a source since the start; for tell/page/metrics.
struct SourceCounts {
  std::string name;
  std::uint64_t errors = 0, read = 0, findings = 0;
  std::optional<Clock::Wall> last_success;
  std::optional<std::chrono::seconds> lag;
  std::map<std::string, std::size_t> nodes = {};  // Number of nodes by the source's last verdict.
};

// One read, and the intake's answer to it.
struct SourceRound {
  SourceFindings findings;
  IntakeCounts taken;
};
// Runs one round of SourcePoll. The source settles only after its signals are durable.
[[nodiscard]] Result<SourceRound> ask_once(Source& source, Intake& intake, const Clock& clock);

struct SourcePollParts {
  Intake& intake;
  Clock& clock;
  std::function<bool()> leads;
  std::function<void(const Error&)> on_error;  // Called on the thread for failed rounds.
  Log& log;                                    // Logs each round at level debug.
};

class SourcePoll {
 public:
  // Starts the thread; the destructor stops and joins it. The references in `parts` must outlive
  // this object.
  SourcePoll(std::unique_ptr<Source> source, SourcePollParts parts);
  ~SourcePoll();
  SourcePoll(const SourcePoll&) = delete;
  SourcePoll& operator=(const SourcePoll&) = delete;

  // Thread-safe.
  void request_stop() { thread_.request_stop(); }
  [[nodiscard]] SourceCounts counts() const;

 private:
  void run(const std::stop_token& stop);
  [[nodiscard]] Result<bool> round();
  void count(const Result<bool>& outcome);
  void forget_nodes();

  std::unique_ptr<Source> source_;
  SourcePollParts parts_;
  mutable std::mutex mutex_;
  SourceCounts counts_;
  std::jthread thread_;
};

}  // namespace gpuward::remediator
