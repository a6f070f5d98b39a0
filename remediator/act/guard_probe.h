// Checks whether the API server guards approvals. In a dry run it asks the server to create two
// Remediations, and each violates one of the two admission policies. A dry run changes nothing and
// needs no further permission. Policies take effect a moment after they are applied, on each API
// server behind the address separately.
#pragma once

#include <chrono>
#include <mutex>
#include <optional>

#include "core/kube/api.h"
#include "core/runtime/clock.h"
#include "remediator/act/approval_guard.h"
#include "remediator/cluster/gates/joint_read.h"

namespace gpuward::remediator {

class GuardProbe final : public ApprovalGuard {
 public:
  // The arguments must outlive the probe. `api` needs a short deadline and no fence, because each
  // replica checks for itself.
  GuardProbe(kube::Api& api, Clock& clock) : api_(api), clock_(clock) {}

  // Returns the result of a check at most `max_age` old. Blocks for at most two probes: the current
  // probe and the next.
  [[nodiscard]] Status check(std::chrono::milliseconds max_age) override;
  // Returns the last result; nullopt before the first. Thread-safe.
  [[nodiscard]] std::optional<Status> last() const;
  // Returns whether this process has ever seen approvals guarded.
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
