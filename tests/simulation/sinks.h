// Who is to be told of Remediations, in some simulations, as the product's notifier would tell
// them: busy at times, and forgotten when its process dies. What was to be told was told at the
// end.
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
  // Once all is at rest.
  void check_rest() const;

 private:
  void on_rewritten(const Remediation& before, const Remediation& after);
  [[nodiscard]] bool is_known(const std::string& remediation, int restores) const;

  Stage& stage_;
  using What = std::pair<std::string, std::string>;  // Remediation and moment
  std::set<What> told_;
  std::map<What, int> wanted_;  // how often etcd had been restored by then
};

}  // namespace gpuward::remediator::simulation
