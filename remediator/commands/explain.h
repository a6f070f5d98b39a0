// `gpuwardctl explain NODE`: the Remediations of a node for people: evidence, rule, steps,
// and where the node itself says something else.
// Reads the same record as the audit trail.
#pragma once

#include <span>
#include <string>

#include "core/kube/api.h"
#include "core/kube/objects.h"
#include "core/model/result.h"
#include "core/runtime/clock.h"
#include "remediator/budgets/ledger.h"
#include "remediator/commands/command_flags.h"
#include "remediator/model/remediation.h"

namespace gpuward::remediator {

// Which alerts of that Remediation are ignored while they go on, and why; empty where none is.
// `node`: of that name, as it is now.
[[nodiscard]] std::string ignored_alerts(const Remediation& remediation, const kube::Node& node);

// Newest first, as given. `ends_exclusion`: what ends the exclusion of the node; empty where it is
// not excluded.
[[nodiscard]] std::string explain(const std::string& node,
                                  std::span<const Remediation> remediations, WallTime now,
                                  const std::string& ends_exclusion = {});

// Where the node and the record do not say the same of taint and cordon, a line each; empty where
// they do.
[[nodiscard]] std::string explain_ownership(const kube::Node& node,
                                            std::span<const Remediation> remediations);

// Who holds the slots that an open Remediation of `node` waits for, a line each, those that need an
// operator first; empty where none waits for a slot. `all`: the Remediations of all nodes.
[[nodiscard]] std::string explain_slots(const std::string& node, const Result<Ledger>& ledger,
                                        std::span<const Remediation> all);

// Of the node in the flags.
[[nodiscard]] Result<std::string> explain_node(const CommandFlags& flags, kube::Api& api,
                                               Clock& clock);

}  // namespace gpuward::remediator
