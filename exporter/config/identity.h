// The identity of this program, by the flags and the machine. Shared by the serving exporter and
// its commands.
#pragma once

#include <string>

#include "core/runtime/clock.h"
#include "exporter/config/flags.h"
#include "exporter/config/settings.h"
#include "exporter/host/host_paths.h"
#include "exporter/host/machine.h"

namespace gpuward::exporter {

// Returns "unknown" if the kernel has no name.
[[nodiscard]] std::string host_name();
// Returns the node's name in Kubernetes, else the host's name.
[[nodiscard]] std::string node_name(const Flags& flags);
// Returns a name that no other run of a command has.
[[nodiscard]] std::string owner_of_run(const Clock& clock);
// Returns "gpuward-exporter/VERSION".
[[nodiscard]] std::string user_agent();
// Returns the trees of the machine. Simulated GPUs are not on its bus, and its sysfs would
// contradict them, so it is left out then unless a flag gives one.
[[nodiscard]] HostPaths node_trees(const Flags& flags);
// Returns the firmware's data; nothing if the GPUs are simulated, because they are not in this
// machine.
[[nodiscard]] Machine machine_of(const Flags& flags);
[[nodiscard]] SettingsSources settings_sources(const Flags& flags);
// Returns the settings, with the flags that override them.
[[nodiscard]] Result<Settings> read_settings(const Flags& flags);

}  // namespace gpuward::exporter
