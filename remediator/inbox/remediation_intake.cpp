#include "remediator/inbox/remediation_intake.h"

#include <algorithm>
#include <atomic>
#include <functional>
#include <iterator>
#include <map>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "remediator/cluster/view_queries.h"
#include "remediator/model/history_alerts.h"
#include "remediator/model/remediation_name.h"

namespace gpuward::remediator {
namespace {

std::string name_of(const AlertSignal& signal) {
  return signal.node + '\n' + std::string(without_origin(signal.fingerprint));
}

Remediation open_new(const NodeIdentity& node, std::span<const Remediation> closed, int last) {
  for (const Remediation& remediation : closed) last = std::max(last, count_in(remediation.name));
  Remediation fresh;
  fresh.name = remediation_name(node.name, node.uid, last + 1);
  fresh.node = node.name;
  fresh.node_uid = node.uid;
  fresh.boot_id = node.boot_id;
  fresh.instance_id = node.instance_id;
  fresh.system_uuid = normal_uuid(node.system_uuid);
  return fresh;
}

// `known`: of the Node; `earlier`: of the same machine under its earlier Nodes.
struct Past {
  std::span<const Remediation> known, earlier;

  [[nodiscard]] bool has_answered(const AlertSignal& signal, WallTime now) const {
    return is_late_repeat(signal, known, now) || is_late_repeat(signal, earlier, now) ||
           (is_history_cancelled() && is_known_earlier(signal));
  }

 private:
  // An operator who cancels a Remediation that was opened for the machine's history has also
  // answered the alerts of that history.
  [[nodiscard]] bool is_history_cancelled() const {
    return std::ranges::any_of(known, [](const Remediation& one) {
      return one.status.phase == Phase::kCancelled &&
             std::ranges::any_of(one.alerts, is_of_history);
    });
  }

