// Keeps the output of a program beside the results for closer analysis or a support ticket:
// RESULTS_DIR/dcgm-l2-raw.json and the like, under the names of the suite that gpuward replaces.
// Used by the checks that run programs.
#pragma once

#include <string>
#include <string_view>

#include "exporter/checks/check/check_settings.h"

namespace gpuward::exporter {

// Does nothing without a results_dir. Returns the text to append to the details of a result: "
// (dcgm-l2-raw.json)", or the reason if the output could not be kept.
[[nodiscard]] std::string keep_evidence(const CheckSettings& settings, std::string_view name,
                                        std::string_view output);

}  // namespace gpuward::exporter
