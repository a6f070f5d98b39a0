// `node-reboot`: asks the systemd of this node for a restart, and sees to it that the machine
// restarts if systemd cannot. Called by the Job of the step reboot (`machines.job.reboot`), in a
// privileged container that sees the processes of the node.
//
// A container is ended by the shutdown that it has asked for. So a unit of the node's systemd,
// which a shutdown does not stop, watches first (node_reboot_waiter.sh); then systemd is asked.
#pragma once

#include <chrono>
#include <iosfwd>
#include <stop_token>
#include <string>

#include "core/runtime/clock.h"
#include "exporter/config/flags.h"

namespace gpuward::exporter {

void add_node_reboot_command(CLI::App& app, Commands& commands);

struct NodeRebootWish {
  std::string boot_id;  // of the boot that the restart was ordered in
  // Since the request until `systemctl reboot --force`, from there until the SysRq keys, and
  // between two keys. systemd itself forces a restart 30 min after the request.
  std::chrono::seconds force_after{300}, keys_after{120}, key_gap{10};
};

// kDone: systemd was asked, or the SysRq keys were pressed; the machine restarts. kFailed: nothing
// was done, because the machine has booted since, or a stop was requested. kWrongUsage: nothing can
// be done here; `out` says why. kCouldNotTell: no restart was asked for, and it is not known
// whether the unit runs, which restarts the machine later.
[[nodiscard]] int run_node_reboot(const HostPaths& host, const NodeRebootWish& wish, Clock& clock,
                                  const std::stop_token& stop, std::ostream& out);

}  // namespace gpuward::exporter
