// gpuwardctl, also kubectl-gpuward: people query and control gpuward with it, with their own
// rights.
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <iostream>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <thread>
#include <variant>

#include "core/command_line/output.h"
#include "core/runtime/clock.h"
#include "core/runtime/signals.h"
#include "core/runtime/text.h"
#include "remediator/cli/ctl/colours.h"
#include "remediator/cli/ctl/parse.h"
#include "remediator/cli/ctl/watch.h"

namespace {

using gpuward::ErrorKind;
using gpuward::OutputFormat;
using gpuward::remediator::CtlLine;

constexpr int kFailed = 1;
constexpr int kWrongUsage = 2;
constexpr int kUnconfirmed = 3;
constexpr std::string_view kClearScreen = "\033[H\033[2J";
// A request that is running at Ctrl-C only reads.
constexpr std::chrono::milliseconds kStopWithin{200};

int complain(const gpuward::Error& error) {
  std::cerr << "error: " << gpuward::escaped_lines(error.message) << "\n";
  return error.kind == ErrorKind::kInvalid || error.kind == ErrorKind::kNotFound ? kWrongUsage
                                                                                 : kFailed;
}

bool is_set(const char* variable) {
  const char* const value = std::getenv(variable);  // NOLINT(concurrency-mt-unsafe): at start
  return value != nullptr && *value != '\0';
}

bool is_terminal() { return ::isatty(STDOUT_FILENO) != 0; }

// Much of the text comes from the cluster: only gpuwardctl's own colours may reach the terminal.
bool print(const CtlLine& line, const std::string& text) {
  const std::string safe = gpuward::escaped_lines(text);
  const bool has_colours = line.command->has_colours && is_for_people(line.flags.output) &&
                           is_terminal() && !is_set("NO_COLOR");
  std::cout << (has_colours ? gpuward::remediator::coloured(safe) : safe) << std::flush;
  return std::cout.good();
}

bool is_answered_yes() {
  std::cout << "Continue? [y/N] " << std::flush;
  std::string answer;
  std::getline(std::cin, answer);
  return answer == "y" || answer == "yes";
}

// Prints the consequences of the command, and asks. Returns an exit code if that is all.
std::optional<int> ask_first(CtlLine& line, gpuward::Clock& clock) {
  const auto foreseen = line.command->foresee(line.flags, clock);
  if (!foreseen) return complain(foreseen.error());
  if (!print(line, foreseen->text)) return kFailed;
  if (line.flags.dry_run) return 0;
  if (!foreseen->is_any) return foreseen->all_done ? 0 : kFailed;
  if (!foreseen->remediation.empty()) line.flags.node = foreseen->remediation;
  if (!foreseen->changes.empty()) line.flags.allowed = foreseen->changes;
  if (line.flags.is_confirmed) return std::nullopt;
  if (::isatty(STDIN_FILENO) == 0) {
    std::cerr << "error: not confirmed, nothing was changed. Run on a terminal, or add --yes\n";
    return kUnconfirmed;
  }
  if (is_answered_yes()) return std::nullopt;
  std::cerr << "Nothing was changed.\n";
  return kUnconfirmed;
}

int run(CtlLine line) {
  gpuward::SystemClock clock;
  if (line.command->foresee != nullptr) {
    if (const auto exit_code = ask_first(line, clock)) return *exit_code;
  }
  const auto output = line.command->run(line.flags, clock);
  if (!output) return complain(output.error());
  return print(line, output->text) && output->all_done ? 0 : kFailed;
}

// On a terminal each output replaces the last one.
std::string_view before_next(const CtlLine& line) {
  if (is_terminal()) return kClearScreen;
  return line.flags.output == OutputFormat::kYaml ? "---\n" : "\n";
}

int watch(const CtlLine& line) {
  gpuward::Signals signals;
  gpuward::SystemClock clock;
  std::stop_source over;
  gpuward::Status outcome;
  bool is_first = true;
  const auto show = [&](const std::string& text) {
    if (!is_first || is_terminal()) std::cout << before_next(line);
    is_first = false;
    return print(line, text);
  };
  std::jthread looks([&](const std::stop_token& stop) {
    outcome = watch_command(line, clock, stop, show);
    over.request_stop();
  });
  signals.wait([&] { over.request_stop(); }, {}, over.get_token());
  const std::jthread guard([&clock](const std::stop_token& stop) {
    if (clock.sleep_for(kStopWithin, stop)) std::_Exit(0);
  });
  looks.request_stop();
  looks.join();
  return outcome ? 0 : complain(outcome.error());
}

}  // namespace

int main(int argc, char** argv) {
  std::signal(SIGPIPE, SIG_IGN);  // as the HTTP client needs; write errors still show a closed pipe
  const auto line = gpuward::remediator::parse_ctl_line(argc, argv);
  if (const int* exit_code = std::get_if<int>(&line)) return *exit_code;
  const CtlLine& asked = std::get<CtlLine>(line);
  return asked.flags.watches ? watch(asked) : run(asked);
}
