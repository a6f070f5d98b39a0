// What a reader of a YAML file declares of its keys (YamlFile::describing()), and the JSON Schema
// that editors complete and check such a file with. Used by `gpuwardctl policy schema`,
// `gpuward-exporter config schema` and, for docs/configuration.md, by tests/reference.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace gpuward {

struct YamlKey {
  std::string path = {};  // `pools[].name`; in `xid.CODE.severity` CODE stands for any key
  // bool, duration, integer, list, list of mappings, mapping, number, steps, text or word.
  std::string type;
  std::string range = {};   // `0s to 7d`; of a word `hold, proceed`
  std::string preset = {};  // its default as the file would have it; empty: none
  std::string about = {};
  std::string like = {};  // of a mapping: the path of another that has the same keys
  bool is_required = false;
  bool is_old = false;  // the name before a renaming: it is in the schema and in no table
};

// In draft 7, which editors know best. A mapping comes before its keys. What stands below `steps`
// are the items of each list of the type `steps`. The schema is no stricter than the reader but for
// severities in capitals; only the reader knows how keys depend on each other and how long a time
// is.
[[nodiscard]] std::string json_schema(std::span<const YamlKey> keys, std::string_view title);

}  // namespace gpuward
