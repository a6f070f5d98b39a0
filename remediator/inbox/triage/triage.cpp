#include "remediator/inbox/triage/triage.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "core/runtime/text.h"
#include "remediator/inbox/triage/question.h"

namespace gpuward::remediator {
namespace {

constexpr std::size_t kMostLinesWaiting = 200;
constexpr std::size_t kMostAnswersKept = 5'000;
constexpr std::size_t kMostFindingsKept = 1'000;
constexpr std::size_t kMostKnownNames = 8;
constexpr std::size_t kLongestKnownName = 80;
// The most that an answer may cost; a token is about four characters.
constexpr std::size_t kAnswerCharacters = std::size_t{4} * kMostAnswerTokens;

constexpr std::size_t kLongestAdviceText = 1'000;

// The names come from outside the cluster's control too.
std::vector<std::string> shown(std::vector<std::string> names) {
  for (std::string& name : names) name = question_of(name, kLongestKnownName);
  std::ranges::sort(names);
  const auto doubles = std::ranges::unique(names);
  names.erase(doubles.begin(), doubles.end());
  names.resize(std::min(names.size(), kMostKnownNames));
  return names;
}

std::string advice_text(const std::string& question, const Advice& advice) {
  const auto percent = std::lround(100 * advice.confidence);
  return to_valid_utf8(
      "\"" + advice.reason + "\", " + std::to_string(percent) + " % sure, asked about: " + question,
      kLongestAdviceText);
}

}  // namespace

Triage::Triage(TriageParts parts)
    : parts_(std::move(parts)), thread_([this](const std::stop_token& stop) { run(stop); }) {}

Triage::~Triage() {
  thread_.request_stop();
  thread_.join();
}

Result<Triage::Prepared> Triage::prepare(const TriageRules& rules) const {
  if (!rules.is_on()) return Prepared();
  {
    const std::lock_guard lock(mutex_);
    if (desk_ && desk_->rules == rules) return desk_;
  }
  auto model = open_model(rules, parts_.services);
  if (!model) return std::unexpected(model.error());
  return std::make_shared<Desk>(rules, *std::move(model));
}

void Triage::take_over(Prepared desk) {
  const std::lock_guard lock(mutex_);
  if (desk_ == desk) return;
  desk_.swap(desk);
  answers_.clear();
  oldest_.clear();
  if (!desk_) waiting_.clear();
  if (desk_) allowance_.set_limits(desk_->rules.per_hour, desk_->rules.characters_per_day);
}

bool Triage::offer(UnknownLine line) {
  const std::lock_guard lock(mutex_);
  if (!desk_) return false;
  if (waiting_.size() >= kMostLinesWaiting) {
    ++lines_[TriageOutcome::kOverflow];
    return false;
  }
  line.text.resize(std::min(line.text.size(), kLongestLine));
  waiting_.push_back(std::move(line));
  wake_.notify_one();
  return true;
}

void Triage::run(const std::stop_token& stop) {
  while (true) {
    std::unique_lock lock(mutex_);
    if (!wake_.wait(lock, stop, [this] { return !waiting_.empty(); })) return;
    const UnknownLine line = std::move(waiting_.front());
    waiting_.pop_front();
    lock.unlock();
    if (stop.stop_requested()) return;
    look_at(line, stop);
  }
}

void Triage::look_at(const UnknownLine& line, const std::stop_token& stop) {
  std::shared_ptr<Desk> desk;
  {
    const std::lock_guard lock(mutex_);
    desk = desk_;
  }
  if (!desk) return;
  const auto most = static_cast<std::size_t>(desk->rules.line_characters);
  const std::string question = question_of(line.text, most);
  const Prompt prompt = prompt_of(question, shown(parts_.known_of(line.node)));
  auto answer = remembered(prompt.data);
  if (answer) {
    count(TriageOutcome::kCached);
  } else {
    answer = ask(*desk, prompt, stop);
    if (!answer) return;
    remember(desk, prompt.data, *answer);
  }
  if (answer->advice) keep(desk->rules, line, question, *answer->advice);
}

std::optional<Triage::Answer> Triage::remembered(const std::string& question) const {
  const std::lock_guard lock(mutex_);
  const auto found = answers_.find(question);
  if (found == answers_.end()) return std::nullopt;
  return found->second;
}

void Triage::remember(const std::shared_ptr<Desk>& desk, const std::string& question,
                      Answer answer) {
  const std::lock_guard lock(mutex_);
  if (desk != desk_) return;  // an answer under the previous rules
  if (answers_.emplace(question, std::move(answer)).second) oldest_.push_back(question);
  if (oldest_.size() <= kMostAnswersKept) return;
  answers_.erase(oldest_.front());
  oldest_.pop_front();
}

// Nullopt: the model was not asked, or gave no answer.
std::optional<Triage::Answer> Triage::ask(Desk& desk, const Prompt& prompt,
                                          const std::stop_token& stop) {
  const std::size_t sent = prompt.instructions.size() + prompt.data.size();
  {
    const std::lock_guard lock(mutex_);
    const auto permission =
        allowance_.spend(sent + kAnswerCharacters, parts_.services.clock.steady());
    if (permission != Permission::kYes) {
      ++lines_[permission == Permission::kOverLimit ? TriageOutcome::kLimited
                                                    : TriageOutcome::kBreakerOpen];
      return std::nullopt;
    }
    characters_ += sent;
  }
  const auto said = desk.model->ask(prompt, stop);
  if (!said && stop.stop_requested()) return std::nullopt;
  note_trouble(said ? nullptr : &said.error());
  const std::lock_guard lock(mutex_);
  if (!said) {
    ++lines_[TriageOutcome::kFailed];
    allowance_.failed(parts_.services.clock.steady());
    return std::nullopt;
  }
  allowance_.succeeded();
  auto advice = read_advice(*said);
  ++lines_[advice ? TriageOutcome::kAnswered : TriageOutcome::kNoAnswer];
  if (!advice) return Answer{};
  return Answer{*std::move(advice)};
}

void Triage::keep(const TriageRules& rules, const UnknownLine& line, const std::string& question,
                  const Advice& advice) {
  if (!advice.what.severity || advice.confidence < rules.min_confidence) return;
  const std::string error_class(advice.what.name);
  parts_.log.info("Model classified a line that the catalogue does not know",
                  {{"node", line.node}, {"error_class", error_class}, {"reason", advice.reason}});
  const std::lock_guard lock(mutex_);
  if (findings_.size() >= kMostFindingsKept) return;
  findings_.push_back({.node = line.node,
                       .error_class = error_class,
                       .severity = std::min(*advice.what.severity, rules.max_severity),
                       .at = line.at,
                       .advice = advice_text(question, advice)});
}

std::vector<TriageFinding> Triage::findings() const {
  const std::lock_guard lock(mutex_);
  return {findings_.begin(), findings_.end()};
}

void Triage::forget(std::size_t oldest) {
  const std::lock_guard lock(mutex_);
  const auto number = static_cast<std::ptrdiff_t>(std::min(oldest, findings_.size()));
  findings_.erase(findings_.begin(), findings_.begin() + number);
}

TriageTally Triage::tally() const {
  const std::lock_guard lock(mutex_);
  TriageTally tally{.is_on = desk_ != nullptr,
                    .lines = lines_,
                    .characters = characters_,
                    .waiting = waiting_.size(),
                    .is_breaker_open = allowance_.is_open(parts_.services.clock.steady())};
  for (const TriageOutcome outcome :
       {TriageOutcome::kAnswered, TriageOutcome::kCached, TriageOutcome::kNoAnswer,
        TriageOutcome::kFailed, TriageOutcome::kLimited, TriageOutcome::kBreakerOpen,
        TriageOutcome::kOverflow}) {
    tally.lines.try_emplace(outcome, 0);
  }
  return tally;
}

void Triage::count(TriageOutcome outcome) {
  const std::lock_guard lock(mutex_);
  ++lines_[outcome];
}

void Triage::note_trouble(const Error* error) {
  const bool was_in_trouble = std::exchange(is_in_trouble_, error != nullptr);
  if (was_in_trouble || error == nullptr) return;
  parts_.log.warn("Request to the language model failed: the catalogue alone decides",
                  {{"error", error->message}});
}

}  // namespace gpuward::remediator
