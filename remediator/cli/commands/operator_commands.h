// Commands for operators on one node: `approve NODE TOKEN`, `pause|resume|cancel NODE`,
// `machine-replaced NODE`; and on the breaker: `breaker [close]`. A command about a node writes an
// annotation on its open Remediation, as `kubectl annotate` would, under the name and the rights of
// the caller.
#pragma once

#include <span>
#include <string>

#include "core/kube/api.h"
#include "core/model/result.h"
#include "core/runtime/clock.h"
#include "remediator/cli/commands/command_flags.h"
#include "remediator/model/remediation.h"

namespace gpuward::remediator {

// Each acts on the node of the flags and returns the text to print, also if there is nothing to
// change. kNotFound: the node has no open Remediation; cancelling a closed one succeeds.
// approve_step: kInvalid if the token is not the pending one, or no step waits for an approval.
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

// Return the consequences of cancel_node() and note_machine_replaced(). They write nothing and have
// the same errors.
[[nodiscard]] Result<Foreseen> foresee_cancel(const CommandFlags& flags, kube::Api& api,
                                              Clock& clock);
[[nodiscard]] Result<Foreseen> foresee_machine_replaced(const CommandFlags& flags, kube::Api& api,
                                                        Clock& clock);

// kNotFound if there is no ledger.
[[nodiscard]] Result<std::string> show_breaker(const CommandFlags& flags, kube::Api& api,
                                               Clock& clock);
[[nodiscard]] Result<std::string> close_the_breaker(const CommandFlags& flags, kube::Api& api,
                                                    Clock& clock);
[[nodiscard]] Result<Foreseen> foresee_breaker_close(const CommandFlags& flags, kube::Api& api,
                                                     Clock& clock);

}  // namespace gpuward::remediator
