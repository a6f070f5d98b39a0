#include "core/command_line/output.h"

#include "core/runtime/yaml_text.h"

namespace gpuward {

Result<std::string> in_format(OutputFormat format, std::string_view json) {
  if (format == OutputFormat::kYaml) return json_to_yaml(json);
  return std::string(json) + "\n";
}

std::string in_sequence(OutputFormat format, std::string_view json) {
  const std::string start = format == OutputFormat::kYaml ? "---\n" : "";
  return start + in_format(format, json).value_or("");
}

}  // namespace gpuward
