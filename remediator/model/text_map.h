// Labels, annotations and the facts of a step: maps of texts, in which a missing key means the same
// as an empty value. Used by all readers of such maps.
#pragma once

#include <map>
#include <string>

namespace gpuward::remediator {

// Empty if the key is missing. The reference is valid as long as the map's entry.
[[nodiscard]] inline const std::string& value_at(const std::map<std::string, std::string>& map,
                                                 const std::string& key) {
  static const std::string kEmpty;
  const auto found = map.find(key);
  return found == map.end() ? kEmpty : found->second;
}

}  // namespace gpuward::remediator
