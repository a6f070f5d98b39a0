// The tree behind YamlFile and YamlMap: the values of the file, their lines, and which of them were
// read. Inside core/runtime only.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/runtime/yaml_schema.h"

namespace gpuward {

struct YamlNode;
struct YamlDocument;

enum class YamlKind : std::uint8_t { kAbsent, kNull, kScalar, kList, kMap };

struct YamlEntry {
  std::string key;
  int line = 0;
  std::shared_ptr<YamlNode> value;
  bool known = false;  // a reader has asked for it
};

struct YamlNode {
  YamlKind kind = YamlKind::kAbsent;
  int line = 0;
  std::string path;    // `rules[2].name`; empty for the root
  std::string text;    // of a scalar
  bool plain = false;  // a scalar without quotes
  std::vector<YamlEntry> entries;
  std::vector<std::shared_ptr<YamlNode>> items;
  YamlDocument* document = nullptr;

  std::vector<std::string> asked;  // keys that readers have asked for, for "did you mean"
  bool ignores_unknown = false;    // other programs define and extend this mapping
  bool must_be_read = false;       // returned by entries(): a reader must read its value
  bool was_read = false;
  std::string any, example;  // while describing: arguments of entries()
  bool broken = false;       // an error was reported: report no more inside
};

struct YamlFault {
  int line = 0;
  std::string text;
};

struct YamlDocument {
  std::string name;
  std::shared_ptr<YamlNode> root;
  std::vector<YamlFault> faults;
  bool is_described = false;  // nothing is read: readers declare their keys
  bool is_next_required = false;
  std::vector<YamlKey> keys = {};
  std::vector<std::string> old_names = {};

  // Adds `name:line: field: message`; does nothing inside a broken node.
  void report(const YamlNode& at, int line, std::string_view key, std::string_view message);
};

[[nodiscard]] std::string join_yaml_path(std::string_view parent, std::string_view key);

// Reports keys and values under `node` that were not read.
void report_unread(const YamlNode& node, YamlDocument& document);

}  // namespace gpuward
