// One round of a drain: decides what to send now, whether the drain is over, and when to check
// again, from the plan and the results of earlier tries. Pure; time is a parameter. Used by the
// drainer.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "core/kube/objects.h"
#include "core/model/result.h"
#include "remediator/drain/drain_plan.h"
#include "remediator/drain/drain_settings.h"

namespace gpuward::remediator {

enum class RemovalWay : std::uint8_t { kEvict, kDelete };

// The result of a request to remove a pod.
enum class RemovalAnswer : std::uint8_t {
  kNone,        // no request yet
  kAccepted,    // it will terminate
  kGone,        // it was already gone, or another pod had its name
  kBlocked,     // a disruption budget forbids it for now
  kRefused,     // it has several disruption budgets: refused until they are changed
  kOverloaded,  // the API server itself wants a pause
  kStopped,     // the permit refused to send it
  kFailed,      // any other failure
};
[[nodiscard]] RemovalAnswer answer_of(const Status& status);

// The state of one pod's removal. Times count from the start of the drain.
struct RemovalTry {
  RemovalAnswer answer = RemovalAnswer::kNone;
  RemovalWay way = RemovalWay::kEvict;
  std::string message;  // of the last error; of failures of one kind in a row, of the first
  ErrorKind kind = ErrorKind::kInternal;  // of that error
  int failures = 0;                       // kFailed in a row
  bool is_in_flight = false;
  std::chrono::milliseconds next{0};
};
using RemovalTries = std::map<std::string, RemovalTry>;  // by the pod's UID

// Records the answer and the time of the next try.
void record_answer(RemovalTry& known, const Status& status, std::chrono::milliseconds elapsed);

enum class DrainState : std::uint8_t { kDone, kGoingOn, kFailed };

struct Removal {
  RemovalWay way = RemovalWay::kEvict;
  kube::Eviction pod;
  std::string job;
};

struct DrainRound {
  DrainState verdict = DrainState::kGoingOn;
  std::vector<Removal> send = {};
  // Why it failed, or the pods that are left; the same words while nothing changes.
  std::string summary = {};
  // "namespace/name" of pods that still have to go; for a failed drain, of those that made it fail.
  std::vector<std::string> left = {};
  bool is_held = false;                     // for kGoingOn: no pod that is left is on its way
  std::chrono::milliseconds look_again{0};  // for kGoingOn
};

[[nodiscard]] DrainRound make_round(const DrainPlan& plan, const RemovalTries& tries,
                                    const DrainSettings& settings, const DrainScene& scene);

}  // namespace gpuward::remediator
