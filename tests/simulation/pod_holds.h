// What holds some of the pods of a simulation on their nodes, and whose turn each of them has in a
// drain: drawn for each pod's name, with chance of its own.
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
enum class PodTurn { kWorkload, kRest, kCritical };  // the order in which a drain asks them to go

enum class PodEnd { kEnds, kFinalizer, kStuck, kDaemon, kRefused };  // when it is evicted

struct PodKind {
  PodHold hold = PodHold::kNone;
  PodTurn turn = PodTurn::kRest;
  PodEnd end = PodEnd::kEnds;
  bool tolerates = false;  // every taint
};

// In some simulations with pods; with chance of their own, so that the others stay as they are.
void let_pods_be_held(Setting& setting, Chance& chance);

class PodHolds {
 public:
  explicit PodHolds(Stage& stage) : stage_(stage) {}

  // Draws what each of them is, and makes their budgets.
  void draw(const std::vector<std::string>& names);
  // The pod as its owner has written it.
  [[nodiscard]] Json dressed(const std::string& name, Json pod) const;
  // A budget may allow one.
  void go_on();

 private:
  // A budget that allows nothing.
  std::string forbid(const std::string& pod, const std::string& number);

  Stage& stage_;
  std::vector<std::string> budgets_;  // paths
};

// How a sabotage bends the pods that a replica lists.
void bend_pods(const Stage& stage, Json& list);
// Whether its eviction is answered as accepted, and is not.
[[nodiscard]] bool is_let_go_in_words(const Stage& stage, const std::string& url);

}  // namespace gpuward::remediator::simulation
