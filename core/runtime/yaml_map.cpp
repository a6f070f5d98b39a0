#include <algorithm>

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

template <typename T>
std::string number_text(T value) {
  std::string text = std::to_string(value);
  if (text.find('.') == std::string::npos) return text;
  text.erase(text.find_last_not_of('0') + 1);
  if (text.ends_with('.')) text.pop_back();
  return text;
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

bool YamlMap::has(std::string_view key) const {
  remember_asked(*node_, key);
  return find_entry(*node_, key) != nullptr;
}

void YamlMap::read(std::string_view key, std::string& out) const {
  if (const YamlNode* const value = scalar_at(key)) out = value->text;
}

void YamlMap::read(std::string_view key, bool& out) const {
  const YamlNode* const value = scalar_at(key);
  if (value == nullptr) return;
  const auto parsed = value->plain ? parse_yaml_bool(value->text) : std::nullopt;
  if (!parsed) return report(key, "must be true or false, without quotes");
  out = *parsed;
}

void YamlMap::read(std::string_view key, std::int64_t& out, std::int64_t min,
                   std::int64_t max) const {
  const YamlNode* const value = scalar_at(key);
  if (value == nullptr) return;
  const auto parsed = value->plain ? parse_yaml_integer(value->text) : std::nullopt;
  if (!parsed || *parsed < min || *parsed > max) {
    return report(key, "must be a whole number from " + number_text(min) + " to " +
                           number_text(max) + ", without quotes");
  }
  out = *parsed;
}

void YamlMap::read(std::string_view key, double& out, double min, double max) const {
  const YamlNode* const value = scalar_at(key);
  if (value == nullptr) return;
  const auto parsed = value->plain ? parse_yaml_number(value->text) : std::nullopt;
  if (!parsed || *parsed < min || *parsed > max) {
    return report(key, "must be a number from " + number_text(min) + " to " + number_text(max) +
                           ", without quotes");
  }
  out = *parsed;
}

void YamlMap::read(std::string_view key, std::chrono::milliseconds& out,
                   std::chrono::milliseconds min, std::chrono::milliseconds max) const {
  const YamlNode* const value = scalar_at(key);
  if (value == nullptr) return;
  const auto parsed = parse_duration(value->text);
  if (!parsed || *parsed < min || *parsed > max) {
    return report(key, "must be a time from " + to_duration_text(min) + " to " +
                           to_duration_text(max) + " with its unit (90s, 5m, 1h30m, 7d)");
  }
  out = *parsed;
}

void YamlMap::read(std::string_view key, std::vector<std::string>& out) const {
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

void YamlMap::require(std::string_view key, std::string& out) const {
  const YamlNode* const value = scalar_at(key);
  if (value != nullptr && !value->text.empty()) {
    out = value->text;
  } else if (value != nullptr || !has(key)) {
    report(key, "is required and may not be empty");
  }
}

YamlMap YamlMap::map(std::string_view key) const {
  const YamlNode* const value = value_at(key);
  if (value == nullptr) return YamlMap(absent_node(*node_, key));
  if (value->kind != YamlKind::kMap && value->kind != YamlKind::kNull) {
    report(key, "must be a mapping");
    find_entry(*node_, key)->value->broken = true;
  }
  return YamlMap(find_entry(*node_, key)->value);
}

std::vector<YamlMap> YamlMap::maps(std::string_view key) const {
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

std::vector<std::pair<std::string, YamlMap>> YamlMap::named_items(std::string_view key) const {
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

std::vector<std::pair<std::string, YamlMap>> YamlMap::entries() const {
  std::vector<std::pair<std::string, YamlMap>> found;
  for (YamlEntry& entry : node_->entries) {
    entry.known = true;
    entry.value->must_be_read = true;
    found.emplace_back(entry.key, YamlMap(entry.value));
  }
  return found;
}

std::string YamlMap::scalar() const {
  node_->was_read = true;
  return node_->text;
}

void YamlMap::ignore_unknown() const { node_->ignores_unknown = true; }

void YamlMap::reject(std::string_view key, const std::string& message) const {
  report(key, message);
}

}  // namespace gpuward
