// A real kube-apiserver proves that the manifests grant only needed permissions: its audit log has
// the programs' requests, and a role that loses a verb must refuse one of them. Used by the control
// plane tests of both programs.
#pragma once

#include <compare>
#include <set>
#include <string>
#include <vector>

#include "core/model/result.h"
#include "tests/support/control_plane.h"
#include "tests/support/temp_dir.h"

namespace gpuward::support {

// One request in RBAC's terms; the namespace is empty for cluster-scoped objects, and the name for
// requests without one, such as a list.
struct AskedRight {
  std::string user, verb, group, resource, subresource, ns, name;
  auto operator<=>(const AskedRight&) const = default;
};

class RightsAudit {
 public:
  // Audits the requests of these users.
  explicit RightsAudit(const std::vector<std::string>& users);
  // For ControlPlaneOptions; the audit must outlive the control plane.
  [[nodiscard]] std::vector<std::string> apiserver_flags() const;

  // The requests so far, without those about one's own permissions, which every user may send.
  [[nodiscard]] std::set<AskedRight> asked() const;
  // The audit's lines about refused requests, apart from dry runs that an admission policy refused.
  [[nodiscard]] std::vector<std::string> refused() const;

 private:
  TempDir folder_;
};

// Whether it is granted now: the API server applies new roles a moment after it has accepted them.
// Asks as the admin, so that no audit has the request.
[[nodiscard]] bool is_soon_allowed(const ControlPlane& plane, const AskedRight& right);

// Removes each verb of each rule from the role (a path from "/apis/...") and asks the API server
// whether it still allows all of `asked`. Returns the verbs for which it does: they are granted
// without need. Restores the role.
[[nodiscard]] Result<std::vector<std::string>> needless_verbs(const ControlPlane& plane,
                                                              const std::string& role_path,
                                                              const std::set<AskedRight>& asked);

}  // namespace gpuward::support
