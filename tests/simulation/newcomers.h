// Pods that come to a node while it is drained: the scheduler binds a pod that tolerates cordon and
// taint to the node that was just emptied, each time its controller makes it again. Also the rules
// for what a drain and the steps after it may do about them, which are part of the invariants.
#pragma once

#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "core/runtime/json.h"
#include "remediator/model/remediation.h"
#include "tests/simulation/pod_truth.h"
#include "tests/simulation/setting.h"

namespace gpuward::remediator::simulation {

struct Stage;

// Applies to some simulations with pods; has its own chance, so that the others stay as they are.
void let_pods_come_back(Setting& setting, Chance& chance);

class Newcomers {
 public:
  explicit Newcomers(Stage& stage) : stage_(stage) {}

  // Draws the pods that tolerate every taint.
  void draw(const std::vector<std::string>& names);
  [[nodiscard]] Json dressed(const std::string& name, Json pod) const;
  // The node to which the scheduler binds it; empty: any node, as for other pods.
  [[nodiscard]] std::string node_for(const std::string& name);
  void note_start(const std::string& name, const std::string& node) { homes_[name] = node; }
  // A drained node that gets a pod now, while the step after its drain waits; empty: none.
  [[nodiscard]] std::string drained_node();
  // A pod has ended: returns whether its controller makes it again at once.
  [[nodiscard]] bool comes_back(const std::string& name);

 private:
  Stage& stage_;
  std::map<std::string, std::string> homes_;  // the last node, by pod
  std::map<std::string, int>
      come_to_;  // by Remediation: number of pods that came to its drained node
};

class NewcomerRules {
 public:
  explicit NewcomerRules(Stage& stage) : stage_(stage) {}

  // A replica begins a look at a drain.
  void on_look(const Remediation& remediation);
  // The API server has accepted the removal of the pod for that Remediation.
  void on_removed(const Remediation& owner, const std::string& name, const PodTruth& pod);
  // Whether a drain may be done with that pod on the node.
  [[nodiscard]] bool may_be_left(const Remediation& owner, const std::string& name,
                                 const PodTruth& pod) const;
  // A replica intends a step that needs an empty node; its look began at `begun`.
  void check_empty(const Remediation& owner, Tick begun, const std::string& what) const;

 private:
  struct Drain {
    Clock::Steady intended, begun;                              // begun: its first look
    std::set<std::string> processes = {};                       // that had a look at it
    std::map<std::string, std::set<std::string>> evicted = {};  // UIDs of newcomers, by pod
  };
  [[nodiscard]] bool may_stay(const std::string& name, const PodTruth& pod) const;

  Stage& stage_;
  std::map<std::pair<std::string, WallTime>, Drain> drains_;  // by Remediation and intent
};

// How a sabotage bends the pods that a replica lists.
void bend_newcomers(const Stage& stage, Json& list);

}  // namespace gpuward::remediator::simulation
