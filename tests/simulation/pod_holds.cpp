#include "tests/simulation/pod_holds.h"

#include "tests/fakes/kube_objects.h"
#include "tests/simulation/stage.h"

namespace gpuward::remediator::simulation {
namespace {

const std::string kBudgets = "/apis/policy/v1/namespaces/default/poddisruptionbudgets";

}  // namespace

void let_pods_be_held(Setting& setting, Chance& chance) {
  setting.has_held_pods = setting.has_pods && chance.happens(0.5);
}

void PodHolds::draw(const std::vector<std::string>& names) {
  if (!stage_.setting.has_held_pods) return;
  Chance& chance = stage_.holds_chance;
  for (const std::string& name : names) {
    const PodKind kind{.hold = static_cast<PodHold>(chance.weighted({80, 10, 3, 7})),
                       .turn = static_cast<PodTurn>(chance.weighted({40, 40, 20})),
                       .end = PodEnd::kEnds};
    stage_.pods.note_kind(name, kind);
    if (kind.hold == PodHold::kBudget) budgets_.push_back(forbid(name, "-1"));
    if (kind.hold != PodHold::kTwoBudgets) continue;
    for (const char* const number : {"-1", "-2"}) (void)forbid(name, number);
  }
}

// Returns the path of the budget.
std::string PodHolds::forbid(const std::string& pod, const std::string& number) {
  stage_.kube.create(kBudgets, fakes::budget(pod + number, {{"app", pod}}));
  std::string path = kBudgets + "/" + pod + number;
  stage_.kube.patch_status(path, fakes::budget_status(0));
  return path;
}

Json PodHolds::dressed(const std::string& name, Json pod) const {
  if (!stage_.setting.has_held_pods) return pod;
  pod["metadata"]["labels"] = {{"app", name}};
  const PodKind kind = stage_.pods.kind_of(name);
  if (kind.hold == PodHold::kProtected)
    pod["metadata"]["annotations"]["cluster-autoscaler.kubernetes.io/safe-to-evict"] = "false";
  if (kind.turn == PodTurn::kWorkload)
    pod["spec"]["containers"][0]["resources"]["limits"]["nvidia.com/gpu"] = "1";
  if (kind.turn == PodTurn::kCritical) pod["spec"]["priorityClassName"] = "system-cluster-critical";
  return pod;
}

void PodHolds::go_on() {
  if (budgets_.empty() || !stage_.holds_chance.happens(0.05)) return;
  const std::string& budget = stage_.holds_chance.pick(budgets_);
  stage_.kube.patch_status(budget, fakes::budget_status(1));
  stage_.trace.say(budget.substr(budget.rfind('/') + 1) + " allows one");
}

void bend_pods(const Stage& stage, Json& list) {
  if (!member_at(list, "items").is_array()) return;
  for (Json& pod : list["items"]) {
    if (stage.is_off(Sabotage::kProtection)) pod["metadata"].erase("annotations");
    if (!stage.is_off(Sabotage::kTurns)) continue;
    pod["spec"].erase("priorityClassName");
    for (Json& container : pod["spec"]["containers"]) container.erase("resources");
  }
}

bool is_let_go_in_words(const Stage& stage, const std::string& url) {
  if (!stage.is_off(Sabotage::kBudgetAnswer) || !url.ends_with("/eviction")) return false;
  const auto held = stage.pods.kind_of(pod_in(url)).hold;
  return held == PodHold::kBudget || held == PodHold::kTwoBudgets;
}

}  // namespace gpuward::remediator::simulation
