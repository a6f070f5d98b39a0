// Shows lines that the catalogue does not know to a language model and keeps what it says of them
// as findings: advice, never an order. On a thread of its own behind a short queue, so that whoever
// offers a line never waits; what is not asked or not answered is as if nobody had been asked. Made
// by the composition root; fed by sources/loki_source, read by sources/triage_source.
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
#include "remediator/triage/advice.h"
#include "remediator/triage/allowance.h"
#include "remediator/triage/language_model.h"

namespace gpuward::remediator {

struct UnknownLine {
  std::string node;  // as its stream names it: no answer can name another
  std::string text;
  Clock::Wall at;
};

struct TriageFinding {
  std::string node;
  std::string error_class;
  AdvisedSeverity severity = AdvisedSeverity::kMonitor;
  Clock::Wall at;
  std::string advice = {};  // reason, confidence and what was asked, for people; at most 1 KiB
};

// What became of a line.
enum class TriageOutcome : std::uint8_t {
  kAnswered,
  kCached,       // the same question was answered before
  kNoAnswer,     // what came is no answer
  kFailed,       // nothing came
  kLimited,      // not asked: too many questions, or characters
  kBreakerOpen,  // not asked: it has failed too often
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
  // The names of what fires on a node. Called on the thread of the triage.
  std::function<std::vector<std::string>(const std::string& node)> known_of;
};

class Triage {
  // Replaced as a whole; a question keeps the one that it began with.
  struct Desk {
    TriageRules rules;
    std::unique_ptr<LanguageModel> model;
  };

 public:
  using Prepared = std::shared_ptr<Desk>;  // null: nobody is asked

  // What `parts` refers to must outlive it. Asks nobody until rules say whom.
  explicit Triage(TriageParts parts);
  ~Triage();
  Triage(const Triage&) = delete;
  Triage& operator=(const Triage&) = delete;

  // Any thread. What these rules need, made ready; nothing changes yet. The error of a file that
  // cannot be read.
  [[nodiscard]] Result<Prepared> prepare(const TriageRules& rules) const;
  // Any thread. Rules that differ forget the answers of the ones before.
  void take_over(Prepared desk);
  // Any thread; never blocks. False: nobody is asked now, or too many lines wait.
  bool offer(UnknownLine line);
  // Any thread. What was found and not yet taken, which stays until `forget` says how many of the
  // oldest are durable.
  [[nodiscard]] std::vector<TriageFinding> findings() const;
  void forget(std::size_t oldest);
  [[nodiscard]] TriageTally tally() const;
  void request_stop() { thread_.request_stop(); }

 private:
  struct Answer {
    std::optional<Advice> advice;  // nullopt: what came was none
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
  void note_trouble(const Error* error);  // null: it has answered

  TriageParts parts_;
  bool is_in_trouble_ = false;  // of the thread alone
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
