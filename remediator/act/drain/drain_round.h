// One round of a drain: decides which removals to send now, whether the drain is over, and when to
// check again. Its inputs are the plan and the results of earlier requests. Pure; time is a
// parameter. Used by the drainer.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "core/kube/objects.h"
#include "core/model/result.h"
#include "remediator/act/drain/drain_plan.h"
#include "remediator/policy/drain_settings.h"

namespace gpuward::remediator {

enum class RemovalWay : std::uint8_t { kEvict, kDelete };

// The result of a request to remove a pod.
enum class RemovalAnswer : std::uint8_t {
  kNone,      // no request yet
  kAccepted,  // The pod will terminate.
  kGone,      // The pod was already gone, or another pod had its name.
  kBlocked,   // A disruption budget forbids the removal for now.
  // The pod has several disruption budgets, so the API server refuses until they are changed.
  kRefused,
  kOverloaded,  // The API server asks for a pause.
  kStopped,     // The permit refused the request.
  kFailed,      // any other failure
};
[[nodiscard]] RemovalAnswer answer_of(const Status& status);

// The state of one pod's removal. Times count from the start of the drain.
struct RemovalTry {
  RemovalAnswer answer = RemovalAnswer::kNone;
  RemovalWay way = RemovalWay::kEvict;
  // Message of the last error; for equal failures in a row, message of the first.
  std::string message;
  ErrorKind kind = ErrorKind::kInternal;  // Kind of that error.
  int failures = 0;                       // Number of kFailed in a row.
  bool is_in_flight = false;
  std::chrono::milliseconds next{0};
};
using RemovalTries = std::map<std::string, RemovalTry>;  // by the pod's UID

// Records the answer and the time of the next request.
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
  // Why the drain failed, or which pods are left. The text stays the same while nothing changes.
  std::string summary = {};
  // "namespace/name" of pods that still have to go; for a failed drain, of the pods that made it
  // fail.
  std::vector<std::string> left = {};
  bool is_held = false;                     // For kGoingOn: no pod that is left is terminating.
  std::chrono::milliseconds look_again{0};  // for kGoingOn
};

[[nodiscard]] DrainRound make_round(const DrainPlan& plan, const RemovalTries& tries,
                                    const DrainSettings& settings, const DrainScene& scene);

}  // namespace gpuward::remediator
