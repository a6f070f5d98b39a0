// Finds replacements in the ClusterView, and reads their claims from the API server before any
// decision depends on them. Made by the composition root for the step verify.
#pragma once

#include <string>
#include <vector>

#include "remediator/cluster/cluster_view.h"
#include "remediator/cluster/remediation_store.h"
#include "remediator/cluster/replacements.h"

namespace gpuward::remediator {

// Thread-safe.
class KnownReplacements final : public Replacements {
 public:
  // The arguments must outlive this object.
  KnownReplacements(const ClusterView& view, RemediationStore& store)
      : view_(view), store_(store) {}
  [[nodiscard]] std::vector<Newcomer> newcomers(const std::string& remediation,
                                                WallTime since) const override;
  [[nodiscard]] Result<std::vector<ReplacementClaim>> claims_on(
      const std::string& node_uid, const std::string& remediation) override;

 private:
  const ClusterView& view_;
  RemediationStore& store_;
};

}  // namespace gpuward::remediator
