// Who and where this program is, as the flags and the machine say. Shared by the serving exporter
// and its commands.
#pragma once

#include <string>

#include "core/runtime/clock.h"
#include "exporter/config/flags.h"
#include "exporter/config/settings.h"
#include "exporter/host/host_paths.h"
#include "exporter/host/machine.h"

namespace gpuward::exporter {

// "unknown" where the kernel does not say.
[[nodiscard]] std::string host_name();
// The node's name in Kubernetes, else that of the host.
[[nodiscard]] std::string node_name(const Flags& flags);
// Unlike that of any other run of a command.
[[nodiscard]] std::string owner_of_run(const Clock& clock);
// "gpuward-exporter/VERSION".
[[nodiscard]] std::string user_agent();
// The machine's trees. Simulated GPUs are not on its bus: its sysfs, which would speak against
// them, is then left out unless a flag names one.
[[nodiscard]] HostPaths node_trees(const Flags& flags);
// As its firmware says; nothing where the GPUs are simulated, which are not those of this machine.
[[nodiscard]] Machine machine_of(const Flags& flags);
[[nodiscard]] SettingsSources settings_sources(const Flags& flags);
// The settings with what flags have on top.
[[nodiscard]] Result<Settings> read_settings(const Flags& flags);

}  // namespace gpuward::exporter
