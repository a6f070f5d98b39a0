// `gpuwardctl explain NODE`: the Remediations of a node in words: evidence, rule, steps, and
// differences from the node itself. It reads the same record as the audit trail.
#pragma once

#include <span>
#include <string>

#include "core/kube/api.h"
#include "core/kube/objects.h"
#include "core/model/result.h"
#include "core/runtime/clock.h"
#include "remediator/cli/commands/command_flags.h"
#include "remediator/decide/budgets/ledger.h"
#include "remediator/model/remediation.h"

namespace gpuward::remediator {

// Returns which firing alerts of that Remediation are ignored and why; empty if none is. `node`:
// the current Node of that name.
[[nodiscard]] std::string ignored_alerts(const Remediation& remediation, const kube::Node& node);

// Prints the Remediations in the given order, newest first. `ends_exclusion`: the command that ends
// the node's exclusion; empty if it is not excluded.
[[nodiscard]] std::string explain(const std::string& node,
                                  std::span<const Remediation> remediations, WallTime now,
                                  const std::string& ends_exclusion = {});

// Returns one line for each difference between node and record about taint and cordon; empty if
// there is none.
[[nodiscard]] std::string explain_ownership(const kube::Node& node,
                                            std::span<const Remediation> remediations);

// Returns the holders of the slots that an open Remediation of `node` waits for, one line each,
// those that need an operator first; empty if none waits for a slot. `all`: the Remediations of all
// nodes.
[[nodiscard]] std::string explain_slots(const std::string& node, const Result<Ledger>& ledger,
                                        std::span<const Remediation> all);

// Explains the node of the flags.
[[nodiscard]] Result<std::string> explain_node(const CommandFlags& flags, kube::Api& api,
                                               Clock& clock);

}  // namespace gpuward::remediator
