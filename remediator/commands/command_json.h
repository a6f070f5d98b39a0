// What the commands print for programs, as JSON documents; keys are those of the resources. Pure;
// used by the commands about remediations, exclusions and the breaker.
#pragma once

#include <span>
#include <string>

#include "core/kube/objects.h"
#include "core/runtime/json.h"
#include "remediator/budgets/ledger.h"
#include "remediator/commands/excluded.h"

namespace gpuward::remediator {

// A list as `kubectl get remediations -o json` prints it: whole objects, but for the bookkeeping of
// who has written which field.
[[nodiscard]] std::string list_json(std::span<const kube::CustomObject> objects);
// {"node", "excluded": why, null where it is not, "disagrees": how the node and the record of it
// do, null where they do not, "remediations": [whole objects]}.
[[nodiscard]] std::string explanation_json(const std::string& node, const std::string& excluded,
                                           const std::string& disagrees,
                                           std::span<const kube::CustomObject> objects);
// {"open", "since": null where it was never touched, "why", "by"}.
[[nodiscard]] std::string breaker_json(const Breaker& breaker);
// [{"name", "since": null where that is not known, "until": null for what has no end, "reason",
// "by"}].
[[nodiscard]] Json exclusion_items(const Excluded& excluded);
// {"items": these}.
[[nodiscard]] std::string exclusions_json(const Excluded& excluded);

}  // namespace gpuward::remediator
