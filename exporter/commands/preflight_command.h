// `gpuward-exporter preflight`: which checks this image or node can run, by the programs that are
// there (exporter/checks/preflight.h). Its flags, its examples and what is printed; named by the
// table of commands.
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

// 0: all can run. 1: at least one cannot. 2: there is no such check.
[[nodiscard]] int run_preflight(const PreflightWishes& wishes, const CheckSettings& settings,
                                std::ostream& out, std::ostream& err);

void add_preflight_command(CLI::App& app, Commands& commands);

}  // namespace gpuward::exporter
