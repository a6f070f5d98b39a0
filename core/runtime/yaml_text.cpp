#include "core/runtime/yaml_text.h"

#include <yaml-cpp/emitter.h>
#include <yaml-cpp/emittermanip.h>
#include <yaml-cpp/null.h>

#include <algorithm>
#include <array>
#include <cctype>

#include "core/runtime/json.h"
#include "core/runtime/text.h"

namespace gpuward {
namespace {

// YAML 1.1, which many readers still use, does not read these nine words as texts.
bool is_surely_text(const std::string& text) {
  constexpr std::array<std::string_view, 9> kOther{"y",    "n",     "yes", "no",  "on",
                                                   "true", "false", "off", "null"};
  const auto is_letter = [](unsigned char c) { return std::isalpha(c) != 0; };
  const auto is_word = [](unsigned char c) {
    return std::isalnum(c) != 0 || c == '-' || c == '_' || c == '.' || c == '/';
  };
  if (text.empty() || !is_letter(static_cast<unsigned char>(text.front()))) return false;
  if (!std::ranges::all_of(text, is_word)) return false;
  return std::ranges::find(kOther, to_lower(text)) == kOther.end();
}

void emit_text(const std::string& text, YAML::Emitter& out) {
  if (!is_surely_text(text)) out << YAML::DoubleQuoted;
  out << text;
}

void emit(const Json& value, YAML::Emitter& out) {
  if (value.is_object()) {
    if (value.empty()) out << YAML::Flow;
    out << YAML::BeginMap;
    for (const auto& [key, member] : value.items()) {
      out << YAML::Key;
      emit_text(key, out);
      out << YAML::Value;
      emit(member, out);
    }
    out << YAML::EndMap;
  } else if (value.is_array()) {
    if (value.empty()) out << YAML::Flow;
    out << YAML::BeginSeq;
    for (const Json& item : value) emit(item, out);
    out << YAML::EndSeq;
  } else if (value.is_string()) {
    emit_text(value.get_ref<const std::string&>(), out);
  } else if (value.is_null()) {
    out << YAML::Null;
  } else {
    out << dump_json(value);  // true, 12: the same in both
  }
}

}  // namespace

Result<std::string> json_to_yaml(std::string_view json) {
  const auto value = parse_json(json);
  if (!value) return std::unexpected(value.error());
  YAML::Emitter out;
  out.SetNullFormat(YAML::LowerNull);
  emit(*value, out);
  // Control characters are in double quotes, where YAML has the same escapes.
  return escaped_lines(out.c_str()) + "\n";
}

}  // namespace gpuward
