// What a reader of a YAML file declares of one key. Left by YamlFile::describing(); the JSON Schema
// and the tables of docs/configuration.md are made of it.
#pragma once

#include <string>

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
};

}  // namespace gpuward
