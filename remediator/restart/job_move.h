// What is to be done next about one job that has lost pods, from the job and its pods as they were
// just read. Used by the restarter, which does it. Pure.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/kube/objects.h"
#include "remediator/restart/job_kinds.h"

namespace gpuward::remediator {

// Annotations of a job: the Remediation ("name/uid") that has suspended it and not resumed it yet,
// and the one that has restarted it last. Each goes on and off in the same patch as `suspend`.
inline const std::string kSuspendedBy = "gpuward.dev/suspended-by";
inline const std::string kRestartedBy = "gpuward.dev/restarted-by";
// By this one its owner asks not to restart it; any value but "false".
inline const std::string kDoNotRestart = "gpuward.dev/do-not-restart";
// Kueue alone decides then whether the job is suspended (kueue.sigs.k8s.io/docs/tasks/run/jobs).
inline const std::string kKueueQueue = "kueue.x-k8s.io/queue-name";

// What the step's record has of a job that is not settled: how far it is, the UID of the object
// that is changed, and what that is: "suspended UID TrainJob default/train". It is intended before
// anything is asked for, so that what may be suspended is never taken for what is not.
inline constexpr std::string_view kKnownIntended = "intended ";
inline constexpr std::string_view kKnownSuspended = "suspended ";
inline constexpr std::string_view kKnownAsked = "asked ";

// A job whose own controller restarts it after a drain has so long to begin.
inline constexpr std::chrono::seconds kOwnRestart{10};

// For whom the job is restarted.
struct RestartClaim {
  std::string mark;           // the Remediation: "name/uid"
  kube::WallTime drained_at;  // when its drain began: older pods have seen a peer go
  kube::WallTime now;
  bool may_begin = true;  // the time is come for a restart that was not asked for yet
  bool is_late = false;   // the step's time is over
};

struct SeenJob {
  const JobKind& kind;
  kube::CustomObject object;
  std::vector<kube::Pod> pods;
  // Its controller, where that is no kind that is known: "Workflow nightly".
  std::string foreign_owner;
};

enum class Move : std::uint8_t {
  kWait,
  kSuspend,  // as kind.suspend says
  kAsk,      // by a Command
  kResume,   // what this Remediation has suspended
  kSettle,   // nothing more is done about it
};

struct JobMove {
  Move move = Move::kWait;
  std::string words;  // of kWait and kSettle: what it waits for, how it has ended
  bool failed = false;
};

// `known`: what the step's record has of the job; empty where nothing was asked for.
[[nodiscard]] JobMove next_move(const SeenJob& job, const std::string& known,
                                const RestartClaim& claim);

[[nodiscard]] bool is_suspended(const JobKind& kind, const kube::CustomObject& object);
// Whether that Remediation has suspended it, and nobody has resumed it by that annotation since.
[[nodiscard]] bool is_suspended_by(const kube::CustomObject& object, const std::string& mark);

// Merge patches that hold only for the very object that was read, unchanged since.
[[nodiscard]] std::string suspend_patch(const JobKind& kind, const kube::CustomObject& object,
                                        const std::string& mark);
// Also of a job that somebody else has resumed: then only the annotations change.
[[nodiscard]] std::string resume_patch(const JobKind& kind, const kube::CustomObject& object,
                                       const std::string& mark);
// The Command that restarts a Volcano job; its name is the same for the same job and Remediation.
[[nodiscard]] std::string restart_command(const kube::CustomObject& object,
                                          const std::string& mark);

}  // namespace gpuward::remediator
