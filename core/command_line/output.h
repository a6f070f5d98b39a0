// `-o table|json|yaml` of the commands that print something, of some also `wide`, `name` and
// `nodes`: tables are for people, the rest for programs. Used by all programs.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "core/model/result.h"

namespace gpuward {

// kWide: a table with more in it; kName: names alone, a line each, with their kind where they are
// objects of Kubernetes; kNodes: names of nodes, a line each.
enum class OutputFormat : std::uint8_t { kTable, kWide, kJson, kYaml, kName, kNodes };

[[nodiscard]] constexpr bool is_for_people(OutputFormat format) {
  return format == OutputFormat::kTable || format == OutputFormat::kWide;
}

// A JSON document as YAML (kYaml) or as it is, ended by a line end. kInvalid where it is none.
[[nodiscard]] Result<std::string> in_format(OutputFormat format, std::string_view json);
// The same for one of several that are printed as they come: a JSON object a line, or a stream of
// YAML documents. A document of our own, which is JSON.
[[nodiscard]] std::string in_sequence(OutputFormat format, std::string_view json);

}  // namespace gpuward
