// The keys that a reader of a YAML file declares (YamlFile::describing()), and the JSON Schema by
// which editors complete and check such a file. Used by `gpuwardctl policy schema`,
// `gpuward-exporter config schema` and, for docs/configuration.md, by tests/reference.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace gpuward {

struct YamlKey {
  std::string path = {};  // `pools[].name`; in `xid.CODE.severity` CODE is any key
  // bool, duration, integer, list, list of mappings, mapping, number, steps, text or word.
  std::string type;
  std::string range = {};   // `0s to 7d`; for a word `hold, proceed`
  std::string preset = {};  // its default as written in the file; empty: none
  std::string about = {};
  std::string like = {};  // of a mapping: the path of another mapping with the same keys
  bool is_required = false;
  bool is_old = false;  // an old name of a renamed key: in the schema, but in no table
};

// Uses draft 7, which editors support best. A mapping must precede its keys. The keys below `steps`
// are the items of each list of the type `steps`. The schema accepts all files that the reader
// accepts, except for severities in upper case; only the reader knows dependencies between keys and
// the ranges of durations.
[[nodiscard]] std::string json_schema(std::span<const YamlKey> keys, std::string_view title);

}  // namespace gpuward
