#include "exporter/nccl_pair/pair.h"

#include <algorithm>
#include <array>
#include <utility>

namespace gpuward::exporter::nccl_pair {
namespace {

// How much later than this side the other one may join, and report.
constexpr std::chrono::seconds kBehind{60};
// How long to wait for GPUs in use: a pod of a test that has just ended may still hold them.
constexpr std::chrono::milliseconds kForOthersToEnd{60'000};
constexpr std::chrono::seconds kBetweenLooks{5};

Message message_of(const SideResult& report) {
  return {.kind = Message::Kind::kReport, .report = report};
}

SideResult report_of(SideResult::Kind kind, std::string words) {
  return {.kind = kind, .words = std::move(words), .figures = {}};
}

Options within_time(Options options) {
  options.join_timeout = std::min(options.join_timeout, options.timeout / 2);
  return options;
}

}  // namespace

Pair::Pair(Options options, std::string host, Clock& clock, Log& log)
    : options_(within_time(std::move(options))),
      clock_(clock),
      log_(log),
      deadline_(clock.steady() + options_.timeout) {
  mine_.host = std::move(host);
  mine_.min_bus_bandwidth = options_.min_bus_bandwidth;
}

void Pair::enter(const char* stage) {
  log_.info("Started stage", {{"stage", stage}});
  const std::lock_guard lock(mutex_);
  stage_ = stage;
}

PairResult Pair::run(const OpenGpus& open) {
  const auto gpus = take_gpus(open);
  if (!gpus) return could_not_tell(gpus.error().message);
  auto met = meet_other(**gpus);
  if (!met) return could_not_tell(met.error().message);
  theirs_ = met->theirs;
  agreed_ = {.gpus = mine_.gpus,
             .nccl_version = mine_.nccl_version,
             .min_bus_bandwidth = options_.min_bus_bandwidth,
             .sizes = sizes_within(std::min(mine_.most_bytes, theirs_.most_bytes))};
  {
    const std::lock_guard lock(mutex_);
    peer_ = std::make_shared<Peer>(std::move(met->link), clock_, deadline_ + kBehind);
  }
  const auto ended = join(**gpus, *met);
  return conclude(ended ? *ended : measure_with(**gpus));
}

Result<std::unique_ptr<AllReduce>> Pair::take_gpus(const OpenGpus& open) {
  enter("taking the GPUs");
  const auto until = clock_.steady() + std::min(kForOthersToEnd, options_.join_timeout);
  std::string last;
  for (;;) {
    auto gpus = open();
    const bool is_in_use = !gpus && gpus.error().kind == ErrorKind::kBlocked;
    if (!is_in_use || clock_.steady() >= until) return gpus;
    if (last != gpus.error().message) {
      last = gpus.error().message;
      log_.info("GPUs are in use, waiting", {{"last", last}});
    }
    clock_.sleep_until(std::min(until, clock_.steady() + kBetweenLooks), {});
  }
}

Result<Met> Pair::meet_other(AllReduce& gpus) {
  mine_.gpus = gpus.gpus();
  mine_.nccl_version = gpus.nccl_version();
  mine_.most_bytes = std::min(gpus.most_bytes(), kSizes.back());
  if (mine_.gpus > kMostGpus)
    return fail(ErrorKind::kInvalid, "more than " + std::to_string(kMostGpus) + " GPUs");
  if (sizes_within(mine_.most_bytes).empty())
    return fail(ErrorKind::kInvalid, "the GPUs have too little free memory");
  enter("waiting for the peer");
  return meet({.options = options_,
               .mine = mine_,
               .make_id = [&] { return gpus.make_id(); },
               .clock = clock_,
               .log = log_});
}

std::optional<SideResult> Pair::join(AllReduce& gpus, const Met& met) {
  if (agreed_.sizes.empty())
    return report_of(SideResult::Kind::kUnknown, "the peer's GPUs have too little free memory");
  enter("joining NCCL's communicator");
  const unsigned first = static_cast<unsigned>(options_.rank) * mine_.gpus;
  if (auto joined = gpus.join(met.id, 2 * mine_.gpus, first, agreed_.sizes.back()); !joined)
    return report_of(SideResult::Kind::kUnknown, joined.error().message);
  {
    const std::lock_guard lock(mutex_);
    has_joined_ = true;
  }
  peer_->tell({.kind = Message::Kind::kJoined, .report = {}});
  enter("waiting for the peer to join");
  if (!peer_->wait_for_join(std::min(deadline_, clock_.steady() + kBehind)))
    return report_of(SideResult::Kind::kUnknown, "the peer did not join");
  if (peer_->has_ended_early()) return report_of(SideResult::Kind::kGaveUp, {});
  return std::nullopt;
}

SideResult Pair::measure_with(AllReduce& gpus) {
  enter("running all_reduce");
  const auto gives_up = [this] { return peer_->has_ended_early(); };
  auto figures = measure(gpus, agreed_.sizes, gives_up, clock_);
  if (figures)
    return {.kind = SideResult::Kind::kMeasured, .words = {}, .figures = *std::move(figures)};
  const bool gave_up = figures.error().kind == ErrorKind::kCancelled;
  return report_of(gave_up ? SideResult::Kind::kGaveUp : SideResult::Kind::kFailed,
                   figures.error().message);
}

PairResult Pair::conclude(const SideResult& mine) {
  enter("waiting for the peer's report");
  peer_->tell(message_of(mine));
  // The verdict is unknown whatever the other side reports, and it may never report, so do not
  // wait.
  if (mine.kind == SideResult::Kind::kUnknown) return verdict_of(mine, {});
  const bool is_told = peer_->wait_for_report(std::min(deadline_, clock_.steady() + kBehind));
  if (const auto theirs = peer_->report()) return verdict_of(mine, *theirs);
  if (is_told) return gone(mine);
  return verdict_of(mine, report_of(SideResult::Kind::kHangs, "did not report a result"));
}

PairResult Pair::verdict_of(const SideResult& mine, const SideResult& theirs) const {
  std::array<Side, 2> sides{Side{mine_.host, mine}, Side{theirs_.host, theirs}};
  if (options_.rank == 1) std::swap(sides[0], sides[1]);
  return judge(agreed_, sides);
}

// NCCL reports any end of the other process as an error here, so the error says nothing about the
// nodes.
PairResult Pair::gone(const SideResult& mine) const {
  return could_not_tell("the peer, " + theirs_.host + ", disconnected without reporting a result" +
                        (mine.words.empty() ? "" : "; here: " + mine.words));
}

bool Pair::is_left_alone() {
  const std::lock_guard lock(mutex_);
  return peer_ && peer_->has_ended_early();
}

PairResult Pair::end_now() {
  const std::lock_guard lock(mutex_);
  const auto limit = std::chrono::duration_cast<std::chrono::seconds>(options_.timeout);
  const std::string still = std::string("still ") + stage_;
  const std::string words = still + " after " + std::to_string(limit.count()) + " s";
  if (!peer_) return could_not_tell(words);
  if (peer_->is_gone()) return gone(report_of(SideResult::Kind::kGaveUp, still));
  const auto theirs = peer_->report();
  if (theirs && peer_->has_ended_early())
    return verdict_of(report_of(SideResult::Kind::kGaveUp, still), *theirs);
  const bool both_joined = has_joined_ && peer_->has_joined();
  const SideResult mine =
      report_of(both_joined ? SideResult::Kind::kHangs : SideResult::Kind::kUnknown, words);
  peer_->tell(message_of(mine));
  return verdict_of(mine, report_of(SideResult::Kind::kGaveUp, {}));
}

}  // namespace gpuward::exporter::nccl_pair
