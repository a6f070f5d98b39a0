// What operators add: programs of their own that are checks (checks.programs), and rules on lines
// of the kernel log (kernel_log.rules). Read by the settings.
#pragma once

#include <vector>

#include "core/runtime/yaml.h"
#include "exporter/checks/check/check_settings.h"
#include "exporter/kernel_log/line_rules.h"

namespace gpuward::exporter {

// Read `checks.programs` and `kernel_log.rules`; what is wrong is reported in the file.
void read_programs(const YamlMap& checks, std::vector<ProgramSettings>& programs);
void read_line_rules(const YamlMap& kernel_log, LineRules& rules);

}  // namespace gpuward::exporter
