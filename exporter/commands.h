// The commands of gpuward-exporter that run to their end instead of serving: check, sweep,
// quarantine. Each puts together what it needs; SIGTERM and SIGINT end them in good order. Called
// by main().
#pragma once

#include "exporter/flags.h"

namespace gpuward::exporter {

// Exit codes: check_command.h.
[[nodiscard]] int check_command(const Flags& flags);
// 0: no node failed. 1: the sweep could not do its work, or a node failed. 2: wrong settings.
[[nodiscard]] int sweep_command(const Flags& flags);
// 0: the node may return to service. 1: it may not, or nobody knows. 2: wrong settings.
[[nodiscard]] int quarantine_command(const Flags& flags);

}  // namespace gpuward::exporter
