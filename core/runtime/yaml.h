// Strict reading of YAML files: unknown keys, duplicate keys, wrong types and values out of range
// are errors with file, line and field; anchors, aliases, tags and further documents are refused;
// no message quotes a value (it may be a secret). Used by every config file. yaml-cpp is included
// in yaml.cpp and, to write, in yaml_text.cpp only.
//
//   auto file = YamlFile::load(path);                       // or YamlFile::parse(text, "name")
//   YamlMap root = file->root();
//   root.read("log_level", level_text);                     // absent: the variable keeps its value
//   YamlMap web = root.map("web");                          // absent: an empty map
//   for (YamlMap item : root.maps("rules")) item.require("name", name);
//   if (auto status = file->finish(); !status) ...          // first errors, unread keys included
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/model/result.h"

namespace gpuward {

class YamlFile;
struct YamlNode;
struct YamlDocument;

// A mapping of the file. Copies refer to the same file, which must outlive them. One thread.
class YamlMap {
 public:
  [[nodiscard]] bool has(std::string_view key) const;
  // Each read marks the key as known and leaves `out` alone where the key is absent. Wrong types
  // are remembered in the file and reported by finish(). A key without a value (`key:`) is an empty
  // mapping or list, and a fault for the rest.
  void read(std::string_view key, std::string& out) const;
  void read(std::string_view key, bool& out) const;  // true or false, nothing else
  void read(std::string_view key, std::int64_t& out, std::int64_t min, std::int64_t max) const;
  void read(std::string_view key, double& out, double min, double max) const;
  // "90s", "5m", "1h30m", "1500ms", "7d"; within min..max.
  void read(std::string_view key, std::chrono::milliseconds& out, std::chrono::milliseconds min,
            std::chrono::milliseconds max) const;
  void read(std::string_view key, std::vector<std::string>& out) const;
  void require(std::string_view key, std::string& out) const;  // absent or empty is an error
  [[nodiscard]] YamlMap map(std::string_view key) const;
  [[nodiscard]] std::vector<YamlMap> maps(std::string_view key) const;  // a list of mappings
  // A list whose items are a word (`- cordon`: an empty mapping) or a mapping with one key
  // (`- drain: {deadline: 30m}`: what stands under it).
  [[nodiscard]] std::vector<std::pair<std::string, YamlMap>> named_items(
      std::string_view key) const;
  // Each entry of this mapping as (key, value-as-mapping-or-scalar), in file order; marks them
  // known. A list, and a scalar whose scalar() nobody asks for, is a fault unless it is read by its
  // key.
  [[nodiscard]] std::vector<std::pair<std::string, YamlMap>> entries() const;
  [[nodiscard]] std::string scalar() const;  // for an entry that is a scalar; empty otherwise
  // For files that others define and extend (kubeconfig): finish() does not report this mapping's
  // unread keys, nor those below unread ones. Wrong types and duplicates stay errors.
  void ignore_unknown() const;
  // Reports `message` at this mapping's line, or at the line of `key` in it.
  void reject(std::string_view key, const std::string& message) const;

 private:
  friend class YamlFile;
  explicit YamlMap(std::shared_ptr<YamlNode> node);
  YamlNode* value_at(std::string_view key) const;  // null where absent; marks the key as known
  YamlNode* scalar_at(
      std::string_view key) const;  // null where absent or, reported, something else
  void report(std::string_view key, const std::string& message) const;
  std::shared_ptr<YamlNode> node_;
};

class YamlFile {
 public:
  // kNotFound, kTooLarge (over 1 MiB), kInvalid (not YAML, duplicate keys, nested deeper than 32;
  // says file:line:column).
  [[nodiscard]] static Result<YamlFile> load(const std::filesystem::path& path);
  [[nodiscard]] static Result<YamlFile> parse(std::string_view text, std::string name);

  YamlFile(YamlFile&&) noexcept;
  YamlFile& operator=(YamlFile&&) noexcept;
  ~YamlFile();

  [[nodiscard]] YamlMap root() const;  // an empty file is an empty map
  // kInvalid with one line per fault (`file:line: field: what is wrong, what is allowed`), keys
  // that nobody has read included.
  [[nodiscard]] Status finish() const;

 private:
  explicit YamlFile(std::unique_ptr<YamlDocument> document);
  std::unique_ptr<YamlDocument> document_;
};

}  // namespace gpuward
