// The notification sinks of some simulations, called as the product's notifier would: busy at
// times, and their queue is lost with its process. Every wanted notification must have been sent at
// the end.
#pragma once

#include <map>
#include <set>
#include <string>

#include "remediator/notify/notifier.h"
#include "tests/simulation/stage.h"

namespace gpuward::remediator::simulation {

class Sinks final : public Notifications {
 public:
  explicit Sinks(Stage& stage);

  [[nodiscard]] bool are_notified(const NotificationEvent& event,
                                  const std::vector<std::string>& sinks) override;
  // Called at rest.
  void check_rest() const;

 private:
  void on_rewritten(const Remediation& before, const Remediation& after);
  [[nodiscard]] bool is_known(const std::string& remediation, int restores) const;

  Stage& stage_;
  using What = std::pair<std::string, std::string>;  // Remediation and moment
  std::set<What> told_;
  std::map<What, int> wanted_;  // number of restores of etcd at that time
};

}  // namespace gpuward::remediator::simulation
