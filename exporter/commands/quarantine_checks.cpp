#include "exporter/commands/quarantine_checks.h"

#include <algorithm>
#include <ostream>
#include <sstream>
#include <string>
#include <thread>
#include <utility>

#include "exporter/commands/result_line.h"

namespace gpuward::exporter {
namespace {

constexpr std::chrono::seconds kBetweenQuestions{10};

}  // namespace

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

RunCheck until_asked_for_gpus(RunCheck run, AskingLabel asking_label, Clock& clock) {
  return [run = std::move(run), asking_label = std::move(asking_label), &clock](
             int number, const std::stop_token& stop) -> Result<CheckResult> {
    std::stop_source ended;
    const std::stop_callback on_stop(stop, [&ended] { ended.request_stop(); });
    std::optional<std::string> label;  // only the thread uses it until it ends
    std::jthread lookout([&](const std::stop_token& over) {
      while (!label && clock.sleep_for(kBetweenQuestions, over)) label = asking_label();
      if (label) ended.request_stop();
    });
    auto result = run(number, ended.get_token());
    lookout.request_stop();
    lookout.join();
    if (label) return std::unexpected(blocked_by(*label));
    return result;
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
