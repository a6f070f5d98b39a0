// The switch with which a human stops every step everywhere: read from the API server itself before
// every mutating call. One read serves all who asked before it began, so that many nodes at once do
// not become as many reads; nobody ever gets an answer that began before the question.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <mutex>

#include "core/kube/api.h"
#include "core/model/result.h"
#include "remediator/safety/switch_position.h"

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

 private:
  kube::Api& api_;
  SwitchPlace place_;
  std::mutex mutex_;
  std::condition_variable read_ended_;
  // Reads are numbered from 1 and never overlap.
  std::uint64_t begun_ = 0, ended_ = 0;
  Status answer_;  // of the read `ended_`
};

}  // namespace gpuward::remediator
