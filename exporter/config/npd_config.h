// Reads the unchanged configuration of node-problem-detector (--npd.config): its custom plug-ins
// become checks.programs, and its rules on the kernel log become kernel_log.rules. Used by the
// settings.
#pragma once

#include <filesystem>
#include <vector>

#include "core/model/result.h"

namespace gpuward::exporter {

struct Settings;

// Reads files, or the *.json files of folders, and appends their programs and rules to those of
// `settings`. kInvalid names the file and the rule that is wrong, and leaves `settings` unchanged.
[[nodiscard]] Status add_npd_configs(const std::vector<std::filesystem::path>& places,
                                     Settings& settings);

}  // namespace gpuward::exporter
