// The configuration of node-problem-detector as it is (--npd.config): its custom plug-ins become
// checks.programs, its rules on the kernel log become kernel_log.rules. Read by the settings.
#pragma once

#include <filesystem>
#include <vector>

#include "core/model/result.h"

namespace gpuward::exporter {

struct Settings;

// Files, or folders with files *.json. Their programs and rules come after those that `settings`
// has. kInvalid says which file and which rule is wrong, and `settings` is as before.
[[nodiscard]] Status add_npd_configs(const std::vector<std::filesystem::path>& places,
                                     Settings& settings);

}  // namespace gpuward::exporter
