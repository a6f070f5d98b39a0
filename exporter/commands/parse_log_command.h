// `gpuward-exporter parse-log`: prints which kernel-log lines of stdin gpuward would count
// (kernel_log/parse_log.h).
#pragma once

#include "exporter/config/flags.h"

namespace gpuward::exporter {

void add_parse_log_command(CLI::App& app, Commands& commands);

}  // namespace gpuward::exporter
