// Operators act on one node by the command line: `approve NODE TOKEN`, `pause|resume|cancel NODE`,
// `machine-replaced NODE`; and on the breaker: `breaker [close]`. A command about a node writes an
// annotation on its open Remediation, as `kubectl annotate` would, under the name and the rights of
// the caller.
#pragma once

#include <span>
#include <string>

#include "core/kube/api.h"
#include "core/model/result.h"
#include "core/runtime/clock.h"
#include "remediator/commands/command_flags.h"
#include "remediator/model/remediation.h"

namespace gpuward::remediator {

// Of the node in the flags; what to print, also where it stands so already. kNotFound: the node has
// no open Remediation; cancelling one that is closed succeeds.
// approve_step: kInvalid where the token is not the one that is asked for, or nothing waits for an
// approval.
[[nodiscard]] Result<std::string> approve_step(const CommandFlags& flags, kube::Api& api,
                                               Clock& clock);
[[nodiscard]] Result<std::string> pause_node(const CommandFlags& flags, kube::Api& api,
                                             Clock& clock);
[[nodiscard]] Result<std::string> resume_node(const CommandFlags& flags, kube::Api& api,
                                              Clock& clock);
[[nodiscard]] Result<std::string> cancel_node(const CommandFlags& flags, kube::Api& api,
                                              Clock& clock);
[[nodiscard]] Result<std::string> note_machine_replaced(const CommandFlags& flags, kube::Api& api,
                                                        Clock& clock);

// What cancel_node() and note_machine_replaced() would do. Nothing is written; the same errors.
[[nodiscard]] Result<Foreseen> foresee_cancel(const CommandFlags& flags, kube::Api& api,
                                              Clock& clock);
[[nodiscard]] Result<Foreseen> foresee_machine_replaced(const CommandFlags& flags, kube::Api& api,
                                                        Clock& clock);

// kNotFound where there is no ledger.
[[nodiscard]] Result<std::string> show_breaker(const CommandFlags& flags, kube::Api& api,
                                               Clock& clock);
[[nodiscard]] Result<std::string> close_the_breaker(const CommandFlags& flags, kube::Api& api,
                                                    Clock& clock);
[[nodiscard]] Result<Foreseen> foresee_breaker_close(const CommandFlags& flags, kube::Api& api,
                                                     Clock& clock);

}  // namespace gpuward::remediator
