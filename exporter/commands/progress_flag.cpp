#include "exporter/commands/progress_flag.h"

#include <unistd.h>

#include <CLI/CLI.hpp>

namespace gpuward::exporter {

void add_progress_flag(CLI::App& command, ProgressWish& progress) {
  command
      .add_option_function<std::string>(
          "--progress",
          [&progress](const std::string& word) {
            progress = parse_progress_wish(word).value_or(ProgressWish::kAuto);
          },
          "On stderr: auto (one line written over on a terminal, else plain lines), plain or off")
      ->check(CLI::IsMember({"auto", "plain", "off"}))
      ->default_str("auto");
}

ProgressStyle progress_on_stderr(ProgressWish wish) {
  return progress_style(wish, isatty(STDERR_FILENO) == 1);
}

}  // namespace gpuward::exporter
