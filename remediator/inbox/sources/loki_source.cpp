#include "remediator/inbox/sources/loki_source.h"

#include <algorithm>
#include <utility>

#include "core/kube/names.h"
#include "remediator/inbox/sources/log_findings.h"
#include "remediator/policy/konduktor_taint.h"

namespace gpuward::remediator {
namespace {

using std::chrono::duration_cast;
using std::chrono::nanoseconds;

// Loki's own default limit is 5,000.
constexpr std::size_t kPageLines = 1'000;
// Loki accepts lines of nodes whose clocks are this far ahead.
constexpr std::int64_t kAheadMost = nanoseconds(std::chrono::minutes(10)).count();
// The longest time of one query after a gap; shorter if Loki does not answer it.
constexpr nanoseconds kLongestQuestion = std::chrono::hours(1);
constexpr nanoseconds kShortestQuestion = std::chrono::minutes(1);
constexpr std::chrono::minutes kLessFor{10};
// Older lines are skipped.
constexpr std::int64_t kLongestGap = nanoseconds(std::chrono::hours(24)).count();
constexpr std::int64_t kLateMost = nanoseconds(kLateAfterOutage).count();
constexpr std::chrono::seconds kCursorEvery{30};
// Another replica may have continued reading meanwhile.
constexpr std::chrono::seconds kStaleAfter{60};

constexpr std::chrono::seconds kWritersEvery{60};
constexpr const char* kTwoWriters =
    "loki.konduktor_taint: another program also writes the taint trainy.konduktor.ai/faulty. "
    "Disable it (konduktor's controller, or the preset konduktor of gpuward-exporter), then run "
    "`gpuwardctl reset --taint trainy.konduktor.ai/faulty`. gpuward reads no lines until then";

std::int64_t nanoseconds_of(std::chrono::milliseconds time) { return nanoseconds(time).count(); }

std::string re2_escaped(std::string_view text) {
  std::string escaped;
  for (const char letter : text) {
    if (std::string_view(R"(\.+*?()|[]{}^$)").contains(letter)) escaped += '\\';
    escaped += letter;
  }
  return escaped;
}

std::string any_of_words(const std::vector<std::string>& words) {
  std::string expression;
  for (const std::string& word : words)
    expression += (expression.empty() ? "" : "|") + re2_escaped(word);
  return expression;
}

std::optional<UnknownLine> unknown_line(const LogLine& line, const LokiRules& rules,
                                        const xid::Catalogue& catalogue) {
  if (!is_unknown_kernel_line(line, catalogue)) return std::nullopt;
  const auto node = line.labels.find(rules.node_label);
  if (node == line.labels.end() || !kube::validate_node_name(node->second)) return std::nullopt;
  const nanoseconds at(line.at);
  return UnknownLine{.node = node->second,
                     .text = line.text,
                     .at = Clock::Wall(duration_cast<Clock::Wall::duration>(at))};
}

// Only the answer shows Loki's clock.
void advance(LogProgress& progress, const LokiQuestion& question, const std::vector<LogLine>& lines,
             std::int64_t clock) {
  const std::int64_t position = std::min(progress.position, clock);
  if (lines.size() < question.limit) {
    progress.position = std::max(position, std::min(question.end, clock));
    progress.resume.reset();
  } else {
    const std::int64_t last = lines.back().at;
    progress.position = std::max(position, std::min(last, clock));
    progress.resume = std::max(last, question.start + 1);
  }
}

}  // namespace

LokiSource::LokiSource(LokiSettings settings, http::Client& http, kube::Api& api,
                       const CurrentPolicy& policy, const KnownEvidence& known, Clock& clock)
    : settings_(std::move(settings)),
      loki_(settings_.place, http),
      api_(api),
      cursor_(api, settings_.state_namespace),
      policy_(policy),
      known_(known),
      clock_(clock),
      limit_(kPageLines),
      range_(kLongestQuestion) {}

std::string LokiSource::name_of(Feed feed) { return feed == Feed::kKernel ? "kernel" : "pods"; }

std::int64_t LokiSource::now() const {
  const auto ours = clock_.wall() + ahead_;
  return duration_cast<nanoseconds>(ours.time_since_epoch()).count();
}

Status LokiSource::load() {
  const auto positions = cursor_.load();
  if (!positions) return std::unexpected(positions.error());
  // If another process has read further, only that one has seen the lines before.
  for (const Feed feed : {Feed::kKernel, Feed::kPods}) {
    const auto known = positions->find(name_of(feed));
    const auto own = progress_.find(feed);
    if (known == positions->end()) continue;
    if (own != progress_.end() && own->second.position >= known->second) continue;
    progress_[feed] = {.position = known->second, .resume = std::nullopt};
    read_since_ = std::max(read_since_, known->second);
    may_be_outage_ = true;
  }
  is_loaded_ = true;
  return {};
}

// Checked once per process, or until it holds: a list of all nodes is expensive.
Status LokiSource::require_only_writer() {
  if (is_only_writer_ || !policy_.get()->loki.konduktor_taint) return {};
  const auto now = clock_.steady();
  if (writers_looked_at_ && now - *writers_looked_at_ < kWritersEvery)
    return fail(ErrorKind::kRefused, kTwoWriters);
  const auto nodes = api_.list_nodes();
  if (!nodes) return with_context("reading nodes", nodes.error());
  writers_looked_at_ = now;
  const auto other = tainted_by_another_writer(*nodes);
  is_only_writer_ = !other;
  if (other)
    return fail(ErrorKind::kRefused, std::string(kTwoWriters) + ". Seen on node " + *other);
  return {};
}

Result<SourceFindings> LokiSource::look() {
  if (auto alone = require_only_writer(); !alone) return std::unexpected(alone.error());
  const auto started = clock_.steady();
  if (looked_at_ && started - *looked_at_ > kStaleAfter) is_loaded_ = false;
  if (!is_loaded_) {
    if (auto loaded = load(); !loaded) return std::unexpected(loaded.error());
  }
  looked_at_ = started;
  pending_ = {};
  pending_.records = records_;
  const auto policy = policy_.get();
  SourceFindings findings;
  if (auto done = read(Feed::kKernel, policy->loki, findings); !done)
    return std::unexpected(done.error());
  if (!settings_.namespaces.empty() && !policy->loki.pod_lines.empty()) {
    if (auto done = read(Feed::kPods, policy->loki, findings); !done)
      return std::unexpected(done.error());
  }
  // While reading lags, or soon after an outage, a line that repeats the finding may not have been
  // read yet; before this process began to read, another one may have seen one.
  const bool may_have_missed = read_since_ > now() - nanoseconds_of(policy->loki.quiet_for);
  const bool awaits_late_lines = std::ranges::any_of(
      pending_.progress, [](const auto& feed) { return feed.second.again.has_value(); });
  if (findings.has_more || may_have_missed || awaits_late_lines) return findings;
  LastLines last = last_lines_;
  merge(last, pending_.last_lines);
  // After smaller queries, the lines of the last minutes may not have been read yet.
  std::int64_t read_to = now();
  for (const auto& [feed, progress] : pending_.progress)
    read_to = std::min(read_to, progress.position);
  const QuietTime quiet{read_to, policy->loki.quiet_for, clock_.wall()};
  for (AlertSignal& signal : quiet_signals(known_.firing_from(kLokiOrigin), last, quiet))
    findings.signals.push_back(std::move(signal));
  return findings;
}

std::string LokiSource::query_of(Feed feed, const LokiRules& rules) const {
  if (feed == Feed::kKernel)
    return rules.kernel_selector + " |~ " + logql_quoted(rules.kernel_filter);
  std::vector<std::string> words;
  for (const PodLineRule& rule : rules.pod_lines) words.push_back(rule.contains);
  return "{" + rules.namespace_label + "=~" + logql_quoted(any_of_words(settings_.namespaces)) +
         "} |~ " + logql_quoted(any_of_words(words));
}

Status LokiSource::read(Feed feed, const LokiRules& rules, SourceFindings& findings) {
  if (asked_too_much_at_ && clock_.steady() - *asked_too_much_at_ >= kLessFor) {
    limit_ = kPageLines;
    range_ = kLongestQuestion;
    asked_too_much_at_.reset();
  }
  const std::int64_t overlap = nanoseconds_of(rules.overlap);
  LogProgress next = next_of(feed, overlap, findings);
  const std::int64_t before = next.position;
  LokiQuestion question{.query = query_of(feed, rules),
                        .start = next.resume.value_or(std::max(before - overlap, {})),
                        .end = 0,
                        .limit = limit_};
  question.end = std::min(now() + kAheadMost, question.start + overlap + range_.count());
  const auto answer = ask(question);
  if (!answer) return std::unexpected(answer.error());
  for (const LogLine& line : answer->lines) take(feed, line, rules, findings);
  const std::int64_t clock = now();
  // After a shorter outage the overlap covers late lines.
  const bool was_outage = may_be_outage_ && clock - before > overlap - kLateMost;
  if (was_outage) read_again_later(next, before, clock_.steady());
  advance(next, question, answer->lines, clock);
  next.is_behind = next.resume || next.position < clock - overlap;
  findings.has_more = findings.has_more || next.is_behind;
  const auto behind = duration_cast<std::chrono::seconds>(nanoseconds(clock - next.position));
  findings.lag = std::max(findings.lag.value_or(behind), behind);
  pending_.progress[feed] = next;
  return {};
}

// The position of the next query.
LogProgress LokiSource::next_of(Feed feed, std::int64_t overlap, SourceFindings& findings) {
  const std::int64_t clock = now();
  const auto known = progress_.find(feed);
  if (known == progress_.end()) {
    read_since_ = std::max(read_since_, clock - overlap);
    return {.position = clock, .resume = {}};
  }
  LogProgress next = known->second;
  const std::int64_t earliest = clock - kLongestGap;
  if (next.position < earliest) {
    findings.complaint = Error{ErrorKind::kInvalid,
                               "Loki was not read for more than a day: older lines are skipped"};
    next.position = earliest;
    next.resume.reset();
  }
  if (!may_be_outage_) go_back_if_due(next, earliest, clock_.steady());
  return next;
}

Result<LokiAnswer> LokiSource::ask(const LokiQuestion& question) {
  auto answer = loki_.ask(question);
  if (!answer) {
    may_be_outage_ = may_be_outage_ || answer.error().kind != ErrorKind::kTooLarge;
    ask_for_less(answer.error().kind);
    return answer;
  }
  if (answer->server_clock) {
    const auto ours = std::chrono::floor<std::chrono::seconds>(clock_.wall().time_since_epoch());
    ahead_ = *answer->server_clock - ours;
  }
  return answer;
}

void LokiSource::ask_for_less(ErrorKind refusal) {
  if (refusal == ErrorKind::kTooLarge) {
    limit_ = std::max<std::size_t>(1, limit_ / 2);
  } else if (refusal == ErrorKind::kTimeout) {
    range_ = std::max(kShortestQuestion, range_ / 2);
  } else {
    return;
  }
  asked_too_much_at_ = clock_.steady();
}

void LokiSource::take(Feed feed, const LogLine& line, const LokiRules& rules,
                      SourceFindings& findings) {
  const auto key = LineMemory::key_of(line, rules.node_label);
  if (seen_.knows(key)) return;
  pending_.lines.push_back(key);
  ++findings.read;
  const bool is_kernel = feed == Feed::kKernel;
  const LogLine record = is_kernel ? pending_.records.push(line, rules.node_label) : line;
  auto signal = is_kernel ? signal_of_kernel_line(record, catalogue_, rules)
                          : signal_of_pod_line(record, rules);
  if (is_kernel && !signal && settings_.triage != nullptr) {
    if (auto unknown = unknown_line(record, rules, catalogue_))
      pending_.unknown.push_back(*std::move(unknown));
  }
  if (!signal) return;
  auto& last = pending_.last_lines[signal->fingerprint];
  last = std::max(last, line.at);
  findings.signals.push_back(std::move(*signal));
}

Status LokiSource::settle() {
  const auto policy = policy_.get();
  const LokiRules& rules = policy->loki;
  std::int64_t oldest = now();
  for (const auto& [feed, progress] : pending_.progress) {
    progress_[feed] = progress;
    oldest = std::min(oldest, progress.oldest());
  }
  may_be_outage_ = false;
  for (const LineMemory::Key& key : pending_.lines) seen_.add(key);
  records_ = std::move(pending_.records);
  seen_.forget_before(oldest - nanoseconds_of(rules.overlap));
  merge(last_lines_, pending_.last_lines);
  const std::int64_t quiet = now() - nanoseconds_of(rules.quiet_for);
  std::erase_if(last_lines_, [&](const auto& line) { return line.second < quiet; });
  for (UnknownLine& line : pending_.unknown) settings_.triage->offer(std::move(line));
  pending_ = {};
  return save();
}

Status LokiSource::save() {
  if (saved_at_ && clock_.steady() - *saved_at_ < kCursorEvery) return {};
  LogPositions positions;
  for (const auto& [feed, progress] : progress_) positions[name_of(feed)] = progress.oldest();
  if (auto saved = cursor_.save(positions); !saved) {
    is_loaded_ = false;  // the faster replica has read as far
    return saved;
  }
  saved_at_ = clock_.steady();
  return {};
}

}  // namespace gpuward::remediator
