#include "remediator/commands/runbook_command.h"

#include "remediator/page/runbooks.h"

namespace gpuward::remediator {

Result<std::string> run_runbook_command(const CommandFlags& flags, Clock& /*clock*/) {
  if (!flags.alert.empty()) {
    const Runbook* runbook = find_runbook(flags.alert);
    if (runbook != nullptr) return std::string(runbook->markdown);
    return fail(ErrorKind::kNotFound, "there is no runbook of the name " + flags.alert +
                                          "; `gpuwardctl runbook` lists them");
  }
  std::string names;
  for (const Runbook& runbook : all_runbooks()) names += std::string(runbook.alert) + "\n";
  return names;
}

}  // namespace gpuward::remediator
