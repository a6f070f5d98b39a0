// The inputs of checks that a command runs, from the flags. Shared by the commands check and
// quarantine.
#pragma once

#include "core/runtime/clock.h"
#include "core/runtime/log.h"
#include "exporter/commands/run_checks.h"
#include "exporter/config/flags.h"
#include "exporter/config/settings.h"

namespace gpuward::exporter {

// Asks the API server for the node's type if neither settings nor firmware have it. Flags, clock
// and log must outlive it.
[[nodiscard]] CheckParts check_parts(const Flags& flags, Settings settings, Clock& clock, Log& log);

}  // namespace gpuward::exporter
