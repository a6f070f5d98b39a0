// Which nodes have come since a machine was ended, and which Remediation counts which of them as a
// replacement. If two Remediations want one node, one of them has to keep waiting, regardless of
// the process that decides. So a Remediation writes a claim to the step's facts before it relies on
// it, and reads all claims again before it ends the wait. Used by the wait for a replacement; the
// ClusterView implements it.
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

// The node that it counts; nullopt if it counts none, or has stopped waiting. Pure.
[[nodiscard]] std::optional<ReplacementClaim> claim_of(const Remediation& remediation);

// Whether `remediation` has to leave the node to one of the others. If both began to count it at
// the same moment, one of them keeps it. Pure.
[[nodiscard]] bool must_yield(const std::string& remediation,
                              const std::vector<ReplacementClaim>& others);

struct Newcomer {
  std::shared_ptr<const kube::Node> node;
  bool is_bad = false;                        // a Remediation about it is open
  std::vector<ReplacementClaim> claims = {};  // of other Remediations
};

// Thread-safe.
class Replacements {
 public:
  virtual ~Replacements() = default;
  // Returns the nodes created at `since` or later, as last seen, oldest first; for `remediation`.
  // Costs no request.
  [[nodiscard]] virtual std::vector<Newcomer> newcomers(const std::string& remediation,
                                                        WallTime since) const = 0;
  // Returns the claims of other Remediations than `remediation` on the node of that UID, by a new
  // read.
  [[nodiscard]] virtual Result<std::vector<ReplacementClaim>> claims_on(
      const std::string& node_uid, const std::string& remediation) = 0;
};

}  // namespace gpuward::remediator
