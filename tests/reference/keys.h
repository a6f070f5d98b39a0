// The keys of a configuration file as docs/configuration.md has them, and a reader that is asked
// what it makes of each: it says itself which keys it knows, of what type they are and how far.
#pragma once

#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "tests/reference/page.h"

namespace gpuward::reference {

// One row: `budgets.pool.nodes`, `pools[].name`; below `steps.` what stands in a list of steps.
struct Key {
  std::string path, type, range, preset, meaning;
};
[[nodiscard]] std::vector<Key> documented_keys(std::string_view heading);

// What is wrong with a file, one fault a line; empty where nothing is.
using Reader = std::function<std::string(const std::string& yaml)>;

// A file with `value` under that path and nothing else; CODE and NUMBER in a path stand for one.
[[nodiscard]] std::string file_with(const std::string& path, const std::string& value);
// What the reader says of that key alone; empty where nothing.
[[nodiscard]] std::string complaint_about(const Reader& reader, const Key& key,
                                          const std::string& value);

// By the path of each mapping ("" of the whole): the keys that the page has in it.
[[nodiscard]] std::map<std::string, std::set<std::string>> mappings_of(
    const std::vector<Key>& keys);
// The keys that the reader knows in that mapping.
[[nodiscard]] std::set<std::string> allowed_in(const Reader& reader, const std::string& mapping);

// Type and range as the reader tells them; the type `text` where it says nothing of either.
[[nodiscard]] std::pair<std::string, std::string> type_of(const Reader& reader, const Key& key);

}  // namespace gpuward::reference
