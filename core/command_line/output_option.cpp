#include "core/command_line/output_option.h"

#include <string>

namespace gpuward {

CLI::Option* add_output_option(CLI::App& command, OutputFormat& format) {
  return command
      .add_option_function<std::string>(
          "-o,--output",
          [&format](const std::string& word) {
            format = word == "json"   ? OutputFormat::kJson
                     : word == "yaml" ? OutputFormat::kYaml
                                      : OutputFormat::kTable;
          },
          "table, json or yaml")
      ->check(CLI::IsMember({"table", "json", "yaml"}))
      ->default_str("table");
}

}  // namespace gpuward
