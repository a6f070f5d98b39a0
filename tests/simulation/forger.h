// An attacker who may patch Remediations and approves in other users' names whenever the API server
// accepts it: now and then the guard of approvals is off for a while. Such a lapse lasts until
// every token that was answered in it is void, because a lapse that no replica notices in time
// looks like none.
#pragma once

#include <chrono>
#include <map>
#include <string>

#include "remediator/act/approval_guard.h"
#include "tests/simulation/stage.h"

namespace gpuward::remediator::simulation {

class Forger final : public ApprovalGuard {
 public:
  explicit Forger(Stage& stage, std::uint64_t seed) : stage_(stage), chance_(seed) {}
  // One event of the busy time.
  void do_something();
  // The guard is on until the end, and operators remove the approvals that they did not give.
  void stop();
  [[nodiscard]] Status check(std::chrono::milliseconds max_age) override;

 private:
  void forge_one();
  [[nodiscard]] bool stands(const std::string& remediation, const std::string& token) const;

  Stage& stage_;
  Chance chance_;
  bool guards_ = true;
  std::map<std::string, std::string> forged_;  // tokens by Remediation, of this lapse
};

}  // namespace gpuward::remediator::simulation
