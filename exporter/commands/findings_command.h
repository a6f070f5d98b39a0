// `gpuward-exporter findings list|clear`: says what the exporter of this state folder holds against
// the node, and asks it to forget what has been repaired, without touching a counter.
#pragma once

#include <filesystem>
#include <iosfwd>

#include "core/command_line/output.h"
#include "core/runtime/clock.h"
#include "exporter/config/flags.h"
#include "exporter/store/clear_request.h"

namespace gpuward::exporter {

struct FindingsWishes {
  OutputFormat format = OutputFormat::kTable;  // of list
  ClearRequest request;                        // of clear
};
struct FindingsCommands {
  const CLI::App* list;
  const CLI::App* clear;
};

// `wishes` has to outlive the command.
FindingsCommands add_findings(CLI::App& app, FindingsWishes& wishes);
void add_findings_command(CLI::App& app, Commands& commands);

// As of the last save, a second ago at most while the exporter runs. 0, or 1 where there is no
// state to be read.
[[nodiscard]] int run_list_findings(const std::filesystem::path& state_folder, OutputFormat format,
                                    std::ostream& out);

// 0: taken. 1: no such finding, or the request could not be left. 3: no exporter has taken it in
// five seconds; the next start will.
[[nodiscard]] int run_clear_findings(const std::filesystem::path& state_folder,
                                     const ClearRequest& request, Clock& clock, std::ostream& out);

}  // namespace gpuward::exporter
