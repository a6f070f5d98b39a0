// `gpuward-exporter findings list|clear`: lists the findings of the exporter with this state
// folder, and asks it to clear those that are repaired, without a change of any counter.
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

// `wishes` must outlive the command.
FindingsCommands add_findings(CLI::App& app, FindingsWishes& wishes);
void add_findings_command(CLI::App& app, Commands& commands);

// Lists the last saved state, which is at most a second old while the exporter runs. Returns 0, or
// 1 if the state cannot be read.
[[nodiscard]] int run_list_findings(const std::filesystem::path& state_folder, OutputFormat format,
                                    std::ostream& out);

// Returns 0 if the exporter has accepted the request. 1: no such finding, or the request could not
// be written. 3: no exporter accepted it within five seconds; the next one to start will.
[[nodiscard]] int run_clear_findings(const std::filesystem::path& state_folder,
                                     const ClearRequest& request, Clock& clock, std::ostream& out);

}  // namespace gpuward::exporter
