#include "core/runtime/yaml_tree.h"

#include <algorithm>
#include <numeric>

#include "core/runtime/text.h"

namespace gpuward {
namespace {

// The Levenshtein distance, computed in one row.
std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 0; i < a.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i + 1;
    for (std::size_t j = 0; j < b.size(); ++j) {
      const std::size_t replaced = diagonal + (a[i] == b[j] ? 0 : 1);
      diagonal = row[j + 1];
      row[j + 1] = std::min({replaced, row[j] + 1, row[j + 1] + 1});
    }
  }
  return row.back();
}

std::string unknown_key_message(std::string_view key, const std::vector<std::string>& allowed) {
  std::string message = "unknown key";
  const auto nearest =
      std::ranges::min_element(allowed, {}, [&](const auto& a) { return edit_distance(key, a); });
  if (nearest != allowed.end() && key.size() < 128 && edit_distance(key, *nearest) <= 2) {
    message += ": did you mean " + *nearest + "?";
  }
  if (allowed.empty()) return message;
  message += " allowed here:";
  for (const std::string& name : allowed) message += " " + name;
  return message;
}

void report_unread_entry(const YamlNode& node, const YamlEntry& entry, YamlDocument& document) {
  const YamlNode& value = *entry.value;
  if (!entry.known) {
    if (node.ignores_unknown) return;
    document.report(node, entry.line, entry.key, unknown_key_message(entry.key, node.asked));
  } else if (value.must_be_read && !value.was_read && value.kind == YamlKind::kList) {
    document.report(node, entry.line, entry.key, "must not be a list");
  } else if (value.must_be_read && !value.was_read && value.kind == YamlKind::kScalar) {
    document.report(node, entry.line, entry.key, "must be a mapping, not a single value");
  } else {
    report_unread(value, document);
  }
}

}  // namespace

std::string join_yaml_path(std::string_view parent, std::string_view key) {
  std::string path(parent);
  if (!path.empty() && !key.empty()) path += '.';
  return path += to_valid_utf8(key, 256);
}

void YamlDocument::report(const YamlNode& at, int line, std::string_view key,
                          std::string_view message) {
  if (at.broken || is_described) return;
  std::string text = name + ":" + std::to_string(line) + ": ";
  if (const std::string field = join_yaml_path(at.path, key); !field.empty()) text += field + ": ";
  text.append(message);
  // A value may be read twice, with other defaults, but is reported once.
  const bool is_known = std::ranges::find(faults, text, &YamlFault::text) != faults.end();
  if (!is_known) faults.push_back({line, std::move(text)});
}

void report_unread(const YamlNode& node, YamlDocument& document) {
  if (node.broken) return;
  for (const YamlEntry& entry : node.entries) report_unread_entry(node, entry, document);
  for (const auto& item : node.items) report_unread(*item, document);
}

}  // namespace gpuward
