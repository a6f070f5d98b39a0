// The output of commands for programs, as JSON documents with the keys of the resources. Pure; used
// by the commands about remediations, exclusions and the breaker.
#pragma once

#include <span>
#include <string>

#include "core/kube/objects.h"
#include "core/runtime/json.h"
#include "remediator/decide/budgets/ledger.h"
#include "remediator/tell/texts/excluded.h"

namespace gpuward::remediator {

// Returns a list as `kubectl get remediations -o json` prints it: whole objects, without
// managedFields.
[[nodiscard]] std::string list_json(std::span<const kube::CustomObject> objects);
// Returns {"node", "excluded": reason or null, "disagrees": how the node and its record differ or
// null, "remediations": [whole objects]}.
[[nodiscard]] std::string explanation_json(const std::string& node, const std::string& excluded,
                                           const std::string& disagrees,
                                           std::span<const kube::CustomObject> objects);
// Returns {"open", "since": null if it was never changed, "why", "by"}.
[[nodiscard]] std::string breaker_json(const Breaker& breaker);
// Returns [{"name", "since": null if unknown, "until": null if there is no end, "reason", "by"}].
[[nodiscard]] Json exclusion_items(const Excluded& excluded);
// Returns {"items": [...]} with exclusion_items().
[[nodiscard]] std::string exclusions_json(const Excluded& excluded);

}  // namespace gpuward::remediator
