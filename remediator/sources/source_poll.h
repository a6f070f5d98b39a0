// Asks one source at its pace and hands what it says to the intake, as the alerts of a webhook are.
// Only the replica that leads asks. A round that fails is counted and comes again by itself.
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
#include "remediator/sources/intake.h"
#include "remediator/sources/source.h"

namespace gpuward::remediator {

// What a source has done since the start; for page/source_metrics.
struct SourceCounts {
  std::string name;
  std::uint64_t errors = 0, read = 0, findings = 0;
  std::optional<Clock::Wall> last_success;
  std::optional<std::chrono::seconds> lag;
  std::map<std::string, std::size_t> nodes = {};  // by what the source has made of them last
};

// One look, and what the intake took of it.
struct SourceRound {
  SourceFindings findings;
  IntakeCounts taken;
};
// What SourcePoll does each time: nothing that was read is settled before it is durable.
[[nodiscard]] Result<SourceRound> ask_once(Source& source, Intake& intake, const Clock& clock);

struct SourcePollParts {
  Intake& intake;
  Clock& clock;
  std::function<bool()> leads;
  std::function<void(const Error&)> on_error;  // on the thread, for rounds that failed
  Log& log;                                    // each round at debug
};

class SourcePoll {
 public:
  // Starts the thread; the destructor stops and joins it. What `parts` refers to must outlive it.
  SourcePoll(std::unique_ptr<Source> source, SourcePollParts parts);
  ~SourcePoll();
  SourcePoll(const SourcePoll&) = delete;
  SourcePoll& operator=(const SourcePoll&) = delete;

  // Any thread.
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
