// `gpuward-remediator explain NODE`: the Remediations of a node for people: evidence, rule, steps.
// Reads the same record as the audit trail.
#pragma once

#include <span>
#include <string>

#include "core/model/result.h"
#include "core/runtime/clock.h"
#include "remediator/flags.h"
#include "remediator/policy/remediation.h"

namespace gpuward::remediator {

// Newest first, as given.
[[nodiscard]] std::string explain(const std::string& node,
                                  std::span<const Remediation> remediations);

// Reads them from the API server that the flags name.
[[nodiscard]] Result<std::string> explain_node(const Flags& flags, Clock& clock);

}  // namespace gpuward::remediator
