// Proof by a real kube-apiserver that what the manifests grant is needed: its audit log says what
// programs have asked for, and a role that loses a verb must refuse something of that. Used by the
// control plane tests of both programs.
#pragma once

#include <compare>
#include <set>
#include <string>
#include <vector>

#include "core/model/result.h"
#include "tests/support/control_plane.h"
#include "tests/support/temp_dir.h"

namespace gpuward::support {

// One request in the words of RBAC; the namespace is empty for what is in none, and the name for
// what has none, as a list.
struct AskedRight {
  std::string user, verb, group, resource, subresource, ns, name;
  auto operator<=>(const AskedRight&) const = default;
};

class RightsAudit {
 public:
  // Of what these users ask for.
  explicit RightsAudit(const std::vector<std::string>& users);
  // For ControlPlaneOptions; the audit must outlive the control plane.
  [[nodiscard]] std::vector<std::string> apiserver_flags() const;

  // So far, without the questions that everybody may ask about himself.
  [[nodiscard]] std::set<AskedRight> asked() const;
  // The audit's lines about what was refused, but for what admission policies have refused in a dry
  // run.
  [[nodiscard]] std::vector<std::string> refused() const;

 private:
  TempDir folder_;
};

// Whether it is granted by now: the API server learns of new roles a moment after it has taken
// them. Asked as admin, so that no audit has it.
[[nodiscard]] bool is_soon_allowed(const ControlPlane& plane, const AskedRight& right);

// Takes each verb of each rule away from the role (a path from "/apis/...") and asks the API server
// whether it would still allow all of `asked`. Returns the verbs for which it would: they are
// granted for nothing. The role is as it was afterwards.
[[nodiscard]] Result<std::vector<std::string>> needless_verbs(const ControlPlane& plane,
                                                              const std::string& role_path,
                                                              const std::set<AskedRight>& asked);

}  // namespace gpuward::support
