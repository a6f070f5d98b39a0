// `gpuward-exporter inject`: asks the exporter on this node to start a drill, or to end the running
// ones. A user who can write to the state folder is already root on this node.
#pragma once

#include <filesystem>
#include <iosfwd>

#include "core/runtime/clock.h"
#include "exporter/config/flags.h"
#include "exporter/watch/drill_request.h"

namespace gpuward::exporter {

void add_inject_command(CLI::App& app, Commands& commands);

// Writes the request and prints the exporter's answer. Deletes the request if no exporter has
// answered it within five seconds.
[[nodiscard]] int run_inject(const std::filesystem::path& state_folder, const std::string& node,
                             const DrillRequest& request, Clock& clock, std::ostream& out);

}  // namespace gpuward::exporter
