// `gpu-reset`: resets all GPUs of this node once, while this node's exporter holds none of them.
// Called by the Job of the step gpu-reset.
#pragma once

#include <chrono>
#include <filesystem>
#include <iosfwd>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "core/model/gpu.h"
#include "core/runtime/clock.h"
#include "exporter/config/flags.h"

namespace gpuward::exporter {

void add_gpu_reset_command(CLI::App& app, Commands& commands);

struct GpuResetWish {
  std::string boot_id;           // the boot in which the reset was requested; empty: any
  std::optional<Vendor> vendor;  // nullopt: by the PCI bus
  std::chrono::seconds timeout{600};
  std::vector<std::string> pause_units;
  std::filesystem::path termination_log;  // empty: none
};

// kDone: the GPUs are reset, and the exporter has a request to clear the findings that a reset
// clears. Otherwise the exit code of the vendor's program, or kFailed: `out` has the reason and the
// processes that have a GPU open. kWrongUsage: the vendor is not known.
[[nodiscard]] int run_gpu_reset(const Flags& flags, const GpuResetWish& wish, Clock& clock,
                                const std::stop_token& stop, std::ostream& out);

}  // namespace gpuward::exporter
