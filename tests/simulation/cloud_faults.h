// Faults of the calls to the cloud, in addition to those that cloud.cpp draws itself: a temporary
// refusal; a process that dies right before or right after the cloud accepts the call; time that
// passes before and during a call; an operator who forbids it then; a restart that begins minutes
// after a call that got no answer; and outdated answers. Some simulations have these, with their
// own chance, so that the others stay as they are.
#pragma once

#include <functional>
#include <map>
#include <string>

#include "remediator/act/cloud/provider.h"
#include "tests/simulation/stage.h"

namespace gpuward::remediator::simulation {

enum class CallFault { kNone, kRefused, kDiesBefore, kDiesAfter, kLate };

class CloudFaults {
 public:
  // Lets others act while a call takes that long.
  using Meanwhile = std::function<void(std::chrono::milliseconds)>;

  CloudFaults(Stage& stage, Meanwhile meanwhile);
  // Called before each call that acts, while the provider reads what it needs to know: time may
  // pass, and an operator may forbid the call.
  void before_call(const remediator::Machine& order);
  // Draws the fault of one call that acts; time may pass during the call.
  [[nodiscard]] CallFault of_call();
  // How long after a call that got no answer the restart begins.
  [[nodiscard]] std::chrono::milliseconds lateness();
  // From now on the cloud may report for a while that the machine runs as before.
  void begin_to_lag(const std::string& provider_id);
  [[nodiscard]] bool lags(const std::string& provider_id);

 private:
  [[nodiscard]] bool is_on() const { return is_drawn_ && !stage_.is_quiet; }
  void forbid(const remediator::Machine& order);

  Stage& stage_;
  int late_calls_ = 0;  // in the quiet time
  Meanwhile meanwhile_;
  const bool is_drawn_;
  std::map<std::string, Clock::Steady> lag_ends_;  // by spec.providerID
};

}  // namespace gpuward::remediator::simulation
