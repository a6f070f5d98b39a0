#include "tests/simulation/wave_rules.h"

#include "remediator/act/drain/drain_plan.h"

namespace gpuward::remediator::simulation {
namespace {

// One for each wave: a look learns which pods of the wave before are blocked.
constexpr int kMostLooks = 3;

std::string uid_in(const http::ClientRequest& eviction) {
  const Json body = *parse_json(eviction.body);
  return string_at(member_at(member_at(body, "deleteOptions"), "preconditions"), "uid");
}

}  // namespace

// An eviction that waits for the rate is sent after pods that have come meanwhile.
bool WaveRules::is_notified() const {
  return stage_.setting.has_held_pods && !stage_.setting.has_staying_pods &&
         stage_.setting.evictions.per_second >= 1;
}

// NewcomerRules check the pods that come back.
bool WaveRules::is_free(const std::string& name, const PodTruth& pod) const {
  const PodKind kind = stage_.pods.kind_of(name);
  return !pod.is_ending && !asked_.contains(pod.uid) && kind.hold == PodHold::kNone &&
         !kind.tolerates;
}

void WaveRules::on_sent(const http::ClientRequest& request) {
  if (!request.url.ends_with("/eviction")) return;
  const std::string name = pod_in(request.url);
  const PodTruth* const pod = stage_.pods.find(name);
  const std::string uid = uid_in(request);
  if (pod != nullptr && pod->uid == uid) {
    require(stage_.pods.kind_of(name).hold != PodHold::kProtected, "protected",
            "pod " + name + " is to be evicted for " + stage_.evicts_for +
                ", and its owner wants it to stay");
    require(stage_.pods.kind_of(name).end != PodEnd::kDaemon, "daemon-set",
            "pod " + name + " is evicted for " + stage_.evicts_for + ", and is of a DaemonSet");
    check_turn(name, *pod);
    check_once(name, *pod);
  }
  asked_.insert(uid);
}

// Requires that the replica has not read a list that shows the pod as ending. An eviction that
// waits for the rate was listed before.
void WaveRules::check_once(const std::string& name, const PodTruth& pod) const {
  const bool is_at_once = stage_.setting.evictions.per_second >= 1;
  require(!is_at_once || !pod.is_ending || pod.ending_since >= stage_.looks.back()->begun,
          "evicted-twice", "pod " + name + " ends already, and is evicted once more");
}

// After half of its time the drain evicts all waves.
void WaveRules::check_turn(const std::string& name, const PodTruth& pod) const {
  const Remediation* const owner = stage_.truth.remediation(stage_.evicts_for);
  const auto begun = begun_.find(stage_.evicts_for);
  const StepRecord* const drain = owner == nullptr ? nullptr : owner->status.find(Step::kDrain);
  if (!is_notified() || stage_.setting.has_clock_jumps || begun == begun_.end() ||
      drain == nullptr || !drain->intent_at ||
      stage_.clock.wall() >= *drain->intent_at + DrainSettings().deadline / 2)
    return;
  const PodTurn turn = stage_.pods.kind_of(name).turn;
  for (const auto& [other, known] : stage_.pods.all()) {
    const bool is_before = known.node == pod.node && known.since < begun->second &&
                           stage_.pods.kind_of(other).turn < turn && is_free(other, known);
    require(!is_before, "turn",
            "pod " + name + " is evicted for " + stage_.evicts_for + " before " + other);
  }
}

// A pod that comes back delays the waves after its own, each time it is evicted. A pod without a
// controller that came after the drain began is never evicted.
void WaveRules::on_looked(const Remediation& remediation) {
  const int most =
      stage_.setting.has_tolerant_pods ? kMostLooks * (1 + kMostEvictedAgain) : kMostLooks;
  if (!is_notified() || !stage_.is_quiet) return;
  for (const auto& [name, pod] : stage_.pods.all()) {
    // By a clock that has jumped since, an older pod also came after the drain began.
    const bool may_come_later = stage_.setting.has_tolerant_pods || stage_.setting.has_clock_jumps;
    const bool may_be_kept = may_come_later && pod.is_unmanaged;
    if (pod.node != remediation.node || may_be_kept || !is_free(name, pod)) continue;
    require(++looks_[pod.uid] <= most, "starved",
            "pod " + name + " was not asked to go in " + std::to_string(most) + " looks for " +
                remediation.name + ", and nothing holds it");
  }
}

}  // namespace gpuward::remediator::simulation
