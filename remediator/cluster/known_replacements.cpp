#include "remediator/cluster/known_replacements.h"

#include <map>

#include "remediator/cluster/view_queries.h"

namespace gpuward::remediator {

std::vector<Newcomer> KnownReplacements::newcomers(const std::string& remediation,
                                                   WallTime since) const {
  std::vector<Newcomer> all;
  std::map<std::string, std::size_t> by_uid;  // place in `all`
  for (auto& node : nodes_since(view_, since)) {
    by_uid.emplace(node->meta.uid, all.size());
    all.push_back({.node = std::move(node)});
  }
  if (all.empty()) return all;
  for_each_remediation(view_, [&](const Remediation& one) {
    if (one.open()) {
      if (const auto bad = by_uid.find(one.node_uid); bad != by_uid.end())
        all[bad->second].is_bad = true;
    }
    const auto claim = claim_of(one);
    if (!claim || one.name == remediation) return;
    if (const auto counted = by_uid.find(claim->node_uid); counted != by_uid.end())
      all[counted->second].claims.push_back(*claim);
  });
  return all;
}

Result<std::vector<ReplacementClaim>> KnownReplacements::claims_on(const std::string& node_uid,
                                                                   const std::string& remediation) {
  const auto all = store_.list_all();
  if (!all) return std::unexpected(all.error());
  std::vector<ReplacementClaim> claims;
  for (const Remediation& one : *all) {
    const auto claim = claim_of(one);
    if (claim && claim->node_uid == node_uid && one.name != remediation) claims.push_back(*claim);
  }
  return claims;
}

}  // namespace gpuward::remediator
