// Sends lines that the catalogue does not know to a language model and keeps its answers as
// findings: advice, never a command. Runs on a thread of its own behind a short queue, so that
// callers of offer() never wait. A line without a question or an answer is treated as if there were
// no model. Made by the composition root; fed by inbox/sources/loki_source and
// inbox/sources/node_line_source, read by inbox/sources/triage_source.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "core/runtime/clock.h"
#include "core/runtime/log.h"
#include "remediator/inbox/triage/advice.h"
#include "remediator/inbox/triage/allowance.h"
#include "remediator/inbox/triage/language_model.h"

namespace gpuward::remediator {

struct UnknownLine {
  std::string node;  // as its stream names it: an answer cannot name another
  std::string text;
  Clock::Wall at;
};

struct TriageFinding {
  std::string node;
  std::string error_class;
  AdvisedSeverity severity = AdvisedSeverity::kMonitor;
  Clock::Wall at;
  std::string advice = {};  // reason, confidence and question, for people; at most 1 KiB
};

// The outcome for a line.
enum class TriageOutcome : std::uint8_t {
  kAnswered,
  kCached,       // the same question was answered before
  kNoAnswer,     // the answer was not valid
  kFailed,       // there was no answer
  kLimited,      // not asked: too many questions, or characters
  kBreakerOpen,  // not asked: the model has failed too often
  kOverflow      // not asked: too many lines are waiting
};

struct TriageTally {
  bool is_on = false;
  std::map<TriageOutcome, std::uint64_t> lines;
  std::uint64_t characters = 0;  // sent
  std::size_t waiting = 0;
  bool is_breaker_open = false;
};

struct TriageParts {
  ModelServices services;
  Log& log;
  // Returns the names of the firing alerts of a node. Called on the thread of the triage.
  std::function<std::vector<std::string>(const std::string& node)> known_of;
};

class Triage {
  // Replaced as a whole; a running question keeps the one that it started with.
  struct Desk {
    TriageRules rules;
    std::unique_ptr<LanguageModel> model;
  };

 public:
  using Prepared = std::shared_ptr<Desk>;  // null: no model

  // Everything that `parts` refers to must outlive it. There is no model before take_over().
  explicit Triage(TriageParts parts);
  ~Triage();
  Triage(const Triage&) = delete;
  Triage& operator=(const Triage&) = delete;

  // Thread-safe. Prepares a model for these rules; nothing changes yet. Fails if a file cannot be
  // read.
  [[nodiscard]] Result<Prepared> prepare(const TriageRules& rules) const;
  // Thread-safe. Different rules discard the answers given under the previous ones.
  void take_over(Prepared desk);
  // Any thread; never blocks. False: there is no model, or too many lines wait.
  bool offer(UnknownLine line);
  // Thread-safe. Returns the findings that are not forgotten yet: the caller calls `forget` with
  // the number of the oldest that are durable.
  [[nodiscard]] std::vector<TriageFinding> findings() const;
  void forget(std::size_t oldest);
  [[nodiscard]] TriageTally tally() const;
  void request_stop() { thread_.request_stop(); }

 private:
  struct Answer {
    std::optional<Advice> advice;  // nullopt: the answer was not valid
  };
  void run(const std::stop_token& stop);
  void look_at(const UnknownLine& line, const std::stop_token& stop);
  [[nodiscard]] std::optional<Answer> remembered(const std::string& question) const;
  void remember(const std::shared_ptr<Desk>& desk, const std::string& question, Answer answer);
  [[nodiscard]] std::optional<Answer> ask(Desk& desk, const Prompt& prompt,
                                          const std::stop_token& stop);
  void keep(const TriageRules& rules, const UnknownLine& line, const std::string& question,
            const Advice& advice);
  void count(TriageOutcome outcome);
  void note_trouble(const Error* error);  // null: the model has answered

  TriageParts parts_;
  bool is_in_trouble_ = false;  // used by the thread only
  mutable std::mutex mutex_;
  std::condition_variable_any wake_;
  Prepared desk_;  // null: off
  std::deque<UnknownLine> waiting_;
  std::map<std::string, Answer> answers_;
  std::deque<std::string> oldest_;  // of answers_
  std::deque<TriageFinding> findings_;
  TriageAllowance allowance_;
  std::map<TriageOutcome, std::uint64_t> lines_;
  std::uint64_t characters_ = 0;
  std::jthread thread_;
};

}  // namespace gpuward::remediator