  [[nodiscard]] bool is_known_earlier(const AlertSignal& signal) const {
    return std::ranges::any_of(earlier, [&signal](const Remediation& one) {
      return std::ranges::any_of(
          one.alerts, [&](const AlertEvidence& alert) { return is_same_episode(signal, alert); });
    });
  }
};

std::optional<Ignored> why_ignored(const AlertSignal& signal, const NodeIdentity& node,
                                   const Past& past, bool is_open, WallTime now) {
  // The alert is about another machine that had the name, unless this one is known to be the same.
  const bool is_older = is_older_than_node(signal, node);
  if (is_older && past.earlier.empty() && !signal.is_of_this_machine)
    return Ignored::kOlderThanNode;
  if (is_older && past.has_answered(signal, now)) return Ignored::kLateRepeat;
  if (is_open) return std::nullopt;
  if (!signal.firing) return Ignored::kNothingToEnd;
  if (past.has_answered(signal, now)) return Ignored::kLateRepeat;
  return std::nullopt;
}

struct Told {
  const NodeIdentity& node;
  Past past;
  std::span<const AlertSignal> signals;
  WallTime now;
};

FoldedSignals fold_into(Remediation remediation, bool is_new, const Told& told) {
  FoldedSignals result{.remediation = std::move(remediation), .is_new = is_new};
  const auto ignore = [&result](const AlertSignal& signal, Ignored reason) {
    ++result.counts.ignored;
    result.ignored.push_back({signal, reason});
  };
  for (const AlertSignal& signal : told.signals) {
    const bool is_open = !is_new || result.changed;
    if (const auto reason = why_ignored(signal, told.node, told.past, is_open, told.now)) {
      ignore(signal, *reason);
      continue;
    }
    const Folded folded = fold(result.remediation, signal, told.now);
    result.changed = result.changed || folded.change == Change::kSome;
    if (folded.ignored) {
      ignore(signal, *folded.ignored);
    } else if (folded.change == Change::kSome) {
      ++result.counts.accepted;
    } else {
      ++result.counts.duplicate;
    }
    if (folded.displaced) result.ignored.push_back({signal, Ignored::kNoRoom});
  }
  return result;
}

constexpr std::size_t kMaxWaiting = 20'000;  // nodes in the queue
constexpr std::size_t kParallelNodes = 8;
constexpr int kMaxTries = 6;

std::vector<std::vector<AlertSignal>> group_by_node(std::span<const AlertSignal> signals) {
  std::map<std::string, std::vector<AlertSignal>> by_node;
  for (const AlertSignal& signal : signals) by_node[signal.node].push_back(signal);
  std::vector<std::vector<AlertSignal>> groups;
  for (auto& [node, group] : by_node) groups.push_back(std::move(group));
  return groups;
}

// Calls work(i) for each i below `count`, on this thread and a few more.
void for_each_in_parallel(std::size_t count, const std::function<void(std::size_t)>& work) {
  std::atomic<std::size_t> next{0};
  const auto run = [&] {
    for (std::size_t i = next++; i < count; i = next++) work(i);
  };
  std::vector<std::jthread> threads;
  for (std::size_t i = 1; i < std::min(count, kParallelNodes); ++i) threads.emplace_back(run);
  run();
}

}  // namespace

void RecentEnds::note(const AlertSignal& ended, const Clock& clock) {
  if (ended.starts_at > clock.wall()) return;
  const Clock::Steady now = clock.steady();
  const std::lock_guard lock(mutex_);
  if (ends_.size() >= kMost) forget_old(now);
  if (ends_.size() >= kMost) ends_.clear();
  ends_.insert_or_assign({name_of(ended), ended.starts_at}, now);
}

bool RecentEnds::has_ended(const AlertSignal& firing, Clock::Steady now) {
  const std::lock_guard lock(mutex_);
  const auto end = ends_.find({name_of(firing), firing.starts_at});
  return end != ends_.end() && now - end->second < kLateRepeats;
}

void RecentEnds::forget_old(Clock::Steady now) {
  std::erase_if(ends_, [&](const auto& end) { return now - end.second >= kLateRepeats; });
}

bool is_older_than_node(const AlertSignal& signal, const NodeIdentity& node) {
  return signal.firing && node.created && signal.starts_at < *node.created;
}

FoldedSignals fold_signals(const NodeIdentity& node, std::span<const Remediation> known,
                           std::span<const AlertSignal> signals, WallTime now,
                           std::span<const Remediation> earlier, int last_number) {
  const Past past{known, earlier};
  std::optional<FoldedSignals> first;
  for (const Remediation& open : known) {
    if (!open.open()) continue;
    FoldedSignals folded = fold_into(open, false, {node, past, signals, now});
    if (folded.changed) return folded;
    if (!first) first = std::move(folded);
  }
  if (first) return *std::move(first);
  return fold_into(open_new(node, known, last_number), true, {node, past, signals, now});
}

RemediationIntake::RemediationIntake(ClusterView& view, RemediationStore& store, WorkQueue& queue,
                                     Clock& clock, IntakeObserver* observer)
    : view_(view), store_(store), queue_(queue), clock_(clock), observer_(observer) {}

Result<IntakeCounts> RemediationIntake::take(std::span<const AlertSignal> signals,
                                             Clock::Steady deadline) {
  if (!view_.informers().synced()) {
    return fail(ErrorKind::kUnavailable, "the cluster's state has not been read yet; try again");
  }
  if (queue_.size() >= kMaxWaiting) {
    return fail(ErrorKind::kOverloaded, "too many nodes are waiting; try again");
  }
  const auto groups = group_by_node(signals);
  std::vector<Result<IntakeCounts>> results(groups.size());
  for_each_in_parallel(groups.size(),
                       [&](std::size_t i) { results[i] = take_node(groups[i], deadline); });
  IntakeCounts sum;
  for (const auto& result : results) {
    if (!result) return std::unexpected(result.error());
    sum += *result;
  }
  return sum;
}

Result<IntakeCounts> RemediationIntake::take_node(std::span<const AlertSignal> signals,
                                                  Clock::Steady deadline) {
  const std::string& name = signals.front().node;
  const auto node = identity_in(view_, name);
  if (!node) {
    FoldedSignals nothing;
    nothing.counts.ignored = signals.size();
    for (const AlertSignal& signal : signals)
      nothing.ignored.push_back({signal, Ignored::kNoSuchNode});
    report_ignored(nothing);
    return nothing.counts;
  }
  const std::lock_guard lock(node_locks_[std::hash<std::string>{}(name) % node_locks_.size()]);
  std::vector<AlertSignal> in_time;
  FoldedSignals late;
  for (const AlertSignal& signal : signals) {
    if (!signal.firing) ends_.note(signal, clock_);
    if (signal.firing && ends_.has_ended(signal, clock_.steady())) {
      ++late.counts.ignored;
      late.ignored.push_back({signal, Ignored::kLateRepeat});
    } else {
      in_time.push_back(signal);
    }
  }
  report_ignored(late);
  auto counts = write_until_settled(*node, in_time, deadline);
  if (!counts) return counts;
  *counts += late.counts;
  if (auto told = end_those_of_former_node(*node, in_time, deadline); !told)
    return std::unexpected(told.error());
  return counts;
}

// While the view was behind, an alert of the present node may have been recorded for an earlier
// node of that name.
Status RemediationIntake::end_those_of_former_node(const NodeIdentity& node,
                                                   std::span<const AlertSignal> signals,
                                                   Clock::Steady deadline) {
  for (const std::string& open : open_for(view_, node.name)) {
    const auto former = last_remediation(view_, open);
    if (!former || former->node_uid == node.uid) continue;
    std::vector<AlertSignal> ends;
    std::ranges::copy_if(signals, std::back_inserter(ends), [&](const AlertSignal& signal) {
      return !signal.firing && std::ranges::any_of(former->alerts, [&](const AlertEvidence& alert) {
        return alert.firing() && alert.fingerprint == signal.fingerprint;
      });
    });
    if (ends.empty()) continue;
    NodeIdentity was;
    was.name = node.name;
    was.uid = former->node_uid;
    if (auto told = write_until_settled(was, ends, deadline); !told)
      return std::unexpected(told.error());
  }
  return {};
}

Result<IntakeCounts> RemediationIntake::write_until_settled(const NodeIdentity& node,
                                                            std::span<const AlertSignal> signals,
                                                            Clock::Steady deadline) {
  std::vector<Remediation> known = remediations_of(view_, node.uid);
  const bool has_older = std::ranges::any_of(
      signals, [&](const AlertSignal& signal) { return is_older_than_node(signal, node); });
  const auto earlier = has_older ? earlier_of(view_, node) : std::vector<Remediation>();
  std::optional<IntakeCounts> counts;  // set once something was written
  for (int attempt = 0; attempt < kMaxTries; ++attempt) {
    const FoldedSignals folded =
        fold_signals(node, known, signals, clock_.wall(), earlier, last_number_of(view_, node.uid));
    if (!folded.changed) {
      report_ignored(folded);
      return counts.value_or(folded.counts);
    }
    if (clock_.steady() >= deadline) break;
    auto written = folded.is_new ? store_.create(folded.remediation)
                                 : store_.write_evidence(folded.remediation);
    if (written) {
      view_.put_remediation(*written);
      // A full queue loses nothing: the node is queued again when the informer sees the change.
      (void)queue_.add(node.name);
      if (!counts) counts = folded.counts;
      if (std::ranges::count_if(known, &Remediation::open) > 1) {
        const auto told = std::ranges::find(known, written->name, &Remediation::name);
        *told = *std::move(written);
        continue;
      }
      report_ignored(folded);
      return *counts;
    }
    const ErrorKind kind = written.error().kind;
    const bool view_was_old = kind == ErrorKind::kAlreadyExists || kind == ErrorKind::kConflict ||
                              kind == ErrorKind::kNotFound;
    if (!view_was_old) return with_context("recording the alert", written.error());
    auto listed = store_.list_for(node.uid);
    if (!listed) return with_context("recording the alert", listed.error());
    known = std::move(*listed);
  }
  return fail(ErrorKind::kTimeout, "the alert could not be recorded in time; try again");
}

void RemediationIntake::report_ignored(const FoldedSignals& folded) const {
  if (observer_ == nullptr) return;
  for (const IgnoredSignal& ignored : folded.ignored)
    observer_->on_ignored(ignored.signal, ignored.reason);
}

}  // namespace gpuward::remediator
