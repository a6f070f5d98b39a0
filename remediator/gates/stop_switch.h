// The switch with which an operator stops every step everywhere: read from the API server itself
// before every mutating call; a joint read, so that many nodes at once do not become as many reads.
#pragma once

#include <chrono>

#include "core/kube/api.h"
#include "core/model/result.h"
#include "remediator/gates/joint_read.h"
#include "remediator/guards/switch_position.h"

namespace gpuward::remediator {

// For the Api behind the switch, one request and its repeats: an answer that takes longer is no
// permission.
inline constexpr std::chrono::milliseconds kSwitchReadLimit{2'000};

class StopSwitch {
 public:
  // `api` must outlive it and have deadlines of kSwitchReadLimit.
  StopSwitch(kube::Api& api, SwitchPlace place);

  // Any thread; blocks for two reads at most: the one under way, which is not ours, and the next.
  // A value: go on with one mutating call. kBlocked: do not; the message says what to do.
  [[nodiscard]] Status permit();
  // Those who wait for the read of another.
  [[nodiscard]] std::size_t waiting() { return reads_.waiting(); }

 private:
  kube::Api& api_;
  SwitchPlace place_;
  JointRead reads_;
};

}  // namespace gpuward::remediator
