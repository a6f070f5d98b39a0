// Removes gpuward's out-of-service taint once the Node is Ready, or if the Node has no open
// Remediation. Taints with the same key and another value stay.
#pragma once

#include "core/kube/api.h"
#include "core/model/permit.h"
#include "remediator/cluster/cluster_view.h"

namespace gpuward::remediator {

// Removes such taints. Called in each slow round of the leader. After an error the next round tries
// again. If `permit` refuses, nothing is changed.
[[nodiscard]] Status take_off_out_of_service(kube::Api& api, const ClusterView& view,
                                             const Permit& permit);

}  // namespace gpuward::remediator
