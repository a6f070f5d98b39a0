#include "core/runtime/yaml_schema.h"

#include <algorithm>
#include <array>
#include <ranges>
#include <utility>

#include "core/runtime/json.h"

namespace gpuward {
namespace {

// A text may be unquoted; a list or a mapping may have no value.
constexpr std::array<std::pair<std::string_view, std::string_view>, 10> kTypes{{
    {"bool", R"({"type": "boolean"})"},
    {"duration", R"({"type": "string",
      "pattern": "^(?=.)([0-9]+d)?([0-9]+h)?([0-9]+m)?([0-9]+s)?([0-9]+ms)?$"})"},
    {"integer", R"({"type": "integer"})"},
    {"list", R"({"type": ["array", "null"], "items": {"type": ["string", "number", "boolean"]}})"},
    {"list of mappings", R"({"type": ["array", "null"],
      "items": {"type": "object", "additionalProperties": false}})"},
    {"mapping", R"({"type": ["object", "null"], "additionalProperties": false})"},
    {"number", R"({"type": "number"})"},
    {"steps", R"({"allOf": [{"$ref": "#/definitions/steps"}]})"},
    {"text", R"({"type": ["string", "number", "boolean"]})"},
    {"word", R"({"type": "string"})"},
}};

Json parsed(std::string_view json) { return parse_json(json).value_or(Json()); }

Json schema_of_type(std::string_view type) {
  const auto* const found = std::ranges::find(kTypes, type, &decltype(kTypes)::value_type::first);
  return found == kTypes.end() ? Json::object() : parsed(found->second);
}

bool is_placeholder(std::string_view part) {
  return std::ranges::all_of(part, [](char c) { return c >= 'A' && c <= 'Z'; });
}

// Returns the place in `object` for the schema of its key `name`.
Json& place_of(Json& object, std::string_view name) {
  if (!is_placeholder(name)) return object["properties"][std::string(name)];
  Json& others = object["additionalProperties"];
  if (!others.is_object()) others = schema_of_type("mapping");
  return others;
}

// Returns the mapping for `part` of a path, which is not the last one.
Json& mapping_below(Json& object, std::string_view part) {
  if (!part.ends_with("[]")) return place_of(object, part);
  return place_of(object, part.substr(0, part.size() - 2))["items"];
}

void add_range(const YamlKey& key, Json& schema) {
  if (key.type == "word") {
    for (const auto word : std::views::split(key.range, std::string_view(", ")))
      schema["enum"].push_back(std::string(word.begin(), word.end()));
  } else if (key.type == "integer" || key.type == "number") {
    schema["minimum"] = parsed(key.range.substr(0, key.range.find(' ')));
    schema["maximum"] = parsed(key.range.substr(key.range.rfind(' ') + 1));
  }
}

Json schema_of(const YamlKey& key) {
  Json schema = schema_of_type(key.type);
  if (!key.like.empty()) schema = Json{{"allOf", {{{"$ref", "#/properties/" + key.like}}}}};
  add_range(key, schema);
  std::string description = key.about;
  if (key.type == "duration") description += (description.empty() ? "" : "; ") + key.range;
  if (key.is_old) schema["deprecated"] = true;
  if (!description.empty()) schema["description"] = std::move(description);
  if (key.preset.empty()) return schema;
  const bool is_text = key.type == "text" || key.type == "word" || key.type == "duration";
  schema["default"] = is_text ? Json(key.preset) : parsed(key.preset);
  return schema;
}

void add(const YamlKey& key, Json& schema) {
  Json* mapping = &schema;
  std::string_view rest = key.path;
  for (auto dot = rest.find('.'); dot != std::string_view::npos; dot = rest.find('.')) {
    mapping = &mapping_below(*mapping, rest.substr(0, dot));
    rest.remove_prefix(dot + 1);
  }
  place_of(*mapping, rest) = schema_of(key);
  if (key.is_required) (*mapping)["required"].push_back(rest);
}

// Moves the steps out of the keys: a list of words, and of mappings with one of them.
void define_steps(Json& schema) {
  Json& properties = schema["properties"];
  if (!properties.contains("steps")) return;
  Json words = Json::array();
  for (const auto& [word, settings] : properties["steps"]["properties"].items())
    words.push_back(word);
  Json one = std::move(properties["steps"]);
  properties.erase("steps");
  one["type"] = "object";
  one["minProperties"] = one["maxProperties"] = 1;
  Json items = {{"anyOf", {{{"enum", std::move(words)}}, std::move(one)}}};
  schema["definitions"]["steps"] = {{"type", {"array", "null"}}, {"items", std::move(items)}};
}

}  // namespace

std::string json_schema(std::span<const YamlKey> keys, std::string_view title) {
  Json schema = schema_of_type("mapping");
  schema["$schema"] = "http://json-schema.org/draft-07/schema#";
  schema["title"] = title;
  for (const YamlKey& key : keys) add(key, schema);
  define_steps(schema);
  return schema.dump(2) + "\n";
}

}  // namespace gpuward
