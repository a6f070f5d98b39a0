#include "remediator/inbox/sources/source_poll.h"

#include <algorithm>
#include <utility>

namespace gpuward::remediator {
namespace {

constexpr std::chrono::seconds kTakeWithin{10};
// A source with more findings is read again soon, but never in a tight loop.
constexpr std::chrono::milliseconds kMoreAfter{200};
// How soon a replica that became leader starts to read.
constexpr std::chrono::milliseconds kLeadInterval{500};

}  // namespace

SourcePoll::SourcePoll(std::unique_ptr<Source> source, SourcePollParts parts)
    : source_(std::move(source)),
      parts_(std::move(parts)),
      thread_([this](const std::stop_token& stop) { run(stop); }) {}

SourcePoll::~SourcePoll() {
  thread_.request_stop();
  thread_.join();
}

void SourcePoll::run(const std::stop_token& stop) {
  auto wait = kLeadInterval;
  while (parts_.clock.sleep_for(wait, stop)) {
    wait = kLeadInterval;
    if (!parts_.leads()) {
      forget_nodes();
      continue;
    }
    const auto has_more = round();
    count(has_more);
    wait = has_more && *has_more ? std::min(kMoreAfter, source_->every()) : source_->every();
  }
}

Result<SourceRound> ask_once(Source& source, Intake& intake, const Clock& clock) {
  auto findings = source.look();
  if (!findings) return std::unexpected(findings.error());
  const auto taken = intake.take(findings->signals, clock.steady() + kTakeWithin);
  if (!taken) return with_context("findings of " + std::string(source.name()), taken.error());
  if (auto settled = source.settle(); !settled) return std::unexpected(settled.error());
  return SourceRound{*std::move(findings), *taken};
}

Result<bool> SourcePoll::round() {
  const auto round = ask_once(*source_, parts_.intake, parts_.clock);
  if (!round) return std::unexpected(round.error());
  parts_.log.debug("Queried a source",
                   {{"source", std::string(source_->name())},
                    {"read", std::to_string(round->findings.read)},
                    {"findings", std::to_string(round->findings.signals.size())},
                    {"accepted", std::to_string(round->taken.accepted)}});
  {
    const std::lock_guard lock(mutex_);
    counts_.read += round->findings.read;
    counts_.findings += round->taken.accepted;
    counts_.lag = round->findings.lag;
    counts_.nodes = round->findings.nodes;
  }
  if (round->findings.complaint) return std::unexpected(*round->findings.complaint);
  return round->findings.has_more;
}

// The present leader counts them.
void SourcePoll::forget_nodes() {
  const std::lock_guard lock(mutex_);
  counts_.nodes.clear();
}

void SourcePoll::count(const Result<bool>& outcome) {
  if (!outcome) parts_.on_error(outcome.error());
  const std::lock_guard lock(mutex_);
  if (outcome) {
    counts_.last_success = parts_.clock.wall();
  } else {
    ++counts_.errors;
  }
}

SourceCounts SourcePoll::counts() const {
  const std::lock_guard lock(mutex_);
  SourceCounts counts = counts_;
  counts.name = source_->name();
  return counts;
}

}  // namespace gpuward::remediator
