// Labels, annotations and the facts of a step: maps of texts, in which a key that is missing means
// the same as an empty value. Used wherever one of them is read.
#pragma once

#include <map>
#include <string>

namespace gpuward::remediator {

// Empty where there is none; as long as the map stands.
[[nodiscard]] inline const std::string& value_at(const std::map<std::string, std::string>& map,
                                                 const std::string& key) {
  static const std::string kEmpty;
  const auto found = map.find(key);
  return found == map.end() ? kEmpty : found->second;
}

}  // namespace gpuward::remediator
