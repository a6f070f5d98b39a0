// The admission policies of approvals (manifests/remediator-admission.yaml) in the fake: a user
// cannot write approved-by in another user's name, and a new Remediation must not contain an
// operator's annotations. The fake has no accounts: it assumes that only the remediator creates
// Remediations.
#pragma once

#include <string>

#include "core/runtime/json.h"
#include "tests/fakes/kube/failure.h"
#include "tests/fakes/kube/target.h"

namespace gpuward::fakes {

// Whether a write to `target` can contain any of that.
[[nodiscard]] bool may_approve(const Target& target);

// Checks a write to one of those targets; `before` is null for a new object. 403 with the text of a
// ValidatingAdmissionPolicy.
[[nodiscard]] Check check_approval(const std::string& user, const Target& target,
                                   const Json& before, const Json& body);

}  // namespace gpuward::fakes
