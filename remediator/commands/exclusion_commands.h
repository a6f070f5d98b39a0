// `gpuwardctl exclude NAME`, `exclusions list|remove|import`: what people keep gpuward off for a
// while. Used by main().
#pragma once

#include <string>

#include "core/kube/api.h"
#include "core/model/result.h"
#include "core/runtime/clock.h"
#include "remediator/commands/command_flags.h"

namespace gpuward::remediator {

// What is to be printed, or why it did not work. kNotFound for a name that no node and no instance
// has; removing what is not excluded succeeds.
[[nodiscard]] Result<std::string> list_exclusions(const CommandFlags& flags, kube::Api& api,
                                                  Clock& clock);
[[nodiscard]] Result<std::string> add_exclusion(const CommandFlags& flags, kube::Api& api,
                                                Clock& clock);
[[nodiscard]] Result<std::string> remove_exclusion(const CommandFlags& flags, kube::Api& api,
                                                   Clock& clock);
// All of the file or nothing. What is excluded longer already stays so.
[[nodiscard]] Result<std::string> import_exclusions(const CommandFlags& flags, kube::Api& api,
                                                    Clock& clock);

}  // namespace gpuward::remediator
