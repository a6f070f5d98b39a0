#include "core/command_line/output_option.h"

#include <map>

namespace gpuward {
namespace {

const std::map<std::string, OutputFormat>& formats() {
  static const std::map<std::string, OutputFormat> kFormats = {
      {"table", OutputFormat::kTable}, {"wide", OutputFormat::kWide},
      {"json", OutputFormat::kJson},   {"yaml", OutputFormat::kYaml},
      {"name", OutputFormat::kName},   {"nodes", OutputFormat::kNodes}};
  return kFormats;
}

// "table, json or yaml"
std::string listed(const std::vector<std::string>& words) {
  std::string text = words.front();
  for (std::size_t i = 1; i < words.size(); ++i)
    text += (i + 1 == words.size() ? " or " : ", ") + words[i];
  return text;
}

}  // namespace

CLI::Option* add_output_option(CLI::App& command, OutputFormat& format,
                               const std::vector<std::string>& words) {
  return command
      .add_option_function<std::string>(
          "-o,--output", [&format](const std::string& word) { format = formats().at(word); },
          listed(words))
      ->check(CLI::IsMember(words))
      ->default_str("table");
}

}  // namespace gpuward
