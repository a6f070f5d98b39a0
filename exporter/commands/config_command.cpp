#include "exporter/commands/config_command.h"

#include <CLI/CLI.hpp>
#include <array>
#include <iostream>

#include "core/command_line/examples.h"
#include "core/runtime/yaml_schema.h"
#include "exporter/config/settings.h"

namespace gpuward::exporter {
namespace {

constexpr std::array kConfigExamples = {
    Example{"config", "gpuward-exporter config schema"},
    Example{"config schema", "gpuward-exporter config schema > exporter.schema.json"}};

int print_schema(const Flags&) {
  std::cout << json_schema(settings_keys(), "The configuration file of gpuward-exporter");
  return 0;
}

}  // namespace

void add_config_command(CLI::App& app, Commands& commands) {
  CLI::App* config = app.add_subcommand("config", "Inspect the format of the configuration file");
  config->require_subcommand(1);
  const CLI::App* schema =
      config->add_subcommand("schema", "Print the JSON Schema of the configuration file");
  add_examples(app, kConfigExamples);
  commands.emplace_back(schema, print_schema);
}

}  // namespace gpuward::exporter
