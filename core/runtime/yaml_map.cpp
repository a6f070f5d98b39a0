#include <algorithm>
#include <utility>

#include "core/model/severity.h"
#include "core/runtime/json.h"
#include "core/runtime/yaml.h"
#include "core/runtime/yaml_scalars.h"
#include "core/runtime/yaml_tree.h"

namespace gpuward {
namespace {

YamlEntry* find_entry(YamlNode& node, std::string_view key) {
  const auto found = std::ranges::find(node.entries, key, &YamlEntry::key);
  return found == node.entries.end() ? nullptr : &*found;
}

void remember_asked(YamlNode& node, std::string_view key) {
  if (std::ranges::find(node.asked, key) == node.asked.end()) node.asked.emplace_back(key);
}

std::shared_ptr<YamlNode> absent_node(const YamlNode& parent, std::string_view key) {
  auto node = std::make_shared<YamlNode>();
  node->line = parent.line;
  node->path = join_yaml_path(parent.path, key);
  node->document = parent.document;
  node->broken = parent.broken;
  return node;
}

// Accepts severities in any case, because the labels and alerts of other programs vary.
bool is_same_word(std::string_view word, std::string_view text) {
  const auto severity = parse_severity(text);
  return word == text || (severity && severity == parse_severity(word));
}

std::string joined(const std::vector<std::string_view>& words) {
  std::string text;
  for (const std::string_view word : words) text.append(text.empty() ? "" : ", ").append(word);
  return text;
}

template <typename T>
std::string number_text(T value) {
  std::string text = std::to_string(value);
  if (!text.contains('.')) return text;
  text.erase(text.find_last_not_of('0') + 1);
  if (text.ends_with('.')) text.pop_back();
  return text;
}

// Numbers, booleans and durations must be unquoted.
std::string_view plain_text(const YamlNode& value) {
  return value.plain ? std::string_view(value.text) : std::string_view();
}

// Whether `parsed` has a value within the range.
template <typename T>
bool take(const std::optional<T>& parsed, T min, T max, T& out) {
  if (!parsed || *parsed < min || *parsed > max) return false;
  out = *parsed;
  return true;
}

}  // namespace

YamlMap::YamlMap(std::shared_ptr<YamlNode> node) : node_(std::move(node)) {}

void YamlMap::report(std::string_view key, const std::string& message) const {
  const YamlEntry* const entry = find_entry(*node_, key);
  node_->document->report(*node_, entry == nullptr ? node_->line : entry->line, key, message);
}

YamlNode* YamlMap::value_at(std::string_view key) const {
  remember_asked(*node_, key);
  YamlEntry* const entry = find_entry(*node_, key);
  if (entry == nullptr) return nullptr;
  entry->known = true;
  entry->value->was_read = true;
  return entry->value.get();
}

YamlNode* YamlMap::scalar_at(std::string_view key) const {
  YamlNode* const value = value_at(key);
  if (value == nullptr || value->kind == YamlKind::kScalar) return value;
  report(key, value->kind == YamlKind::kNull ? "has no value: give one, or remove the key"
                                             : "must be a single value, not a mapping or a list");
  value->broken = true;
  return nullptr;
}

// The first reader of a key declares it.
void YamlMap::declare(std::string_view key, std::string_view about, YamlKey declared) const {
  YamlDocument& document = *node_->document;
  if (!document.is_described) return;
  declared.is_required = std::exchange(document.is_next_required, false);
  if (declared.is_required) declared.preset.clear();
  declared.path = join_yaml_path(node_->path, key == node_->example ? node_->any : key);
  declared.about = about;
  const bool is_known =
      std::ranges::find(document.keys, declared.path, &YamlKey::path) != document.keys.end();
  if (!node_->broken && !is_known) document.keys.push_back(std::move(declared));
}

bool YamlMap::has(std::string_view key) const {
  remember_asked(*node_, key);
  return node_->document->is_described || find_entry(*node_, key) != nullptr;
}

void YamlMap::read(std::string_view key, std::string& out, std::string_view about) const {
  declare(key, about, {.type = "text", .preset = out});
  if (const YamlNode* const value = scalar_at(key)) out = value->text;
}

void YamlMap::read(std::string_view key, std::filesystem::path& out, std::string_view about) const {
  std::string text = out.string();
  read(key, text, about);
  out = text;
}

void YamlMap::read_absolute(std::string_view key, std::filesystem::path& out,
                            std::string_view about) const {
  read(key, out, about);
  if (!out.empty() && !out.is_absolute()) reject(key, "must be an absolute path");
}

void YamlMap::read(std::string_view key, bool& out, std::string_view about) const {
  std::optional<bool> some = out;
  read(key, some, about);
  out = *some;
}

void YamlMap::read(std::string_view key, std::optional<bool>& out, std::string_view about) const {
  declare(key, about, {.type = "bool", .preset = !out ? "" : *out ? "true" : "false"});
  const YamlNode* const value = scalar_at(key);
  if (value == nullptr) return;
  bool given = false;
  if (!take(parse_yaml_bool(plain_text(*value)), false, true, given))
    return report(key, "must be true or false, without quotes");
  out = given;
}

void YamlMap::read_integer(std::string_view key, std::int64_t& out, std::int64_t min,
                           std::int64_t max, std::string_view about) const {
  const std::string range = number_text(min) + " to " + number_text(max);
  declare(key, about, {.type = "integer", .range = range, .preset = number_text(out)});
  const YamlNode* const value = scalar_at(key);
  if (value != nullptr && !take(parse_yaml_integer(plain_text(*value)), min, max, out))
    report(key, "must be a whole number from " + range + ", without quotes");
}

void YamlMap::read(std::string_view key, double& out, double min, double max,
                   std::string_view about) const {
  const std::string range = number_text(min) + " to " + number_text(max);
  declare(key, about, {.type = "number", .range = range, .preset = number_text(out)});
  const YamlNode* const value = scalar_at(key);
  if (value != nullptr && !take(parse_yaml_number(plain_text(*value)), min, max, out))
    report(key, "must be a number from " + range + ", without quotes");
}

void YamlMap::read(std::string_view key, std::chrono::milliseconds& out,
                   std::chrono::milliseconds min, std::chrono::milliseconds max,
                   std::string_view about) const {
  const std::string range = to_duration_text(min) + " to " + to_duration_text(max);
  const bool has_preset = out >= min && out <= max;  // else it means "none"
  declare(key, about,
          {.type = "duration", .range = range, .preset = has_preset ? to_duration_text(out) : ""});
  const YamlNode* const value = scalar_at(key);
  if (value != nullptr && !take(parse_duration(value->text), min, max, out))
    report(key, "must be a duration from " + range + " with a unit (90s, 5m, 1h30m, 7d)");
}

void YamlMap::read(std::string_view key, std::vector<std::string>& out,
                   std::string_view about) const {
  declare(key, about, {.type = "list", .preset = out.empty() ? "" : dump_json(Json(out))});
  YamlNode* const value = value_at(key);
  if (value == nullptr) return;
  const bool all_scalars = std::ranges::all_of(
      value->items, [](const auto& item) { return item->kind == YamlKind::kScalar; });
  if ((value->kind != YamlKind::kList && value->kind != YamlKind::kNull) || !all_scalars) {
    report(key, "must be a list of single values");
    value->broken = true;
    return;
  }
  out.clear();
  for (const auto& item : value->items) out.push_back(item->text);
}

std::optional<std::size_t> YamlMap::word_at(std::string_view key,
                                            const std::vector<std::string_view>& names,
                                            std::string_view preset, std::string_view about) const {
  const std::string range = joined(names);
  declare(key, about, {.type = "word", .range = range, .preset = std::string(preset)});
  const YamlNode* const value = scalar_at(key);
  if (value == nullptr) return std::nullopt;
  for (std::size_t i = 0; i < names.size(); ++i)
    if (is_same_word(names[i], value->text)) return i;
  report(key, "must be one of " + range);
  return std::nullopt;
}

bool YamlMap::require_some(std::string_view key) const {
  if (node_->document->is_described) return node_->document->is_next_required = true;
  const YamlNode* const value = scalar_at(key);
  if (value != nullptr && !value->text.empty()) return true;
  if (value != nullptr || !has(key)) report(key, "is required and must not be empty");
  return false;
}

void YamlMap::require(std::string_view key, std::string& out, std::string_view about) const {
  if (require_some(key)) read(key, out, about);
}

void YamlMap::require(std::string_view key, std::chrono::milliseconds& out,
                      std::chrono::milliseconds min, std::chrono::milliseconds max,
                      std::string_view about) const {
  if (require_some(key)) read(key, out, min, max, about);
}

YamlMap YamlMap::map(std::string_view key, std::string_view about) const {
  declare(key, about, {.type = "mapping"});
  const YamlNode* const value = value_at(key);
  if (value == nullptr) return YamlMap(absent_node(*node_, key));
  if (value->kind != YamlKind::kMap && value->kind != YamlKind::kNull) {
    report(key, "must be a mapping");
    find_entry(*node_, key)->value->broken = true;
  }
  return YamlMap(find_entry(*node_, key)->value);
}

YamlMap YamlMap::map_like(std::string_view other, std::string_view key,
                          std::string_view about) const {
  declare(key, about, {.type = "mapping", .like = std::string(other)});
  const YamlMap like = map(key);
  if (node_->document->is_described) like.node_->broken = true;  // `other` has declared them
  return like;
}

std::vector<YamlMap> YamlMap::maps(std::string_view key, std::string_view about) const {
  declare(key, about, {.type = "list of mappings"});
  if (node_->document->is_described) return {YamlMap(absent_node(*node_, std::string(key) + "[]"))};
  YamlNode* const value = value_at(key);
  if (value == nullptr) return {};
  const bool all_maps = std::ranges::all_of(
      value->items, [](const auto& item) { return item->kind == YamlKind::kMap; });
  if ((value->kind != YamlKind::kList && value->kind != YamlKind::kNull) || !all_maps) {
    report(key, "must be a list of mappings");
    value->broken = true;
    return {};
  }
  std::vector<YamlMap> found;
  for (const auto& item : value->items) found.push_back(YamlMap(item));
  return found;
}

std::vector<std::pair<std::string, YamlMap>> YamlMap::named_items(std::string_view key,
                                                                  std::string_view about) const {
  declare(key, about, {.type = "steps"});
  YamlNode* const value = value_at(key);
  if (value == nullptr) return {};
  std::vector<std::pair<std::string, YamlMap>> found;
  bool is_sound = value->kind == YamlKind::kList || value->kind == YamlKind::kNull;
  for (const auto& item : value->items) {
    if (item->kind == YamlKind::kScalar) {
      found.emplace_back(item->text, YamlMap(absent_node(*item, item->text)));
    } else if (item->kind == YamlKind::kMap && item->entries.size() == 1) {
      const std::string& name = item->entries.front().key;
      found.emplace_back(name, YamlMap(item).map(name));
    } else {
      is_sound = false;
    }
  }
  if (is_sound) return found;
  report(key, "must be a list of words, or of mappings with one key (`- name: {...}`)");
  value->broken = true;
  return {};
}

std::vector<std::pair<std::string, YamlMap>> YamlMap::entries(std::string_view any,
                                                              std::string_view example) const {
  std::vector<std::pair<std::string, YamlMap>> found;
  if (node_->document->is_described) {
    node_->any = any;
    node_->example = example;
    found.emplace_back(example, YamlMap(absent_node(*node_, any)));
  }
  for (YamlEntry& entry : node_->entries) {
    entry.known = true;
    entry.value->must_be_read = true;
    found.emplace_back(entry.key, YamlMap(entry.value));
  }
  return found;
}

std::string YamlMap::scalar(std::string_view about) const {
  if (!about.empty()) declare({}, about, {.type = "text"});
  node_->was_read = true;
  return node_->text;
}

void YamlMap::read_renamed(std::string_view old, std::string_view key, YamlKey declared) const {
  const std::string now = "`" + join_yaml_path(node_->path, key) + "`";
  declared.is_old = true;
  declare(old, "old name of `" + std::string(key) + "`, accepted for one more release",
          std::move(declared));
  YamlEntry* const entry = find_entry(*node_, old);
  if (entry == nullptr) return;
  if (find_entry(*node_, key) != nullptr) {
    entry->known = entry->value->was_read = true;
    return report(old, "is the old name of " + now + ", and both are set: remove the old one");
  }
  entry->key = key;
  node_->document->old_names.push_back("`" + join_yaml_path(node_->path, old) + "` is now " + now);
}

void YamlMap::ignore_unknown() const { node_->ignores_unknown = true; }

void YamlMap::reject(std::string_view key, const std::string& message) const {
  report(key, message);
}

}  // namespace gpuward
