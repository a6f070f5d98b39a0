#include "exporter/commands/output_flags.h"

#include <CLI/CLI.hpp>

#include "core/command_line/output_option.h"

namespace gpuward::exporter {

// --json is the older name, from before -o.
void add_output_flags(CLI::App& command, OutputFormat& format) {
  CLI::Option* output = add_output_option(command, format);
  command
      .add_flag_callback(
          "--json", [&format] { format = OutputFormat::kJson; }, "The same as -o json")
      ->excludes(output);
}

}  // namespace gpuward::exporter
