#include "remediator/cluster/conditions.h"

namespace gpuward::remediator {
namespace {

bool is_at_work(Phase phase) {
  switch (phase) {
    case Phase::kPending:
    case Phase::kCollecting:
    case Phase::kDraining:
    case Phase::kResetting:
    case Phase::kRebooting:
    case Phase::kTesting:
    case Phase::kTerminating:
    case Phase::kVerifying:
      return true;
    case Phase::kObserved:
    case Phase::kQuarantined:
    case Phase::kWaiting:
    case Phase::kHeld:
    case Phase::kPaused:
    case Phase::kReleased:
    case Phase::kEnded:
    case Phase::kReplaced:
    case Phase::kSuperseded:
    case Phase::kCancelled:
      return false;
  }
  return false;
}

}  // namespace

bool holds(ConditionType type, Phase phase) {
  switch (type) {
    case ConditionType::kProgressing:
      return is_at_work(phase);
    case ConditionType::kHeld:
      return phase == Phase::kHeld;
    case ConditionType::kClosed:
      return !is_open(phase);
  }
  return false;
}

RemediationStatus with_conditions(RemediationStatus next, WallTime now) {
  for (const ConditionType type : kAllConditions) {
    const bool is_so = holds(type, next.phase);
    const auto [known, is_new] = next.conditions.try_emplace(type, Condition{is_so, now});
    if (!is_new && known->second.holds != is_so) known->second = {is_so, now};
  }
  return next;
}

}  // namespace gpuward::remediator
