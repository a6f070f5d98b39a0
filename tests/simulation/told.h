// The Events that operators have received, over the lives of all replicas. Used by the rules that
// require a notification.
#pragma once

#include <set>
#include <string>
#include <utility>

#include "remediator/act/actions/announcer.h"
#include "tests/simulation/stage.h"

namespace gpuward::remediator::simulation {

class Told final : public Announcer {
 public:
  explicit Told(Stage& stage) : stage_(stage) {}
  void announce(kube::NodeEvent) override {}
  [[nodiscard]] Status deliver(const kube::NodeEvent& event) override;
  // Whether an Event ever reported that this Remediation is in this phase.
  [[nodiscard]] bool knows(const std::string& remediation, Phase phase) const {
    return said_.contains({remediation, "Gpuward" + std::string(to_string(phase))});
  }

 private:
  Stage& stage_;
  std::set<std::pair<std::string, std::string>> said_;  // Remediation and reason
};

}  // namespace gpuward::remediator::simulation
