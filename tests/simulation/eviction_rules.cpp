#include "tests/simulation/eviction_rules.h"

#include <algorithm>

#include "remediator/act/step_clock.h"
#include "remediator/decide/status_change.h"
#include "tests/simulation/care_rules.h"

namespace gpuward::remediator::simulation {
namespace {

constexpr std::chrono::seconds kLateBy{10};
constexpr std::size_t kMostNamed = 10;  // a message gives only the number of the rest

}  // namespace

void EvictionRules::on_removed(const http::ClientRequest& request) {
  const std::string name = pod_in(request.url);
  const PodTruth* const pod = stage_.pods.find(name);
  const Remediation* const owner = stage_.truth.remediation(stage_.evicts_for);
  const std::string what = "pod " + name + " was removed for " + stage_.evicts_for;
  require(pod != nullptr && owner != nullptr, "eviction-node-identity",
          what + ": there is no such pod or Remediation");
  require(pod->node_uids.contains(owner->node_uid), "eviction-node-identity",
          what + " and was never on its node");
  // The permit asks the switch first, and reads everything else after it.
  const Tick permitted = stage_.looks.back()->permitted;
  const auto gone = stage_.pods.node_gone(owner->node_uid);
  require(!gone || *gone > permitted, "eviction-node-identity",
          what + " though that node was gone before it was permitted");
  const auto hands_off = stage_.truth.hands_off_since(owner->name);
  require(!hands_off || *hands_off > permitted, "paused", what + " though a human says hands off");
  require(!stage_.stopped_at || *stage_.stopped_at > permitted, "stopped",
          what + " though everything is to stop");
  if (const NodeTruth* const node = stage_.truth.node(owner->node))
    require_not_excluded(stage_, node->node, {permitted, stage_.clock.steady()}, what);
  newcomers_.on_removed(*owner, name, *pod);
  stage_.pods.note_ending(name, stage_.tick);
}

void EvictionRules::on_drained(const Remediation& remediation, Tick begun) const {
  if (stage_.pods.node_gone(remediation.node_uid)) return;
  for (const auto& [name, pod] : stage_.pods.all()) {
    if (stage_.pods.kind_of(name).end == PodEnd::kDaemon) continue;
    if (newcomers_.may_be_left(remediation, name, pod)) continue;
    require(pod.node != remediation.node || pod.since > begun, "drained",
            "the drain of " + remediation.name + " is done, and " + name + " is on the node");
  }
}

// Each change of the process may add a minute (act/step_clock.h). So may a change before the
// first look: a leader may have crashed between the intent and that look.
std::chrono::milliseconds EvictionRules::watched(const StepRequest& order, const void* process) {
  const StepRecord* const drain = order.remediation.status.find(Step::kDrain);
  const auto now = stage_.clock.steady();
  const auto under_way =
      std::chrono::ceil<std::chrono::milliseconds>(order.now - *drain->intent_at);
  const auto [known, is_new] = watched_.try_emplace(
      {order.remediation.name, *drain->intent_at},
      Watched{.at_most = std::min<std::chrono::milliseconds>(under_way, kKeepsTimeEvery),
              .process = process,
              .last = now});
  Watched& one = known->second;
  const auto since = std::chrono::ceil<std::chrono::milliseconds>(now - one.last);
  // A failed look stops the clock, and is not visible here.
  one.at_most += std::min<std::chrono::milliseconds>(since, kLongestBetweenLooks);
  if (one.process != process || since > kLongestBetweenLooks) one.at_most += kKeepsTimeEvery;
  one.process = process;
  one.last = now;
  return one.at_most;
}

void EvictionRules::on_look(const StepRequest& order, const StepProgress& progress, Tick begun,
                            const void* process) {
  const Remediation& remediation = order.remediation;
  const StepRecord* const drain = remediation.status.find(Step::kDrain);
  if (drain == nullptr || !drain->intent_at) return;
  const auto at_most = watched(order, process);
  const auto deadline = order.step.drain.deadline;
  const std::string what = "the drain of " + remediation.name;
  require(order.ran < deadline + kLateBy || progress.result != StepResult::kRunning, "drain-time",
          what + " is still running after its time");
  if (!progress.message.starts_with("not drained in time")) return;
  require(at_most + kLateBy >= deadline, "drain-time",
          what + " has failed before its time: " + progress.message);
  check_names(order, progress, begun);
}

void EvictionRules::check_names(const StepRequest& order, const StepProgress& progress,
                                Tick begun) const {
  const Remediation& remediation = order.remediation;
  std::vector<std::string> left;
  for (const auto& [name, pod] : stage_.pods.all()) {
    const bool is_left = pod.node == remediation.node && pod.since < begun &&
                         stage_.pods.kind_of(name).end != PodEnd::kDaemon &&
                         !newcomers_.may_be_left(remediation, name, pod);
    if (is_left) left.push_back(name);
  }
  if (left.size() > kMostNamed || stage_.pods.node_gone(remediation.node_uid)) return;
  for (const std::string& name : left) {
    require(progress.message.contains(name), "drain-named",
            "the drain of " + remediation.name + " has failed, and does not name " + name + ": " +
                progress.message);
  }
}

}  // namespace gpuward::remediator::simulation
