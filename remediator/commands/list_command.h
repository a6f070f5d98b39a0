// `gpuwardctl list`: the Remediations as kubectl would list them, open ones alone unless the flags
// say otherwise, and which nodes are excluded. Used by ctl/commands.cpp.
#pragma once

#include <expected>
#include <string>

#include "core/kube/api.h"
#include "core/model/result.h"
#include "core/runtime/clock.h"
#include "remediator/commands/command_flags.h"

namespace gpuward::remediator {

struct RemediationList {
  std::string text;
  std::string ageless;  // the text as of a fixed time: it changes only with the Remediations
};

// kInvalid where --sort-by or --selector make no sense.
[[nodiscard]] Result<RemediationList> list_remediations(const CommandFlags& flags, kube::Api& api,
                                                        Clock& clock);

// The same error, for people: that of a cluster without gpuward names what is missing.
[[nodiscard]] std::unexpected<Error> unreadable_remediations(const Error& error);

}  // namespace gpuward::remediator
