// The switch with which an operator stops every step everywhere. The process reads it from the API
// server before every mutating call. Threads share the reads, so that many nodes do not cause many
// reads.
#pragma once

#include <chrono>

#include "core/kube/api.h"
#include "core/model/result.h"
#include "remediator/cluster/gates/joint_read.h"
#include "remediator/cluster/gates/switch_position.h"

namespace gpuward::remediator {

// The time limit of the Api for one request and its retries. An answer that takes longer is no
// permission.
inline constexpr std::chrono::milliseconds kSwitchReadLimit{2'000};

class StopSwitch {
 public:
  // `api` must outlive this object and have deadlines of kSwitchReadLimit.
  StopSwitch(kube::Api& api, SwitchPlace place);

  // Returns success if one mutating call is permitted. kBlocked forbids the call, and the message
  // says what to do. Any thread may call it. It blocks for at most two reads: the current read,
  // which began too early for this call, and the next.
  [[nodiscard]] Status permit();
  // Returns the number of threads that wait for another thread's read.
  [[nodiscard]] std::size_t waiting() { return reads_.waiting(); }

 private:
  kube::Api& api_;
  SwitchPlace place_;
  JointRead reads_;
};

}  // namespace gpuward::remediator
