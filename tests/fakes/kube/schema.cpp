#include "tests/fakes/kube/schema.h"

#include <algorithm>
#include <regex>
#include <set>
#include <utility>

namespace gpuward::fakes {
namespace {

bool flag(const Json& schema, const char* key) { return member_at(schema, key) == true; }

// The server owns the metadata and the type, whatever the schema declares.
bool is_envelope(const std::string& path, const std::string& key) {
  return path.empty() && (key == "apiVersion" || key == "kind" || key == "metadata");
}

void prune_at(Json& value, const Json& schema, const std::string& path) {
  if (value.is_array()) {
    for (Json& item : value) prune_at(item, member_at(schema, "items"), path + "[]");
    return;
  }
  if (!value.is_object()) return;
  const Json& properties = member_at(schema, "properties");
  const Json& additional = member_at(schema, "additionalProperties");
  const bool keeps_unknown =
      flag(schema, "x-kubernetes-preserve-unknown-fields") || additional == true;
  for (auto at = value.begin(); at != value.end();) {
    const Json& known = member_at(properties, at.key());
    if (is_envelope(path, at.key())) {
      ++at;
    } else if (known.is_object() || additional.is_object()) {
      prune_at(at.value(), known.is_object() ? known : additional, path + "." + at.key());
      ++at;
    } else {
      at = keeps_unknown ? std::next(at) : value.erase(at);
    }
  }
}

std::string type_of(const Json& value) {
  if (value.is_object()) return "object";
  if (value.is_array()) return "array";
  if (value.is_string()) return "string";
  if (value.is_boolean()) return "boolean";
  if (value.is_number_integer()) return "integer";
  return value.is_number() ? "number" : "null";
}

bool has_type(const Json& value, const std::string& type) {
  const std::string actual = type_of(value);
  return actual == type || (type == "number" && actual == "integer") ||
         (type == "integer" && value.is_number_float() &&
          value.get<double>() == static_cast<double>(value.get<std::int64_t>()));
}

std::string shown(const Json& value) { return dump_json(value); }

Cause wrong(const std::string& path, const Json& value, const std::string& why) {
  const std::string text = value.is_structured() ? "\"" + type_of(value) + "\"" : shown(value);
  return {"FieldValueInvalid", "Invalid value: " + text + ": " + path + " in body " + why, path};
}

using Causes = std::vector<Cause>;

void check_enum(const Json& value, const Json& schema, const std::string& path, Causes& causes) {
  const Json& allowed = member_at(schema, "enum");
  if (!allowed.is_array() || std::ranges::find(allowed, value) != allowed.end()) return;
  std::string list;
  for (const Json& item : allowed) list += (list.empty() ? "" : ", ") + shown(item);
  causes.push_back({"FieldValueNotSupported",
                    "Unsupported value: " + shown(value) + ": supported values: " + list, path});
}

// Characters, not bytes.
std::size_t length_of(const std::string& text) {
  return static_cast<std::size_t>(
      std::ranges::count_if(text, [](char letter) { return (letter & 0xC0) != 0x80; }));
}

void check_count(const Json& value, std::pair<const Json&, const Json&> bounds, const char* what,
                 const std::string& path, Causes& causes) {
  const std::size_t count = value.size();
  if (bounds.first.is_number() && count < bounds.first.get<std::size_t>()) {
    causes.push_back(
        wrong(path, value, "should have at least " + shown(bounds.first) + " " + what));
  }
  if (bounds.second.is_number() && count > bounds.second.get<std::size_t>()) {
    causes.push_back({"FieldValueTooMany",
                      "Too many: " + std::to_string(count) + ": must have at most " +
                          shown(bounds.second) + " items",
                      path});
  }
}

// The first fault of a string hides the others, as in kube-openapi's validator.
void check_string(const Json& value, const Json& schema, const std::string& path, Causes& causes) {
  const auto& text = value.get_ref<const std::string&>();
  const Json& least = member_at(schema, "minLength");
  const Json& most = member_at(schema, "maxLength");
  const std::string pattern = string_at(schema, "pattern");
  if (most.is_number() && length_of(text) > most.get<std::size_t>()) {
    causes.push_back(
        {"FieldValueTooLong", "Too long: may not be more than " + shown(most) + " bytes", path});
  } else if (least.is_number() && length_of(text) < least.get<std::size_t>()) {
    causes.push_back(wrong(path, value, "should be at least " + shown(least) + " chars long"));
  } else if (!pattern.empty() && !std::regex_search(text, std::regex(pattern))) {
    causes.push_back(wrong(path, value, "should match '" + pattern + "'"));
  }
  static const std::regex kDateTime(
      R"(\d{4}-\d\d-\d\d[Tt ]\d\d:\d\d:\d\d(\.\d+)?([Zz]|[+-]\d\d:\d\d))");
  if (string_at(schema, "format") == "date-time" && !std::regex_match(text, kDateTime)) {
    Cause cause = wrong(path, value, "must be of type date-time: " + shown(value));
    cause.reason = "FieldValueTypeInvalid";
    causes.push_back(std::move(cause));
  }
}

void check_number(const Json& value, const Json& schema, const std::string& path, Causes& causes) {
  const double number = value.get<double>();
  const Json& least = member_at(schema, "minimum");
  const Json& most = member_at(schema, "maximum");
  if (least.is_number() && number < least.get<double>()) {
    causes.push_back(wrong(path, value, "should be greater than or equal to " + shown(least)));
  }
  if (most.is_number() && number > most.get<double>()) {
    causes.push_back(wrong(path, value, "should be less than or equal to " + shown(most)));
  }
}

// A number with a fraction has the wrong type, but is also checked as a number.
void check_fraction(const Json& value, const Json& schema, const std::string& path,
                    Causes& causes) {
  causes.push_back(
      {"FieldValueInvalid",
       "Invalid value: \"\": Checked value must be of type integer (default format) in " + path,
       "<nil>"});
  check_number(value, schema, path, causes);
}

void check_object(const Json& value, const Json& schema, const std::string& path, Causes& causes) {
  check_count(value, {member_at(schema, "minProperties"), member_at(schema, "maxProperties")},
              "properties", path, causes);
  const Json& properties = member_at(schema, "properties");
  const Json& additional = member_at(schema, "additionalProperties");
  for (const auto& [key, member] : value.items()) {
    if (is_envelope(path, key)) continue;
    const Json& known = member_at(properties, key);
    const auto found = validate(member, known.is_object() ? known : additional,
                                path.empty() ? key : path + "." + key);
    causes.insert(causes.end(), found.begin(), found.end());
  }
  for (const Json& name : member_at(schema, "required")) {
    const auto key = name.get<std::string>();
    const std::string field = path.empty() ? key : path + "." + key;
    if (!value.contains(key)) causes.push_back({"FieldValueRequired", "Required value", field});
  }
}

void check_array(const Json& value, const Json& schema, const std::string& path, Causes& causes) {
  check_count(value, {member_at(schema, "minItems"), member_at(schema, "maxItems")}, "items", path,
              causes);
  const Json& keys = member_at(schema, "x-kubernetes-list-map-keys");
  std::set<std::string> seen;
  for (std::size_t i = 0; i < value.size(); ++i) {
    const std::string field = path + "[" + std::to_string(i) + "]";
    const auto found = validate(value[i], member_at(schema, "items"), field);
    causes.insert(causes.end(), found.begin(), found.end());
    Json identity = Json::object();
    for (const Json& key : keys)
      identity[key.get<std::string>()] = member_at(value[i], key.get<std::string>());
    if (keys.is_array() && !seen.insert(dump_json(identity)).second) {
      causes.push_back({"FieldValueDuplicate", "Duplicate value: " + dump_json(identity), field});
    }
  }
}

}  // namespace

void prune(Json& value, const Json& schema) {
  if (schema.is_object()) prune_at(value, schema, "");
}

void fill_defaults(Json& value, const Json& schema) {
  if (value.is_array()) {
    for (Json& item : value) fill_defaults(item, member_at(schema, "items"));
  }
  if (!value.is_object()) return;
  for (const auto& [key, property] : member_at(schema, "properties").items()) {
    if (property.contains("default") && !value.contains(key)) value[key] = property["default"];
    if (value.contains(key)) fill_defaults(value[key], property);
  }
  const Json& additional = member_at(schema, "additionalProperties");
  if (!additional.is_object()) return;
  for (Json& member : value) fill_defaults(member, additional);
}

std::vector<Cause> validate(const Json& value, const Json& schema, const std::string& path) {
  std::vector<Cause> causes;
  if (!schema.is_object() || (value.is_null() && flag(schema, "nullable"))) return causes;
  const std::string type = string_at(schema, "type");
  const bool either = flag(schema, "x-kubernetes-int-or-string");
  if (either ? !value.is_string() && !value.is_number_integer()
             : !type.empty() && !has_type(value, type)) {
    const std::string expected = either ? "integer,string" : type;
    causes.push_back({"FieldValueTypeInvalid",
                      "Invalid value: \"" + type_of(value) + "\": " + path +
                          " in body must be of type " + expected + ": \"" + type_of(value) + "\"",
                      path.empty() ? "<nil>" : path});
    if (type == "integer" && value.is_number()) check_fraction(value, schema, path, causes);
    return causes;
  }
  check_enum(value, schema, path, causes);
  if (value.is_string()) check_string(value, schema, path, causes);
  if (value.is_number()) check_number(value, schema, path, causes);
  if (value.is_object()) check_object(value, schema, path, causes);
  if (value.is_array()) check_array(value, schema, path, causes);
  return causes;
}

}  // namespace gpuward::fakes
