#include "tests/e2e/manifest_json.h"

#include <cstdint>
#include <string>
#include <vector>

#include "core/runtime/yaml.h"

namespace gpuward::e2e {
namespace {

constexpr std::int64_t kAnyNumber = std::int64_t{1} << 62;

Json object_of(const YamlMap& map);

// A reader does not change its variable if the value has another type: if two readings agree, the
// value was read.
Json scalar_of(const YamlMap& parent, const std::string& key, const YamlMap& value) {
  bool yes = true;
  bool no = false;
  parent.read(key, yes);
  parent.read(key, no);
  if (yes == no) return yes;
  std::int64_t low = 0;
  std::int64_t high = 1;
  parent.read(key, low, -kAnyNumber, kAnyNumber);
  parent.read(key, high, -kAnyNumber, kAnyNumber);
  if (low == high) return low;
  return value.scalar();
}

Json value_of(const YamlMap& parent, const std::string& key, const YamlMap& value) {
  std::vector<std::string> words;
  parent.read(key, words);
  if (!words.empty()) return words;
  if (const auto maps = parent.maps(key); !maps.empty()) {
    Json list = Json::array();
    for (const YamlMap& item : maps) list.push_back(object_of(item));
    return list;
  }
  if (!value.entries().empty()) return object_of(value);
  if (value.scalar().empty()) return Json::object();  // `status: {}`
  return scalar_of(parent, key, value);
}

Json object_of(const YamlMap& map) {
  Json object = Json::object();
  for (const auto& [key, value] : map.entries()) object[key] = value_of(map, key, value);
  return object;
}

}  // namespace

Result<Json> manifest_as_json(const std::filesystem::path& file) {
  const auto yaml = YamlFile::load(file);
  if (!yaml) return std::unexpected(yaml.error());
  return object_of(yaml->root());
}

}  // namespace gpuward::e2e
