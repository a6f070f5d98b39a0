// The switch with which an operator stops every step everywhere. It is read from the API server
// itself before every mutating call; threads share the reads, so that many nodes at once do not
// cause as many reads.
#pragma once

#include <chrono>

#include "core/kube/api.h"
#include "core/model/result.h"
#include "remediator/gates/joint_read.h"
#include "remediator/guards/switch_position.h"

namespace gpuward::remediator {

// The time limit of the Api behind the switch for one request and its retries. An answer that takes
// longer is no permission.
inline constexpr std::chrono::milliseconds kSwitchReadLimit{2'000};

class StopSwitch {
 public:
  // `api` must outlive it and have deadlines of kSwitchReadLimit.
  StopSwitch(kube::Api& api, SwitchPlace place);

  // Any thread; blocks for two reads at most: the one under way, which began too early for this
  // call, and the next. Success permits one mutating call. kBlocked forbids it, and the message
  // says what to do.
  [[nodiscard]] Status permit();
  // The number of threads that wait for another thread's read.
  [[nodiscard]] std::size_t waiting() { return reads_.waiting(); }

 private:
  kube::Api& api_;
  SwitchPlace place_;
  JointRead reads_;
};

}  // namespace gpuward::remediator
