#include "remediator/cli/commands/runbook_command.h"

#include <algorithm>
#include <string_view>
#include <vector>

#include "core/command_line/closest.h"
#include "core/command_line/table.h"
#include "core/runtime/text.h"
#include "remediator/tell/page/runbooks.h"

namespace gpuward::remediator {
namespace {

std::vector<std::string> names_of_alerts() {
  std::vector<std::string> names;
  for (const Runbook& runbook : all_runbooks()) names.emplace_back(runbook.alert);
  return names;
}

}  // namespace

Result<std::string> run_runbook_command(const CommandFlags& flags, Clock& /*clock*/) {
  if (!flags.alert.empty()) {
    const Runbook* runbook = find_runbook(flags.alert);
    if (runbook != nullptr) return std::string(runbook->markdown);
    const std::string meant = did_you_mean(flags.alert, names_of_alerts());
    return fail(ErrorKind::kNotFound,
                "there is no runbook " + flags.alert +
                    (meant.empty() ? "; `gpuwardctl runbook` lists them" : meant));
  }
  if (flags.output == OutputFormat::kName) {
    std::string names;
    for (const std::string& name : names_of_alerts()) names += name + "\n";
    return names;
  }
  std::vector<std::vector<std::string>> rows{{"ALERT", "MEANING"}};
  for (const Runbook& runbook : all_runbooks())
    rows.push_back({std::string(runbook.alert), meaning_of(runbook)});
  return table_text(rows);
}

}  // namespace gpuward::remediator
