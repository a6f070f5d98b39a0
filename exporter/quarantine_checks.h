// How a quarantine runs its checks: by the check command, whose line of JSON is read back as a
// result. Called by main() for `gpuward-exporter quarantine`.
#pragma once

#include <functional>
#include <iosfwd>
#include <stop_token>

#include "exporter/quarantine.h"

namespace gpuward::exporter {

// `check --check <number> --json --exclusive`: its output goes to `json`, its exit code comes back.
using CheckByNumber =
    std::function<int(int number, const std::stop_token& stop, std::ostream& json)>;

// Copies what the command prints to `out` as well.
[[nodiscard]] RunCheck run_by_command(CheckByNumber command, std::ostream& out);

}  // namespace gpuward::exporter
