// `gpuward-remediator exclusions list|add|remove|import`: what people keep gpuward off for a while.
// Used by main().
#pragma once

#include <string>

#include "core/kube/api.h"
#include "core/model/result.h"
#include "core/runtime/clock.h"
#include "remediator/config/flags.h"

namespace gpuward::remediator {

// What is to be printed, or why it did not work.
[[nodiscard]] Result<std::string> run_exclusion_command(const Flags& flags, Clock& clock);

// The same with an API at hand.
[[nodiscard]] Result<std::string> carry_out_exclusion(const Flags& flags, kube::Api& api,
                                                      Clock& clock);

}  // namespace gpuward::remediator
