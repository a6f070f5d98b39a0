// Sees whether approvals are guarded by what the API server refuses: two Remediations that it is
// asked to make in a dry run, each against one of the two policies. That changes nothing, and takes
// no right that the remediator does not have anyhow. The policies are in force a moment after they
// were applied, and each server behind the address knows them by itself.
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
  // Both must outlive it. `api` should have a short deadline, and not be fenced: each replica looks
  // for itself.
  GuardProbe(kube::Api& api, Clock& clock) : api_(api), clock_(clock) {}

  // Blocks for two probes at most: the one under way and the next.
  [[nodiscard]] Status check(std::chrono::milliseconds max_age) override;
  // What was seen last; nullopt before the first time. Any thread.
  [[nodiscard]] std::optional<Status> last() const;
  // Whether approvals were ever seen to be guarded in the life of this process.
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
