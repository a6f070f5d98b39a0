#include "exporter/checks/preflight.h"

namespace gpuward::exporter {

std::vector<Preflight> preflight(std::span<const CheckEntry> checks,
                                 const CheckSettings& settings) {
  std::vector<Preflight> all;
  for (const CheckEntry& entry : checks) {
    const CheckPrograms programs = entry.programs ? entry.programs(settings) : CheckPrograms{};
    all.push_back({entry.name, find_programs(programs, settings.tool_dirs)});
  }
  return all;
}

void log_preflight(std::span<const CheckEntry> checks, const CheckSettings& settings, Log& log) {
  std::string can_run, cannot_run;
  for (const Preflight& each : preflight(checks, settings)) {
    std::string& list = each.programs.can_run() ? can_run : cannot_run;
    if (!list.empty()) list += "; ";
    list += each.check;
    if (!each.programs.can_run()) list += " lacks " + each.programs.missing;
  }
  if (cannot_run.empty()) return log.info("All checks can run", {{"checks", can_run}});
  log.info("Programs are missing, some checks cannot run",
           {{"cannot_run", cannot_run}, {"can_run", can_run}});
}

}  // namespace gpuward::exporter
