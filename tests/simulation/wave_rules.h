// Rules for what a drain owes to each pod on its node, whatever holds the other pods: it evicts the
// pod in its wave, soon, and not at all if its owner protects it. Part of the invariants.
#pragma once

#include <map>
#include <set>
#include <string>

#include "core/http/client/client.h"
#include "tests/simulation/stage.h"

namespace gpuward::remediator::simulation {

class WaveRules {
 public:
  explicit WaveRules(const Stage& stage) : stage_(stage) {}

  // An eviction is on its way to the API server, for the Remediation that requested the permit.
  void on_sent(const http::ClientRequest& request);
  // A look at a drain begins.
  void on_look(const Remediation& remediation) {
    begun_.try_emplace(remediation.name, stage_.tick);
  }
  // The look has ended, the drain continues, and nothing has forbidden evictions.
  void on_looked(const Remediation& remediation);

 private:
  void check_once(const std::string& name, const PodTruth& pod) const;
  void check_turn(const std::string& name, const PodTruth& pod) const;
  [[nodiscard]] bool is_free(const std::string& name, const PodTruth& pod) const;
  [[nodiscard]] bool is_notified() const;

  const Stage& stage_;
  std::map<std::string, Tick> begun_;  // drains, by Remediation
  std::set<std::string> asked_;        // UIDs of pods
  std::map<std::string, int> looks_;   // looks at a pod that was not evicted, by its UID
};

}  // namespace gpuward::remediator::simulation
