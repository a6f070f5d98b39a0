// `-o table|json|yaml` of the commands that print data; some also have `wide`, `name` and `nodes`.
// Tables are for people, the other formats for programs. Used by all programs.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "core/model/result.h"

namespace gpuward {

// kWide: a table with more columns. kName: names only, one a line, with their kind if they are
// Kubernetes objects. kNodes: names of nodes, one a line.
enum class OutputFormat : std::uint8_t { kTable, kWide, kJson, kYaml, kName, kNodes };

[[nodiscard]] constexpr bool is_for_people(OutputFormat format) {
  return format == OutputFormat::kTable || format == OutputFormat::kWide;
}

// Returns a JSON document as YAML (kYaml) or unchanged, with a line end. kInvalid if it is not
// JSON.
[[nodiscard]] Result<std::string> in_format(OutputFormat format, std::string_view json);
// The same for one of several documents that are printed as they come: one JSON object a line, or a
// stream of YAML documents. `json` comes from gpuward itself and must be valid.
[[nodiscard]] std::string in_sequence(OutputFormat format, std::string_view json);

}  // namespace gpuward
