// The keys of a configuration file in docs/configuration.md, and a reader whose errors show which
// keys it accepts, and their types and ranges.
#pragma once

#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "tests/reference/page.h"

namespace gpuward::reference {

// One row: `budgets.pool.nodes`, `pools[].name`; `steps.` is before the keys of a list of steps.
struct Key {
  std::string path, type, range, preset, meaning;
};
[[nodiscard]] std::vector<Key> documented_keys(std::string_view heading);

// The faults of a file, one a line; empty if there are none.
using Reader = std::function<std::string(const std::string& yaml)>;

// A file with only `value` under that path; CODE and NUMBER in a path become an example.
[[nodiscard]] std::string file_with(const std::string& path, const std::string& value);
// The reader's errors about that key alone; empty if there are none.
[[nodiscard]] std::string complaint_about(const Reader& reader, const Key& key,
                                          const std::string& value);

// The keys that the page has in each mapping, by the mapping's path ("" for the whole).
[[nodiscard]] std::map<std::string, std::set<std::string>> mappings_of(
    const std::vector<Key>& keys);
// The keys that the reader accepts in that mapping.
[[nodiscard]] std::set<std::string> allowed_in(const Reader& reader, const std::string& mapping);

// Type and range according to the reader; type `text` if it reports neither.
[[nodiscard]] std::pair<std::string, std::string> type_of(const Reader& reader, const Key& key);

}  // namespace gpuward::reference
