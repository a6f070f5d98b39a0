// `node-reboot`: asks the systemd of this node for a restart, and makes sure that the machine
// restarts if systemd cannot. Called by the Job of the step reboot (`machines.job.reboot`), in a
// privileged container that sees the processes of the node.
//
// The shutdown ends the kubelet and the container at once, before the API server hears of either.
// So the command only starts a unit of the node's systemd that a shutdown does not stop
// (node_reboot_waiter.sh), and ends. The unit requests the reboot a little later.
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
  std::string boot_id;  // the boot in which the restart was requested
  // The times from the start of the unit to its request, from there to `systemctl reboot --force`,
  // from there to the SysRq keys, and between two keys. systemd itself forces a restart 30 min
  // after the request.
  std::chrono::seconds ask_after{15}, force_after{300}, keys_after{120}, key_gap{10};
};

// kDone: the unit runs, or the kernel has the request, and the machine restarts. kFailed: the
// command did nothing, because the machine has booted since, or a stop was requested. kWrongUsage:
// it cannot work here; `out` has the reason. kCouldNotTell: the machine may restart later all the
// same, because the unit may be running, or the kernel took some of the keys.
[[nodiscard]] int run_node_reboot(const HostPaths& host, const NodeRebootWish& wish, Clock& clock,
                                  const std::stop_token& stop, std::ostream& out);

}  // namespace gpuward::exporter
