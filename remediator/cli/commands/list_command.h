// `gpuwardctl list`: the Remediations as kubectl would list them, only open ones unless the flags
// say otherwise, and the excluded nodes. Used by cli/ctl/commands.cpp.
#pragma once

#include <expected>
#include <string>

#include "core/kube/api.h"
#include "core/model/result.h"
#include "core/runtime/clock.h"
#include "remediator/cli/commands/command_flags.h"

namespace gpuward::remediator {

struct RemediationList {
  std::string text;
  std::string ageless;  // the text at a fixed time: it changes only with the Remediations
};

// kInvalid if --sort-by or --selector is malformed.
[[nodiscard]] Result<RemediationList> list_remediations(const CommandFlags& flags, kube::Api& api,
                                                        Clock& clock);

// Returns the error for people: for a cluster without gpuward it says what is missing.
[[nodiscard]] std::unexpected<Error> unreadable_remediations(const Error& error);

}  // namespace gpuward::remediator
