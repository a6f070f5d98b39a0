#include "remediator/cluster/fields.h"

namespace gpuward::remediator {

Form<std::string> text(std::size_t max_length, std::size_t min_length) {
  Json schema = {{"type", "string"}};
  if (max_length > 0) schema["maxLength"] = max_length;
  if (min_length > 0) schema["minLength"] = min_length;
  return {.schema = std::move(schema),
          .write = [](const std::string& value) { return Json(value); },
          .read = [](const Json& json) -> std::optional<std::string> {
            if (!json.is_string()) return std::nullopt;
            return json.get<std::string>();
          }};
}

Form<bool> flag() {
  return {.schema = {{"type", "boolean"}},
          .write = [](const bool& value) { return Json(value); },
          .read = [](const Json& json) -> std::optional<bool> {
            if (!json.is_boolean()) return std::nullopt;
            return json.get<bool>();
          }};
}

Form<int> count() {
  return {.schema = {{"type", "integer"}, {"minimum", 0}},
          .write = [](const int& value) { return Json(value); },
          .read = [](const Json& json) -> std::optional<int> {
            if (!json.is_number_integer()) return std::nullopt;
            return json.get<int>();
          }};
}

Form<std::map<std::string, std::string>> text_map(std::size_t max_entries) {
  using Map = std::map<std::string, std::string>;
  return {.schema = {{"type", "object"},
                     {"maxProperties", max_entries},
                     {"additionalProperties", {{"type", "string"}}}},
          .write = [](const Map& values) { return Json(values); },
          .read = [](const Json& json) -> std::optional<Map> {
            if (!json.is_object()) return std::nullopt;
            Map values;
            for (const auto& [key, value] : json.items()) {
              if (value.is_string()) values[key] = value.get<std::string>();
            }
            return values;
          }};
}

Form<Clock::Wall> time(std::string (*to_text)(Clock::Wall)) {
  return {.schema = {{"type", "string"}, {"format", "date-time"}},
          .write = [to_text](const Clock::Wall& value) { return Json(to_text(value)); },
          .read = [](const Json& json) -> std::optional<Clock::Wall> {
            if (!json.is_string()) return std::nullopt;
            return parse_rfc3339(json.get_ref<const std::string&>());
          }};
}

}  // namespace gpuward::remediator
