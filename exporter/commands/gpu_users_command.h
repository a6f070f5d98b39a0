// `gpuward-exporter gpu-users`: lists the processes that have a GPU of this node open, to explain a
// reset that failed: nvidia-smi's own list has neither telemetry nor the persistence daemon, and
// amdgpu resets a GPU in spite of its users. Called by the Jobs of the step gpu-reset.
#pragma once

#include <cstdint>
#include <iosfwd>
#include <string>

#include "exporter/config/flags.h"
#include "exporter/host/processes.h"

namespace gpuward::exporter {

void add_gpu_users_command(CLI::App& app, Commands& commands);

// Returns one line: "the GPUs are open in dcgm-exporter (pid 4711, pod monitoring/dcgm-x7k2p,
// container exporter: nvidia0, nvidia1), ...".
[[nodiscard]] std::string gpu_users_text(const HostPaths& host, const DeviceUsers& users);

enum class GpuUsersWish : std::uint8_t {
  kSay,         // returns 0 always
  kRequireNone  // kFailed if there is another user than gpuward's exporter, kCouldNotTell without a
                // full view
};

[[nodiscard]] int run_gpu_users(const HostPaths& host, GpuUsersWish wish, std::ostream& out);

}  // namespace gpuward::exporter
