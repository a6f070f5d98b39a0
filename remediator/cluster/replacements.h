// Which nodes were created since a machine was ended, and which Remediation counts which node as
// its replacement. If two Remediations want the same node, one Remediation must keep waiting, even
// if different replicas decide. So a Remediation writes a claim to the facts of its step before it
// relies on the node. It reads all claims again before it ends the wait. Used by the wait for a
// replacement; the ClusterView implements it.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/kube/objects.h"
#include "core/model/result.h"
#include "remediator/model/remediation.h"

namespace gpuward::remediator {

// Facts of a `verify` after a `terminate`: the name and UID of the node that counts as the
// replacement.
inline const std::string kReplacementFact = "replacement";
inline const std::string kReplacementUidFact = "replacementUID";

// A Remediation that counts a node as its replacement.
struct ReplacementClaim {
  std::string remediation;
  std::string node_uid;
  bool is_final = false;  // The wait of the Remediation is over.

  friend bool operator==(const ReplacementClaim&, const ReplacementClaim&) = default;
};

// Returns the node that the Remediation counts; nullopt if it counts no node or has stopped
// waiting. Pure.
[[nodiscard]] std::optional<ReplacementClaim> claim_of(const Remediation& remediation);

// Returns whether `remediation` has to leave the node to one of `others`. If both began to count
// the node at the same moment, exactly one of them keeps it. Pure.
[[nodiscard]] bool must_yield(const std::string& remediation,
                              const std::vector<ReplacementClaim>& others);

struct Newcomer {
  std::shared_ptr<const kube::Node> node;
  bool is_bad = false;                        // A Remediation about this node is open.
  std::vector<ReplacementClaim> claims = {};  // Claims of other Remediations on this node.
};

// The source of new nodes and claims. Thread-safe.
class Replacements {
 public:
  virtual ~Replacements() = default;
  // Returns the nodes created at `since` or later, as last seen, oldest first, with the claims of
  // Remediations other than `remediation`. Sends no request.
  [[nodiscard]] virtual std::vector<Newcomer> newcomers(const std::string& remediation,
                                                        WallTime since) const = 0;
  // Reads the claims of other Remediations than `remediation` on the node of that UID from the API
  // server.
  [[nodiscard]] virtual Result<std::vector<ReplacementClaim>> claims_on(
      const std::string& node_uid, const std::string& remediation) = 0;
};

}  // namespace gpuward::remediator
