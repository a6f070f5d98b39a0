// `gpuwardctl exclude NAME`, `exclusions list|remove|import`: exclusions by operators, for a
// limited time. Used by cli/ctl/commands.cpp.
#pragma once

#include <string>

#include "core/kube/api.h"
#include "core/model/result.h"
#include "core/runtime/clock.h"
#include "remediator/cli/commands/command_flags.h"

namespace gpuward::remediator {

// Each returns the text to print, or an error. kNotFound for a name of no node and no instance;
// removing a missing exclusion succeeds.
[[nodiscard]] Result<std::string> list_exclusions(const CommandFlags& flags, kube::Api& api,
                                                  Clock& clock);
[[nodiscard]] Result<std::string> add_exclusion(const CommandFlags& flags, kube::Api& api,
                                                Clock& clock);
[[nodiscard]] Result<std::string> remove_exclusion(const CommandFlags& flags, kube::Api& api,
                                                   Clock& clock);
// Imports the whole file or nothing. An exclusion that already lasts longer stays.
[[nodiscard]] Result<std::string> import_exclusions(const CommandFlags& flags, kube::Api& api,
                                                    Clock& clock);

}  // namespace gpuward::remediator
