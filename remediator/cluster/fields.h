// JSON objects that are declared once: a table has one line for each field of an object, and
// writing, reading and the OpenAPI schema follow from it. Exact when writing; tolerant when
// reading: a field that is absent or of another type leaves its variable unchanged. Used by
// remediation_fields, which has the tables.
//
// field("rule", &RemediationStatus::rule, text(), "The line of the policy that decided.")
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/runtime/clock.h"
#include "core/runtime/json.h"

namespace gpuward::remediator {

// How a value is written in JSON.
template <typename T>
struct Form {
  Json schema;
  std::function<Json(const T&)> write;
  std::function<std::optional<T>(const Json&)> read;  // Returns nullopt for an invalid value.
};

template <typename Object>
struct Field {
  std::string name;
  Json schema;                                     // Includes the description.
  std::function<Json(const Object&)> write;        // Returns null to leave the field out.
  std::function<bool(const Json&, Object&)> read;  // Returns whether the value was valid.
  bool is_required = false;                        // The API server requires the field.
  bool is_vital = false;                           // An object without this field is rejected.

  [[nodiscard]] Field required() const {
    Field copy = *this;
    copy.is_required = true;
    return copy;
  }
  [[nodiscard]] Field vital() const {
    Field copy = *this;
    copy.is_vital = true;
    return copy;
  }
};

template <typename Object>
using Fields = std::vector<Field<Object>>;

// Forms of single values; 0 means no limit.
[[nodiscard]] Form<std::string> text(std::size_t max_length = 0, std::size_t min_length = 0);
[[nodiscard]] Form<bool> flag();
[[nodiscard]] Form<int> count();
[[nodiscard]] Form<std::map<std::string, std::string>> text_map(std::size_t max_entries);
// A time that is read with all its digits and written by `to_text`.
[[nodiscard]] Form<Clock::Wall> time(std::string (*to_text)(Clock::Wall) = to_rfc3339_ms);

// A value of an enum by its name.
template <typename Enum>
[[nodiscard]] Form<Enum> word(std::optional<Enum> (*parse)(std::string_view)) {
  return {.schema = {{"type", "string"}},
          .write = [](const Enum& value) { return Json(to_string(value)); },
          .read = [parse](const Json& json) -> std::optional<Enum> {
            return json.is_string() ? parse(json.get_ref<const std::string&>()) : std::nullopt;
          }};
}

// A value of an enum for which the API server accepts only `first` to `last`.
template <typename Enum>
[[nodiscard]] Form<Enum> word(std::optional<Enum> (*parse)(std::string_view), Enum first,
                              Enum last) {
  Form<Enum> form = word(parse);
  for (int i = static_cast<int>(first); i <= static_cast<int>(last); ++i)
    form.schema["enum"].push_back(to_string(static_cast<Enum>(i)));
  return form;
}

// A list. Items that cannot be read are dropped.
template <typename T>
[[nodiscard]] Form<std::vector<T>> list_of(const Form<T>& item, std::size_t max_items = 0) {
  Json schema = {{"type", "array"}, {"items", item.schema}, {"x-kubernetes-list-type", "atomic"}};
  if (max_items > 0) schema["maxItems"] = max_items;
  return {.schema = std::move(schema),
          .write =
              [item](const std::vector<T>& values) {
                Json list = Json::array();
                for (const T& value : values) list.push_back(item.write(value));
                return list;
              },
          .read = [item](const Json& list) -> std::optional<std::vector<T>> {
            if (!list.is_array()) return std::nullopt;
            std::vector<T> values;
            for (const Json& json : list) {
              if (auto value = item.read(json)) values.push_back(std::move(*value));
            }
            return values;
          }};
}

// A list of objects that the field `key` identifies.
template <typename T>
[[nodiscard]] Form<std::vector<T>> list_by(const char* key, const Form<T>& item,
                                           std::size_t max_items) {
  Form<std::vector<T>> form = list_of(item, max_items);
  form.schema["x-kubernetes-list-type"] = "map";
  form.schema["x-kubernetes-list-map-keys"] = {key};
  return form;
}

template <typename Object>
[[nodiscard]] Json schema_of(const Fields<Object>& fields) {
  Json schema = {{"type", "object"}};
  for (const Field<Object>& field : fields) {
    schema["properties"][field.name] = field.schema;
    if (field.is_required) schema["required"].push_back(field.name);
  }
  return schema;
}

template <typename Object>
[[nodiscard]] Json write_fields(const Object& object, const Fields<Object>& fields) {
  Json json = Json::object();
  for (const Field<Object>& field : fields) {
    if (Json value = field.write(object); !value.is_null()) json[field.name] = std::move(value);
  }
  return json;
}

// Reads all fields. Returns false if a vital field cannot be read; the caller must not use `object`
// then.
template <typename Object>
bool read_fields(const Json& json, const Fields<Object>& fields, Object& object) {
  for (const Field<Object>& field : fields) {
    const bool is_read = field.read(member_at(json, field.name), object);
    if (!is_read && field.is_vital) return false;
  }
  return true;
}

template <typename Object>
[[nodiscard]] Form<Object> object_of(const Fields<Object>& fields) {
  return {.schema = schema_of(fields),
          .write = [fields](const Object& object) { return write_fields(object, fields); },
          .read = [fields](const Json& json) -> std::optional<Object> {
            Object object;
            if (!read_fields(json, fields, object)) return std::nullopt;
            return object;
          }};
}

// A field that is not simply a member: `get` returns an optional value of the object, `set` takes
// the object and the value that was read.
template <typename Object, typename T, typename Get, typename Set>
[[nodiscard]] Field<Object> computed_field(std::string_view name, const Form<T>& form,
                                           std::string_view about, Get get, Set set) {
  Json schema = form.schema;
  schema["description"] = about;
  return {.name = std::string(name),
          .schema = std::move(schema),
          .write =
              [get, write = form.write](const Object& object) {
                const std::optional<T> value = get(object);
                return value ? write(*value) : Json();
              },
          .read =
              [set, read = form.read](const Json& json, Object& object) {
                std::optional<T> value = read(json);
                if (value) set(object, std::move(*value));
                return value.has_value();
              }};
}

// A field that is always written.
template <typename Object, typename T>
[[nodiscard]] Field<Object> field(std::string_view name, T Object::* member, const Form<T>& form,
                                  std::string_view about) {
  return computed_field<Object>(
      name, form, about,
      [member](const Object& object) { return std::optional<T>(object.*member); },
      [member](Object& object, T value) { object.*member = std::move(value); });
}

// A field that is left out if it has no value.
template <typename Object, typename T>
[[nodiscard]] Field<Object> field(std::string_view name, std::optional<T> Object::* member,
                                  const Form<T>& form, std::string_view about) {
  return computed_field<Object>(
      name, form, about, [member](const Object& object) { return object.*member; },
      [member](Object& object, T value) { object.*member = std::move(value); });
}

// A field that is left out if the value is false or empty.
template <typename Object, typename T>
[[nodiscard]] Field<Object> sparse_field(std::string_view name, T Object::* member,
                                         const Form<T>& form, std::string_view about) {
  return computed_field<Object>(
      name, form, about,
      [member](const Object& object) {
        return object.*member == T() ? std::nullopt : std::optional<T>(object.*member);
      },
      [member](Object& object, T value) { object.*member = std::move(value); });
}

}  // namespace gpuward::remediator
