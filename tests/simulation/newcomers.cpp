#include "tests/simulation/newcomers.h"

#include "remediator/act/drain/drain_plan.h"
#include "tests/simulation/stage.h"

namespace gpuward::remediator::simulation {
namespace {

constexpr double kTolerates = 0.3, kStaysHome = 0.7, kComesBackAtOnce = 0.7, kComesToDrained = 0.2;
constexpr int kMostCome = 3;  // to the node of one Remediation after its drain
// The API server gives the time at which a pod was made in whole seconds.
constexpr std::chrono::seconds kCoarse{1};

}  // namespace

void let_pods_come_back(Setting& setting, Chance& chance) {
  setting.has_tolerant_pods = setting.has_pods && chance.happens(0.5);
}

void Newcomers::draw(const std::vector<std::string>& names) {
  if (!stage_.setting.has_tolerant_pods) return;
  for (const std::string& name : names) {
    PodKind kind = stage_.pods.kind_of(name);
    kind.tolerates = stage_.newcomers_chance.happens(kTolerates);
    stage_.pods.note_kind(name, kind);
  }
}

Json Newcomers::dressed(const std::string& name, Json pod) const {
  if (stage_.pods.kind_of(name).tolerates)
    pod["spec"]["tolerations"] = Json::array({{{"operator", "Exists"}}});
  return pod;
}

std::string Newcomers::node_for(const std::string& name) {
  const auto home = homes_.find(name);
  const bool is_there = home != homes_.end() && stage_.truth.node(home->second) != nullptr;
  if (!stage_.pods.kind_of(name).tolerates || !is_there) return {};
  return stage_.newcomers_chance.happens(kStaysHome) ? home->second : std::string();
}

bool Newcomers::comes_back(const std::string& name) {
  return stage_.pods.kind_of(name).tolerates && stage_.newcomers_chance.happens(kComesBackAtOnce);
}

std::string Newcomers::drained_node() {
  Chance& chance = stage_.newcomers_chance;
  if (!stage_.setting.has_tolerant_pods || !chance.happens(kComesToDrained)) return {};
  for (const auto& [name, remediation] : stage_.truth.remediations()) {
    const StepRecord* const drain = remediation.status.find(Step::kDrain);
    const bool is_drained = remediation.open() && drain != nullptr &&
                            drain->result == StepResult::kDone &&
                            remediation.status.phase == Phase::kWaiting;
    if (!is_drained || stage_.truth.node(remediation.node) == nullptr) continue;
    if (++come_to_[name] <= kMostCome) return remediation.node;
  }
  return {};
}

void NewcomerRules::on_look(const Remediation& remediation) {
  const StepRecord* const drain = remediation.status.find(Step::kDrain);
  if (drain == nullptr || !drain->intent_at) return;
  const auto now = stage_.clock.steady();
  const auto age =
      std::chrono::ceil<std::chrono::milliseconds>(stage_.clock.wall() - *drain->intent_at);
  const auto [known, is_new] = drains_.try_emplace({remediation.name, *drain->intent_at},
                                                   Drain{.intended = now - age, .begun = now});
  known->second.processes.insert(stage_.looks.back()->identity);
}

// The pod tolerates the taints, uses no GPU and is not protected.
bool NewcomerRules::may_stay(const std::string& name, const PodTruth& pod) const {
  const PodKind kind = stage_.pods.kind_of(name);
  return kind.tolerates && kind.turn != PodTurn::kWorkload && kind.hold != PodHold::kProtected &&
         !pod.is_unmanaged;
}

bool NewcomerRules::may_be_left(const Remediation& owner, const std::string& name,
                                const PodTruth& pod) const {
  const StepRecord* const record = owner.status.find(Step::kDrain);
  if (!may_stay(name, pod) || record == nullptr || !record->intent_at) return false;
  const auto known = drains_.find({owner.name, *record->intent_at});
  if (stage_.setting.has_clock_jumps || known == drains_.end()) return true;
  return pod.came + kCoarse > known->second.intended;
}

// The count of a look is lost if its process dies before it is written.
void NewcomerRules::on_removed(const Remediation& owner, const std::string& name,
                               const PodTruth& pod) {
  const StepRecord* const record = owner.status.find(Step::kDrain);
  if (stage_.setting.has_clock_jumps || record == nullptr || !record->intent_at) return;
  const auto known = drains_.find({owner.name, *record->intent_at});
  if (known == drains_.end() || pod.came < known->second.begun) return;
  Drain& drain = known->second;
  const PodKind kind = stage_.pods.kind_of(name);
  const std::string what = "pod " + name + " came after the drain of " + owner.name + " began, ";
  require(!may_stay(name, pod), "newcomers", what + "may stay, and was removed");
  if (pod.came < drain.begun + kCoarse) return;
  require(!pod.is_unmanaged && kind.hold != PodHold::kProtected, "newcomers",
          what + "is protected, and was removed");
  drain.evicted[name].insert(pod.uid);
  const std::size_t most = kMostEvictedAgain + drain.processes.size() - 1;
  require(drain.evicted[name].size() <= most, "newcomers",
          what + "and so did " + std::to_string(most) + " before, and was removed");
}

// The API server decides whether the budget of a pod allows its eviction.
void NewcomerRules::check_empty(const Remediation& owner, Tick begun,
                                const std::string& what) const {
  if (!stage_.setting.has_pods || stage_.setting.has_clock_jumps) return;
  for (const auto& [name, pod] : stage_.pods.all()) {
    const PodKind kind = stage_.pods.kind_of(name);
    if (pod.node != owner.node || pod.since > begun || kind.end == PodEnd::kDaemon) continue;
    const bool is_held = kind.hold == PodHold::kTwoBudgets;
    require(may_stay(name, pod) && !is_held, "emptied",
            what + " was intended, and pod " + name + " has come since its drain");
  }
}

void bend_newcomers(const Stage& stage, Json& list) {
  if (!member_at(list, "items").is_array()) return;
  for (Json& pod : list["items"]) {
    if (stage.is_off(Sabotage::kTolerations)) pod["spec"].erase("tolerations");
    if (!stage.is_off(Sabotage::kEvictedAgain) || !pod["metadata"].contains("ownerReferences"))
      continue;
    for (Json& owner : pod["metadata"]["ownerReferences"]) owner["uid"] = pod["metadata"]["uid"];
  }
}

}  // namespace gpuward::remediator::simulation
