// A replay in numbers.
#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <utility>

#include "remediator/cli/replay/replay.h"

namespace gpuward::remediator {
namespace {

// Counts while going through the events once.
class Counter {
 public:
  void count(const ReplayEvent& event) {
    remediated_.insert(event.node);
    end_wait(event);
    const bool acts =
        event.kind == ReplayEvent::Kind::kAct || event.kind == ReplayEvent::Kind::kDone;
    for (const Step step : event.steps) {
      if (acts) by_step_[step].insert(event.node);
    }
    if (event.kind == ReplayEvent::Kind::kAct &&
        std::ranges::find(event.steps, Step::kCordon) != event.steps.end())
      go_out(event);
    if (event.kind == ReplayEvent::Kind::kWait) waits_[event.node] = {event.rule, event.at};
    if (event.kind != ReplayEvent::Kind::kEnd) return;
    out_.erase(event.node);
    ++summary_.ends[event.text.substr(0, event.text.find(':'))];
  }

  ReplaySummary finish(WallTime to) {
    for (const auto& [node, wait] : std::map(waits_)) {
      end_wait({.at = to, .node = node, .rule = {}, .text = {}, .steps = {}});
      ++summary_.still_open;
    }
    for (const auto& [step, nodes] : by_step_) summary_.nodes_by_step[step] = nodes.size();
    for (const auto& [rule, nodes] : waited_) summary_.waits[rule].nodes = nodes.size();
    summary_.remediated = remediated_.size();
    return std::move(summary_);
  }

 private:
  struct Waiting {
    std::string rule;
    WallTime since;
  };

  void go_out(const ReplayEvent& event) {
    out_.insert(event.node);
    if (out_.size() <= summary_.most_out) return;
    summary_.most_out = out_.size();
    summary_.most_out_at = event.at;
  }

  // Another alert does not end a wait.
  void end_wait(const ReplayEvent& event) {
    const auto found = waits_.find(event.node);
    if (found == waits_.end() || event.kind == ReplayEvent::Kind::kAlert) return;
    auto& longest = summary_.waits[found->second.rule].longest;
    longest = std::max(longest, std::chrono::duration_cast<std::chrono::milliseconds>(
                                    event.at - found->second.since));
    waited_[found->second.rule].insert(event.node);
    waits_.erase(found);
  }

  ReplaySummary summary_;
  std::set<std::string> remediated_, out_;
  std::map<Step, std::set<std::string>> by_step_;
  std::map<std::string, std::set<std::string>> waited_;
  std::map<std::string, Waiting> waits_;  // by node, the present wait
};

}  // namespace

ReplaySummary summary_of(const ReplayResult& result) {
  Counter counter;
  for (const ReplayEvent& event : result.events) counter.count(event);
  return counter.finish(result.to);
}

}  // namespace gpuward::remediator
