#include "remediator/act/drain/drain_round.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "remediator/act/drain/drain_summary.h"

namespace gpuward::remediator {
namespace {

using std::chrono::milliseconds;
using std::chrono::minutes;
using std::chrono::seconds;

constexpr milliseconds kBetweenTries = seconds(5);  // as kubectl drain
constexpr milliseconds kBetweenRefusedTries = seconds(10);
constexpr milliseconds kLongestBackoff = seconds(30);
constexpr milliseconds kShortestPause = seconds(1);
// The end of a pod is noticed within 2 s: no interval between checks is longer.
constexpr milliseconds kLookSoon = seconds(1);
constexpr milliseconds kLook(1'500);
// After the deadline of a drain that deletes.
constexpr milliseconds kDeletePatience = minutes(5);
constexpr seconds kOverdueAfter = minutes(1);

milliseconds backoff_after(int failures) {
  return std::min<milliseconds>(kLongestBackoff, seconds(1) * (1 << std::min(failures - 1, 5)));
}

milliseconds wait_after(const RemovalTry& known, const Status& status) {
  switch (known.answer) {
    case RemovalAnswer::kNone:
      return milliseconds(0);
    case RemovalAnswer::kRefused:
      return kBetweenRefusedTries;
    case RemovalAnswer::kOverloaded:
      return std::max(kShortestPause, status.error().retry_after);
    case RemovalAnswer::kStopped:
      return kShortestPause;
    case RemovalAnswer::kFailed:
      return backoff_after(known.failures);
    case RemovalAnswer::kBlocked:
    // If the list still shows the pod untouched, the eviction was lost on the way.
    case RemovalAnswer::kAccepted:
    case RemovalAnswer::kGone:
      break;
  }
  return kBetweenTries;
}

struct Round {
  const DrainPlan& plan;
  const RemovalTries& tries;
  const DrainSettings& settings;
  const DrainScene& scene;

  [[nodiscard]] bool is_late() const { return scene.elapsed >= settings.deadline; }
  [[nodiscard]] const RemovalTry& known_of(const PlannedPod& pod) const {
    static const RemovalTry kUnknown;
    const auto found = tries.find(pod.uid);
    return found == tries.end() ? kUnknown : found->second;
  }
  [[nodiscard]] bool is_overdue(const PlannedPod& pod, seconds margin) const {
    return pod.act == DrainAct::kTerminating && pod.ends_at && *pod.ends_at + margin <= scene.now;
  }
};

std::vector<const PlannedPod*> pods_that(const DrainPlan& plan, auto&& is_wanted) {
  std::vector<const PlannedPod*> found;
  for (const PlannedPod& pod : plan.pods) {
    if (is_wanted(pod)) found.push_back(&pod);
  }
  return found;
}

std::vector<std::string> names_of(const std::vector<const PlannedPod*>& pods) {
  std::vector<std::string> names;
  names.reserve(pods.size());
  for (const PlannedPod* const pod : pods) names.push_back(pod->full_name());
  return names;
}

// After the deadline no pod is waited for; protected pods do not get here then.
std::optional<RemovalWay> way_for(const Round& now, const PlannedPod& pod) {
  if (pod.act == DrainAct::kTerminating || pod.act == DrainAct::kKeep) return std::nullopt;
  if (now.is_late()) return RemovalWay::kDelete;
  if (pod.act == DrainAct::kWait) return std::nullopt;
  return pod.act == DrainAct::kDelete ? RemovalWay::kDelete : RemovalWay::kEvict;
}

// Zero would remove the pod from the API before its kubelet has ended it, and a StatefulSet would
// start its successor at the same time.
Removal removal_of(const PlannedPod& pod, RemovalWay way, const DrainSettings& settings) {
  Removal removal{.way = way, .pod = {pod.ns, pod.name, pod.uid, std::nullopt}, .job = pod.job};
  removal.pod.once = true;
  int grace = pod.own_grace_seconds;
  if (settings.grace_period)
    grace = std::min(grace, static_cast<int>(settings.grace_period->count()));
  grace = std::max(grace, 1);
  if (way == RemovalWay::kDelete || grace != pod.own_grace_seconds)
    removal.pod.grace_period_seconds = grace;
  return removal;
}

// Returns whether later waves wait for the pod. A blocked or spared pod does not delay them,
// because it may never go, nor does one whose kubelet does not confirm its end.
bool is_on_its_way(const Round& now, const PlannedPod& pod) {
  if (pod.act == DrainAct::kTerminating) return !now.is_overdue(pod, seconds(0));
  if (pod.act == DrainAct::kWait || pod.act == DrainAct::kKeep) return false;
  switch (now.known_of(pod).answer) {
    case RemovalAnswer::kBlocked:
    case RemovalAnswer::kRefused:
    case RemovalAnswer::kFailed:
      return false;
    case RemovalAnswer::kNone:
    case RemovalAnswer::kAccepted:
    case RemovalAnswer::kGone:
    case RemovalAnswer::kOverloaded:
    case RemovalAnswer::kStopped:
      break;
  }
  return true;
}

// From half of the deadline on all waves go, even if pods still terminate: each pod has time to end
// before the deadline. The remediator's own pod waits for all others.
DrainWave wave_now(const Round& now, const std::vector<const PlannedPod*>& left) {
  const bool goes_by_waves = now.scene.elapsed < now.settings.deadline / 2;
  DrainWave wave = DrainWave::kSelf;
  for (const PlannedPod* const pod : left) {
    if (pod->wave == DrainWave::kSelf) continue;
    const bool holds_up = goes_by_waves && is_on_its_way(now, *pod);
    wave = std::min(wave, holds_up ? pod->wave : DrainWave::kCritical);
  }
  return wave;
}

std::vector<Removal> removals_due(const Round& now, const std::vector<const PlannedPod*>& left) {
  std::vector<Removal> due;
  const DrainWave wave = wave_now(now, left);
  for (const PlannedPod* const pod : left) {
    const auto way = way_for(now, *pod);
    if (!way || pod->wave > wave) continue;
    const RemovalTry& known = now.known_of(*pod);
    const bool is_new = known.answer == RemovalAnswer::kNone || known.way != *way;
    if (known.is_in_flight || (!is_new && now.scene.elapsed < known.next)) continue;
    due.push_back(removal_of(*pod, *way, now.settings));
  }
  return due;
}

std::string describe(const Round& now, const std::vector<const PlannedPod*>& pods) {
  const auto left = pods_that(now.plan, [](const PlannedPod& pod) { return pod.is_left(); });
  const DrainWave wave = wave_now(now, left);
  std::vector<LeftPod> described;
  described.reserve(pods.size());
  for (const PlannedPod* const pod : pods) {
    described.push_back({.pod = *pod,
                         .known = now.known_of(*pod),
                         .is_overdue = now.is_overdue(*pod, seconds(0)),
                         .is_later = pod->wave > wave});
  }
  return describe_left(described);
}

DrainRound failed(const std::vector<const PlannedPod*>& because, std::string summary) {
  return {.verdict = DrainState::kFailed, .summary = std::move(summary), .left = names_of(because)};
}

// Pods that even a deletion has not moved.
std::vector<const PlannedPod*> stuck_pods(const Round& now) {
  const bool gave_up = now.scene.elapsed >= now.settings.deadline + kDeletePatience;
  return pods_that(now.plan, [&](const PlannedPod& pod) {
    if (!pod.is_left()) return false;
    return pod.act == DrainAct::kTerminating ? now.is_overdue(pod, kOverdueAfter) : gave_up;
  });
}

// The result of the deadline for a drain with pods left; nullopt if the drain continues.
std::optional<DrainRound> judge_late(const Round& now, const std::vector<const PlannedPod*>& left) {
  const auto spared =
      pods_that(now.plan, [&](const PlannedPod& pod) { return is_spared(pod, now.settings); });
  switch (now.settings.on_deadline) {
    case OnDeadline::kHold:
      return failed(left, "not drained in time: " + describe(now, left));
    case OnDeadline::kProceed:
      if (!spared.empty()) break;
      return DrainRound{.verdict = DrainState::kDone,
                        .summary = "continuing after the deadline with " + describe(now, left),
                        .left = names_of(left)};
    case OnDeadline::kDelete:
      if (!spared.empty()) break;
      if (const auto stuck = stuck_pods(now); !stuck.empty())
        return failed(stuck, "not drained in time: " + describe(now, stuck));
      return std::nullopt;
  }
  return failed(spared, "not drained in time: " + describe(now, spared));
}

milliseconds look_again(const Round& now, const std::vector<const PlannedPod*>& left,
                        bool is_sending) {
  const bool moves = is_sending || std::ranges::any_of(left, [&](const PlannedPod* pod) {
                       return pod->act == DrainAct::kTerminating || now.known_of(*pod).is_in_flight;
                     });
  const milliseconds wait = moves ? kLookSoon : kLook;
  if (now.is_late()) return wait;
  return std::min(wait, now.settings.deadline - now.scene.elapsed);
}

DrainRound go_on(const Round& now, const std::vector<const PlannedPod*>& left) {
  DrainRound round{
      .send = removals_due(now, left), .summary = describe(now, left), .left = names_of(left)};
  round.is_held = std::ranges::none_of(left, [&](const PlannedPod* pod) {
    return pod->wave != DrainWave::kSelf && is_on_its_way(now, *pod);
  });
  round.look_again = look_again(now, left, !round.send.empty());
  return round;
}

}  // namespace

RemovalAnswer answer_of(const Status& status) {
  if (status) return RemovalAnswer::kAccepted;
  switch (status.error().kind) {
    case ErrorKind::kNotFound:
    case ErrorKind::kConflict:
      return RemovalAnswer::kGone;
    case ErrorKind::kBlocked:
      return RemovalAnswer::kBlocked;
    case ErrorKind::kRefused:
      return RemovalAnswer::kRefused;
    case ErrorKind::kOverloaded:
      return RemovalAnswer::kOverloaded;
    case ErrorKind::kCancelled:
      return RemovalAnswer::kStopped;
    case ErrorKind::kInvalid:
    case ErrorKind::kUnauthenticated:
    case ErrorKind::kForbidden:
    case ErrorKind::kAlreadyExists:
    case ErrorKind::kGone:
    case ErrorKind::kTooLarge:
    case ErrorKind::kUnavailable:
    case ErrorKind::kTimeout:
    case ErrorKind::kInternal:
      break;
  }
  return RemovalAnswer::kFailed;
}

void record_answer(RemovalTry& known, const Status& status, milliseconds elapsed) {
  known.answer = answer_of(status);
  known.failures = known.answer == RemovalAnswer::kFailed ? known.failures + 1 : 0;
  // The message of a time-out has its milliseconds: the same failure again must not change the
  // summary.
  const bool is_same = known.failures > 1 && known.kind == status.error().kind;
  if (!is_same) known.message = status ? std::string() : status.error().message;
  if (!status) known.kind = status.error().kind;
  known.is_in_flight = false;
  const bool is_forbidden = !status && status.error().kind == ErrorKind::kForbidden;
  known.next = elapsed + (is_forbidden ? kBetweenTries : wait_after(known, status));
}

DrainRound make_round(const DrainPlan& plan, const RemovalTries& tries,
                      const DrainSettings& settings, const DrainScene& scene) {
  const Round now{plan, tries, settings, scene};
  const auto refused =
      pods_that(plan, [](const PlannedPod& pod) { return pod.act == DrainAct::kRefuse; });
  if (!refused.empty()) return failed(refused, describe_refused(refused));
  const auto left = pods_that(plan, [](const PlannedPod& pod) { return pod.is_left(); });
  if (left.empty()) return {.verdict = DrainState::kDone, .summary = describe_done(plan)};
  if (now.is_late()) {
    if (auto verdict = judge_late(now, left)) return std::move(*verdict);
  }
  return go_on(now, left);
}

}  // namespace gpuward::remediator
