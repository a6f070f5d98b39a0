// Takes the taint out-of-service of ours off again: once the Node is Ready, and where no open
// Remediation has put it there. Called in each slow round of the leader; other people's taints of
// that key stay.
#pragma once

#include "core/kube/api.h"
#include "core/model/permit.h"
#include "remediator/records/cluster_view.h"

namespace gpuward::remediator {

// All must outlive it. One thread.
class OutOfServiceTaints {
 public:
  OutOfServiceTaints(kube::Api& api, const ClusterView& view, Permit permit)
      : api_(api), view_(view), permit_(std::move(permit)) {}
  // An error: a node could not be read or changed; it is tried again in the next round.
  [[nodiscard]] Status take_off();

 private:
  [[nodiscard]] Status take_off(const std::string& name, bool has_open);

  kube::Api& api_;
  const ClusterView& view_;
  Permit permit_;
};

}  // namespace gpuward::remediator
