// One round of a drain: what to send now, whether the drain is over, and when to look again, from
// the plan and from what came of earlier tries. Pure; time is a parameter. Used by the drainer.
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

// What came of a request to remove a pod.
enum class RemovalAnswer : std::uint8_t {
  kNone,        // not asked yet
  kAccepted,    // it will terminate
  kGone,        // it was not there any more, or another pod was there under its name
  kBlocked,     // a disruption budget says not now
  kRefused,     // it has more than one disruption budget: not before somebody changes them
  kOverloaded,  // the API server itself wants a pause
  kStopped,     // we were not permitted to send it
  kFailed,      // anything else
};
[[nodiscard]] RemovalAnswer answer_of(const Status& status);

// What is known of one pod's removal. Times count from the start of the drain.
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

// Takes the answer down, with the time of the next try.
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
  // Why it failed, or what is left; the same words while nothing changes.
  std::string summary = {};
  // "namespace/name" of pods that are still to go; of a failed drain, of those that made it fail.
  std::vector<std::string> left = {};
  bool is_held = false;                     // of kGoingOn: no pod that is left is on its way
  std::chrono::milliseconds look_again{0};  // of kGoingOn
};

[[nodiscard]] DrainRound make_round(const DrainPlan& plan, const RemovalTries& tries,
                                    const DrainSettings& settings, const DrainScene& scene);

}  // namespace gpuward::remediator
