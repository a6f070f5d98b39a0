// Checks that approvals are guarded, by what the API server refuses: it asks the server in a dry
// run to create two Remediations, each of which violates one of the two policies. A dry run changes
// nothing and needs no further permission. Policies are in force only a moment after they are
// applied, and each API server behind the address learns of them by itself.
#pragma once

#include <chrono>
#include <mutex>
#include <optional>

#include "core/kube/api.h"
#include "core/runtime/clock.h"
#include "remediator/gates/joint_read.h"
#include "remediator/guards/approval_guard.h"

namespace gpuward::remediator {

class GuardProbe final : public ApprovalGuard {
 public:
  // Both must outlive the probe. `api` should have a short deadline and not be fenced: each replica
  // checks by itself.
  GuardProbe(kube::Api& api, Clock& clock) : api_(api), clock_(clock) {}

  // Blocks for at most two probes: the one in progress and the next.
  [[nodiscard]] Status check(std::chrono::milliseconds max_age) override;
  // Returns the last result; nullopt before the first. Thread-safe.
  [[nodiscard]] std::optional<Status> last() const;
  // Whether this process has ever seen approvals guarded.
  [[nodiscard]] bool was_in_force() const;

 private:
  [[nodiscard]] Status probe();

  kube::Api& api_;
  Clock& clock_;
  JointRead probes_;
  mutable std::mutex mutex_;
  std::optional<Status> last_;
  Clock::Steady at_{};
  bool was_in_force_ = false;
};

}  // namespace gpuward::remediator
