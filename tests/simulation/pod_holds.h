// What holds some of the pods of a simulation on their nodes, and the wave of each in a drain.
// Drawn for each pod's name, with its own chance.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "core/runtime/json.h"
#include "tests/simulation/chance.h"

namespace gpuward::remediator::simulation {

struct Setting;
struct Stage;

enum class PodHold { kNone, kBudget, kTwoBudgets, kProtected };
enum class PodTurn { kWorkload, kRest, kCritical };  // in the order in which a drain evicts them

enum class PodEnd {
  kEnds,
  kFinalizer,
  kStuck,
  kDaemon,
  kRefused
};  // how it ends when it is evicted

struct PodKind {
  PodHold hold = PodHold::kNone;
  PodTurn turn = PodTurn::kRest;
  PodEnd end = PodEnd::kEnds;
  bool tolerates = false;  // every taint
};

// Applies to some simulations with pods; has its own chance, so that the others stay as they are.
void let_pods_be_held(Setting& setting, Chance& chance);

class PodHolds {
 public:
  explicit PodHolds(Stage& stage) : stage_(stage) {}

  // Draws the kind of each of them, and makes their budgets.
  void draw(const std::vector<std::string>& names);
  // The pod as its owner writes it.
  [[nodiscard]] Json dressed(const std::string& name, Json pod) const;
  // Perhaps a budget allows one disruption.
  void go_on();

 private:
  // Makes a budget that allows no disruption.
  std::string forbid(const std::string& pod, const std::string& number);

  Stage& stage_;
  std::vector<std::string> budgets_;  // paths
};

// How a sabotage bends the pods that a replica lists.
void bend_pods(const Stage& stage, Json& list);
// Whether the eviction is answered as accepted although it is not sent.
[[nodiscard]] bool is_let_go_in_words(const Stage& stage, const std::string& url);

}  // namespace gpuward::remediator::simulation
