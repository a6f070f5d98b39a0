// The admission policies of approvals (manifests/remediator-admission.yaml) as the fake has them:
// nobody writes approved-by in another's name, and a Remediation is made with nothing that an
// operator says. The fake knows no accounts: only the remediator makes Remediations.
#pragma once

#include <string>

#include "core/runtime/json.h"
#include "tests/fakes/kube/failure.h"
#include "tests/fakes/kube/target.h"

namespace gpuward::fakes {

// Whether anything of that can be in a write to `target`.
[[nodiscard]] bool may_approve(const Target& target);

// Of such a target. `before` is null where the object is to be made. 403 in the words of a
// ValidatingAdmissionPolicy.
[[nodiscard]] Check check_approval(const std::string& user, const Target& target,
                                   const Json& before, const Json& body);

}  // namespace gpuward::fakes
