// Takes the taint out-of-service of ours off again: once the Node is Ready, and where no
// Remediation of it is open. Other people's taints of that key stay.
#pragma once

#include "core/kube/api.h"
#include "core/model/permit.h"
#include "remediator/records/cluster_view.h"

namespace gpuward::remediator {

// In each slow round of the leader. An error: a node could not be read or changed; the next round
// tries again. Where `permit` says no, nothing is changed.
[[nodiscard]] Status take_off_out_of_service(kube::Api& api, const ClusterView& view,
                                             const Permit& permit);

}  // namespace gpuward::remediator
