// `gpuward-exporter preflight`: which checks can run in this image or on this node, by the programs
// that are installed (exporter/checks/preflight.h). Flags, examples and output of the command; used
// by the table of commands.
#pragma once

#include <iosfwd>
#include <span>
#include <string>
#include <vector>

#include "core/command_line/output.h"
#include "exporter/checks/check/check.h"
#include "exporter/config/flags.h"

namespace gpuward::exporter {

struct PreflightWishes {
  std::vector<std::string> checks{};  // numbers and names; none: all
  OutputFormat output = OutputFormat::kTable;
};

// 0: all can run. 1: at least one cannot. 2: a check of the request does not exist.
[[nodiscard]] int run_preflight(const PreflightWishes& wishes, const CheckSettings& settings,
                                std::ostream& out, std::ostream& err);

void add_preflight_command(CLI::App& app, Commands& commands);

}  // namespace gpuward::exporter
