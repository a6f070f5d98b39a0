// What a program has written, kept beside the results for whoever has to look closer or open a
// ticket: RESULTS_DIR/dcgm-l2-raw.json and the like, by the names of the suite that gpuward
// replaces. Used by the checks that run programs.
#pragma once

#include <string>
#include <string_view>

#include "exporter/checks/check/check_settings.h"

namespace gpuward::exporter {

// Does nothing without a results_dir. Behind the details of a result: " (dcgm-l2-raw.json)" where
// it is kept, why not where it could not be.
[[nodiscard]] std::string keep_evidence(const CheckSettings& settings, std::string_view name,
                                        std::string_view output);

}  // namespace gpuward::exporter
