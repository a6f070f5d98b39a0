#include "exporter/commands/parse_log_command.h"

#include <CLI/CLI.hpp>
#include <array>
#include <iostream>

#include "core/command_line/examples.h"
#include "core/xid/catalogue.h"
#include "exporter/config/exit_code.h"
#include "exporter/config/identity.h"
#include "exporter/kernel_log/parse_log.h"

namespace gpuward::exporter {
namespace {

constexpr std::array kParseLogExamples = {
    Example{"parse-log",
            "gpuward-exporter parse-log < kernel.log\n"
            "gpuward-exporter parse-log --config.file gpuward.yaml < kernel.log"}};

int parse_log(const Flags& flags) {
  const auto settings = read_settings(flags);
  if (!settings) return complain(settings.error());
  return run_parse_log(std::cin, std::cout, xid::Catalogue(settings->catalogue),
                       settings->line_rules);
}

}  // namespace

void add_parse_log_command(CLI::App& app, Commands& commands) {
  CLI::App* command = app.add_subcommand(
      "parse-log", "Read kernel-log lines on stdin, print a JSON object for each event");
  command->fallthrough();
  add_examples(app, kParseLogExamples);
  commands.emplace_back(command, parse_log);
}

}  // namespace gpuward::exporter
