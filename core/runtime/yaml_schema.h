// The keys of a YAML file as a JSON Schema, from which editors complete and check it. Used by
// `gpuward-remediator policy schema` and `gpuward-exporter config schema`.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "core/runtime/yaml_key.h"

namespace gpuward {

// In draft 7, which editors know best. A mapping comes before its keys. What stands below `steps`
// are the items of each list of the type `steps`. The schema is no stricter than the reader, which
// alone knows how keys depend on each other and how long a duration is.
[[nodiscard]] std::string json_schema(std::span<const YamlKey> keys, std::string_view title);

}  // namespace gpuward
