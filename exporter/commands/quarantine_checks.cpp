#include "exporter/commands/quarantine_checks.h"

#include <algorithm>
#include <ostream>
#include <sstream>
#include <string>
#include <utility>

#include "exporter/commands/result_line.h"

namespace gpuward::exporter {

RunCheck run_by_command(CheckByNumber command, std::ostream& out) {
  return [command = std::move(command), &out](int number,
                                              const std::stop_token& stop) -> Result<CheckResult> {
    std::stringstream printed;
    const int exit_code = command(number, stop, printed);
    out << printed.str() << std::flush;
    for (std::string line; std::getline(printed, line);) {
      if (auto result = parse_result_line(line)) return result;
    }
    return fail(ErrorKind::kInternal, "check " + std::to_string(number) + " exited with code " +
                                          std::to_string(exit_code) + " but without a result");
  };
}

RunCheck with_progress(RunCheck run, std::vector<NamedCheck> checks, ProgressLine& progress) {
  return [run = std::move(run), checks = std::move(checks), &progress](
             int number, const std::stop_token& stop) -> Result<CheckResult> {
    const auto named = std::ranges::find(checks, number, &NamedCheck::number);
    if (named != checks.end()) {
      const auto place = static_cast<std::size_t>(named - checks.begin()) + 1;
      progress.begin(check_words(named->name, place, checks.size()), named->limit);
    }
    return run(number, stop);
  };
}

}  // namespace gpuward::exporter
