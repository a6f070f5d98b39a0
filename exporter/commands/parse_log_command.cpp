#include "exporter/commands/parse_log_command.h"

#include <CLI/CLI.hpp>
#include <array>
#include <iostream>

#include "core/command_line/examples.h"
#include "core/xid/catalogue.h"
#include "exporter/kernel_log/parse_log.h"

namespace gpuward::exporter {
namespace {

constexpr std::array kParseLogExamples = {
    Example{"parse-log", "gpuward-exporter parse-log < kernel.log"}};

}  // namespace

void add_parse_log_command(CLI::App& app, Commands& commands) {
  const CLI::App* command = app.add_subcommand(
      "parse-log", "Read kernel-log lines on stdin, print a JSON object for each event");
  add_examples(app, kParseLogExamples);
  commands.emplace_back(
      command, [](const Flags&) { return run_parse_log(std::cin, std::cout, xid::Catalogue()); });
}

}  // namespace gpuward::exporter
