// What people do by the command line: `list`, `approve NODE TOKEN`, `pause|resume|cancel NODE`,
// `machine-replaced NODE`, `breaker [close]`. What is said of a node is an annotation on its open
// Remediation, as `kubectl annotate` would write it, under the name and the rights of whoever
// calls.
#pragma once

#include <span>
#include <string>

#include "core/kube/api.h"
#include "core/model/result.h"
#include "core/runtime/clock.h"
#include "remediator/config/flags.h"
#include "remediator/model/remediation.h"

namespace gpuward::remediator {

// One line a Remediation, open ones first, then the newest.
[[nodiscard]] std::string list_text(std::span<const Remediation> remediations, WallTime now);

// Carries out flags.command with the node and token in the flags; what to print. kNotFound: the
// node has no open Remediation; kInvalid: the token is not the one that is asked for, or nothing
// waits for an approval.
[[nodiscard]] Result<std::string> carry_out(const Flags& flags, kube::Api& api, Clock& clock);

// The same against the API server that the flags name.
[[nodiscard]] Result<std::string> run_operator_command(const Flags& flags, Clock& clock);

}  // namespace gpuward::remediator
