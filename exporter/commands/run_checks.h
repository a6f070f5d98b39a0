// `gpuward-exporter check`: runs checks of the suite now, in this process, and prints their
// results; replaces gpu-healthcheck.sh. Called by main().
#pragma once

#include <filesystem>
#include <functional>
#include <iosfwd>
#include <memory>
#include <stop_token>
#include <string>

#include "core/runtime/clock.h"
#include "exporter/commands/check_selection.h"
#include "exporter/config/settings.h"
#include "exporter/gpu/report/source.h"
#include "exporter/host/host_paths.h"
#include "exporter/host/machine.h"

namespace gpuward::exporter {

// The inputs of the command.
struct CheckParts {
  Policy policy;
  HostPaths host;
  std::string host_name, instance_type, boot_id;
  Machine machine;
  // The latched findings of this node's exporter. If it has none, the command reads the kernel log.
  std::filesystem::path state_path;
  std::function<Result<std::unique_ptr<GpuSource>>()> make_gpu_source;
  std::span<const CheckEntry> checks = all_checks();
};

// 0: each check passed, warned or was skipped. 1: at least one failed. 2: the request is wrong. 3:
// none failed, but at least one was inconclusive. A stop counts as inconclusive.
[[nodiscard]] int run_checks(const CheckRequest& request, const CheckParts& parts, Clock& clock,
                             const std::stop_token& stop, std::ostream& out, std::ostream& err);

}  // namespace gpuward::exporter
