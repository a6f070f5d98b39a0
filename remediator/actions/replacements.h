// Which nodes have come since a machine was ended, and who counts which of them as a replacement.
// Of one node for two machines one Remediation has to go on waiting, whichever process looks: a
// claim stands in the step's facts before anything rests on it, and nothing ends on it before all
// claims were read anew. Used by the wait for a replacement; the ClusterView implements it.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/kube/objects.h"
#include "core/model/result.h"
#include "remediator/model/remediation.h"

namespace gpuward::remediator {

// Facts of a verify after a terminate: the node that is counted as the replacement.
inline const std::string kReplacementFact = "replacement";
inline const std::string kReplacementUidFact = "replacementUID";

// A Remediation that counts a node.
struct ReplacementClaim {
  std::string remediation;
  std::string node_uid;
  bool is_final = false;  // its wait is over

  friend bool operator==(const ReplacementClaim&, const ReplacementClaim&) = default;
};

// The node that it counts; nullopt where it counts none, or has given up waiting. Pure.
[[nodiscard]] std::optional<ReplacementClaim> claim_of(const Remediation& remediation);

// Whether `remediation` has to leave the node to one of those others. Both may have begun to count
// it at the same moment: then one of them stays. Pure.
[[nodiscard]] bool must_yield(const std::string& remediation,
                              const std::vector<ReplacementClaim>& others);

struct Newcomer {
  std::shared_ptr<const kube::Node> node;
  bool is_bad = false;                        // a Remediation about it is open
  std::vector<ReplacementClaim> claims = {};  // of others than who asks
};

// Any thread.
class Replacements {
 public:
  virtual ~Replacements() = default;
  // The nodes made at `since` or later, as they were last seen, oldest first; for `remediation`.
  // Costs no request.
  [[nodiscard]] virtual std::vector<Newcomer> newcomers(const std::string& remediation,
                                                        WallTime since) const = 0;
  // The claims of others than `remediation` on the node of that UID, read anew.
  [[nodiscard]] virtual Result<std::vector<ReplacementClaim>> claims_on(
      const std::string& node_uid, const std::string& remediation) = 0;
};

}  // namespace gpuward::remediator
