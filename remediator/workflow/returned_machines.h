// Machines that come back under a new Node although a Remediation had given them up: their Node was
// deleted, by whomever, and nothing has proven that the machine went with it. Their kubelet
// registers them again without taint or cordon. Each gets a Remediation of its own at once.
#pragma once

#include <chrono>

#include "core/model/result.h"
#include "core/runtime/clock.h"
#include "remediator/sources/intake.h"
#include "remediator/workflow/cluster_view.h"

namespace gpuward::remediator {

inline constexpr const char* kReturnedAlert = "GpuwardMachineReturned";

class ReturnedMachines {
 public:
  // All must outlive it.
  ReturnedMachines(const ClusterView& view, Intake& intake, Clock& clock)
      : view_(view), intake_(intake), clock_(clock) {}

  // Looks at all nodes; opens what is missing, once a node. By the replica that leads, any thread.
  [[nodiscard]] Status take_in();

 private:
  const ClusterView& view_;
  Intake& intake_;
  Clock& clock_;
};

}  // namespace gpuward::remediator
