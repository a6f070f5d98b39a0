// `gpuward-exporter inject`: asks the exporter that runs on this node for a drill, or to end those
// that run. Whoever may write into the state folder is root on this node already.
#pragma once

#include <filesystem>
#include <iosfwd>

#include "core/runtime/clock.h"
#include "exporter/config/flags.h"
#include "exporter/watch/drill_request.h"

namespace gpuward::exporter {

void add_inject_command(CLI::App& app, Commands& commands);

// Leaves the request, and prints the exporter's answer. Takes the request away again where none has
// answered it in five seconds.
[[nodiscard]] int run_inject(const std::filesystem::path& state_folder, const std::string& node,
                             const DrillRequest& request, Clock& clock, std::ostream& out);

}  // namespace gpuward::exporter
