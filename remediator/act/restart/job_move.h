// Decides the next move for one job that has lost pods, from the job and its pods as they were just
// read. Used by the restarter, which carries it out. Pure.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/kube/objects.h"
#include "remediator/model/job_kinds.h"

namespace gpuward::remediator {

// Annotations of a job: the Remediation ("name/uid") that has suspended it and not resumed it yet,
// and the one that restarted it last. Each changes in the same patch as `suspend`.
inline const std::string kSuspendedBy = "gpuward.dev/suspended-by";
inline const std::string kRestartedBy = "gpuward.dev/restarted-by";
// The job's owner forbids a restart with this annotation; any value but "false" does.
inline const std::string kDoNotRestart = "gpuward.dev/do-not-restart";
// With this label Kueue alone decides whether the job is suspended
// (kueue.sigs.k8s.io/docs/tasks/run/jobs).
inline const std::string kKueueQueue = "kueue.x-k8s.io/queue-name";

// The prefixes of an entry in the step's record for a job that is not settled: its progress, the
// UID of the object to change, and the object: "suspended UID TrainJob default/train". The intent
// is recorded before the first request, so that a job that may be suspended is never treated as
// untouched.
inline constexpr std::string_view kKnownIntended = "intended ";
inline constexpr std::string_view kKnownSuspended = "suspended ";
inline constexpr std::string_view kKnownAsked = "asked ";

// How long a job's own controller has to begin a restart after the drain.
inline constexpr std::chrono::seconds kOwnRestart{10};

// The Remediation that restarts the job, and its timing.
struct RestartClaim {
  std::string mark;           // the Remediation: "name/uid"
  kube::WallTime drained_at;  // when its drain began: older pods have lost a peer
  kube::WallTime now;
  bool may_begin = true;  // a restart may now be requested
  bool is_late = false;   // the step's time is over
};

struct SeenJob {
  const JobKind& kind;
  kube::CustomObject object;
  std::vector<kube::Pod> pods;
  // Its controller if that is of an unknown kind: "Workflow nightly".
  std::string foreign_owner;
};

enum class Move : std::uint8_t {
  kWait,
  kSuspend,  // by the field kind.suspend
  kAsk,      // by a Command
  kResume,   // the job that this Remediation has suspended
  kSettle,   // nothing more to do
};

struct JobMove {
  Move move = Move::kWait;
  std::string words;  // for kWait the reason to wait, for kSettle the outcome
  bool failed = false;
};

// `known`: the entry for the job in the step's record; empty if nothing was requested yet.
[[nodiscard]] JobMove next_move(const SeenJob& job, const std::string& known,
                                const RestartClaim& claim);

[[nodiscard]] bool is_suspended(const JobKind& kind, const kube::CustomObject& object);
// Returns whether that Remediation has suspended it and its annotation is still there.
[[nodiscard]] bool is_suspended_by(const kube::CustomObject& object, const std::string& mark);

// Merge patches that the API server accepts only for the very object that was read, unchanged
// since.
[[nodiscard]] std::string suspend_patch(const JobKind& kind, const kube::CustomObject& object,
                                        const std::string& mark);
// If another client has already resumed the job, the patch changes only the annotations.
[[nodiscard]] std::string resume_patch(const JobKind& kind, const kube::CustomObject& object,
                                       const std::string& mark);
// Returns the Command that restarts a Volcano job; its name is the same for the same job and
// Remediation.
[[nodiscard]] std::string restart_command(const kube::CustomObject& object,
                                          const std::string& mark);

}  // namespace gpuward::remediator
