// Replacements without the claims of other Remediations. Shows what the claims prevent: two
// Remediations count the same node.
#pragma once

#include "remediator/cluster/replacements.h"

namespace gpuward::remediator::simulation {

class ForgetsClaims final : public Replacements {
 public:
  explicit ForgetsClaims(Replacements& replacements) : replacements_(replacements) {}
  [[nodiscard]] std::vector<Newcomer> newcomers(const std::string& remediation,
                                                WallTime since) const override {
    auto all = replacements_.newcomers(remediation, since);
    for (Newcomer& newcomer : all) newcomer.claims.clear();
    return all;
  }
  [[nodiscard]] Result<std::vector<ReplacementClaim>> claims_on(const std::string&,
                                                                const std::string&) override {
    return std::vector<ReplacementClaim>();
  }

 private:
  Replacements& replacements_;
};

}  // namespace gpuward::remediator::simulation
