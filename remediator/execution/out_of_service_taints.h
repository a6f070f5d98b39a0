// Removes gpuward's out-of-service taint: once the Node is Ready, or if no Remediation of it is
// open. Taints of that key with another value stay.
#pragma once

#include "core/kube/api.h"
#include "core/model/permit.h"
#include "remediator/records/cluster_view.h"

namespace gpuward::remediator {

// Called in each slow round of the leader. An error: a node could not be read or changed; the next
// round tries again. If `permit` refuses, nothing is changed.
[[nodiscard]] Status take_off_out_of_service(kube::Api& api, const ClusterView& view,
                                             const Permit& permit);

}  // namespace gpuward::remediator
