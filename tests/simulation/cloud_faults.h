// What goes wrong with the calls to the cloud beyond what cloud.cpp draws itself: a refusal that
// does not last, a process that dies right before or right after the cloud has taken the call, time
// that passes before a call and inside it, a human who forbids it then, a restart that begins
// minutes after nobody was told that it was accepted, and answers that are still of before. In some
// simulations, with chance of their own, so that the others stay as they are.
#pragma once

#include <functional>
#include <map>
#include <string>

#include "remediator/cloud/provider.h"
#include "tests/simulation/stage.h"

namespace gpuward::remediator::simulation {

enum class CallFault { kNone, kRefused, kDiesBefore, kDiesAfter, kLate };

class CloudFaults {
 public:
  // What others do while a call takes so long.
  using Meanwhile = std::function<void(std::chrono::milliseconds)>;

  CloudFaults(Stage& stage, Meanwhile meanwhile);
  // Before one call that asks for something, while the provider finds out what it has to know: time
  // may pass, and a human may forbid it.
  void before_call(const remediator::Machine& order);
  // Of one call that asks for something; time may pass inside it.
  [[nodiscard]] CallFault of_call();
  // How long after a call that nobody was answered the restart begins.
  [[nodiscard]] std::chrono::milliseconds lateness();
  // From now on the cloud may say for a while that the machine runs as before.
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
