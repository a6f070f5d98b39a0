// Strict reading of YAML files. Unknown keys, duplicate keys, wrong types and values out of range
// are errors with file, line and field; anchors, aliases, tags and further documents are rejected;
// no message quotes a value (it may be a secret). Used by every config file. yaml-cpp is included
// in yaml.cpp and, to write, in yaml_text.cpp only.
//
//   auto file = YamlFile::load(path);                       // or YamlFile::parse(text, "name")
//   YamlMap root = file->root();
//   root.read("log_level", level_text, "what is logged");   // absent: the variable keeps its value
//   YamlMap web = root.map("web");                          // absent: an empty map
//   for (YamlMap item : root.maps("rules")) item.require("name", name);
//   if (auto status = file->finish(); !status) ...          // first errors, unread keys included
//
// A read also declares its key: given YamlFile::describing(), the same reader puts each key with
// its type, range, default and sentence into keys(). docs/configuration.md and the JSON Schema
// (yaml_schema.h) are made from it.
#pragma once

#include <array>
#include <chrono>
#include <concepts>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/model/result.h"
#include "core/runtime/yaml_schema.h"

namespace gpuward {

class YamlFile;
struct YamlNode;
struct YamlDocument;

// A word of the file, in any case, and the value that it means.
template <typename T>
using YamlWord = std::pair<std::string_view, T>;
template <typename T>
using YamlWords = std::type_identity_t<std::span<const YamlWord<T>>>;

// The words of the first values of an enum, from to_string().
template <typename Enum, std::size_t kCount>
[[nodiscard]] std::array<YamlWord<Enum>, kCount> yaml_words() {
  std::array<YamlWord<Enum>, kCount> words;
  for (std::size_t i = 0; i < kCount; ++i)
    words[i] = {to_string(static_cast<Enum>(i)), static_cast<Enum>(i)};
  return words;
}

// A mapping of the file. Copies refer to the same file, which must outlive them. One thread.
class YamlMap {
 public:
  [[nodiscard]] bool has(std::string_view key) const;  // true for every key while describing
  // Each read marks the key as known and leaves `out` unchanged if the key is absent. Wrong types
  // are recorded in the file and reported by finish(). A key without a value (`key:`) is an empty
  // mapping or list; for other types it is an error. `about` describes the key.
  void read(std::string_view key, std::string& out, std::string_view about = {}) const;
  void read(std::string_view key, std::filesystem::path& out, std::string_view about = {}) const;
  void read(std::string_view key, bool& out, std::string_view about = {}) const;  // true or false
  // For keys whose absence has its own meaning.
  void read(std::string_view key, std::optional<bool>& out, std::string_view about = {}) const;
  template <std::integral T>
  void read(std::string_view key, T& out, std::int64_t min, std::int64_t max,
            std::string_view about = {}) const {
    auto value = static_cast<std::int64_t>(out);
    read_integer(key, value, min, max, about);
    out = static_cast<T>(value);
  }
  void read(std::string_view key, double& out, double min, double max,
            std::string_view about = {}) const;
  // "90s", "5m", "1h30m", "1500ms", "7d"; within min..max.
  void read(std::string_view key, std::chrono::milliseconds& out, std::chrono::milliseconds min,
            std::chrono::milliseconds max, std::string_view about = {}) const;
  void read(std::string_view key, std::vector<std::string>& out, std::string_view about = {}) const;
  // Reads one of `words`.
  template <typename T>
  void read_word(std::string_view key, T& out, YamlWords<T> words,
                 std::string_view about = {}) const {
    std::optional<T> read = out;
    read_word(key, read, words, about);
    out = *read;
  }
  template <typename T>
  void read_word(std::string_view key, std::optional<T>& out, YamlWords<T> words,
                 std::string_view about = {}) const {
    std::vector<std::string_view> names;
    std::string_view preset;
    for (const auto& [name, value] : words) {
      names.push_back(name);
      if (out == value) preset = name;
    }
    if (const auto found = word_at(key, names, preset, about)) out = words[*found].second;
  }
  template <typename T>
  void require_word(std::string_view key, T& out, YamlWords<T> words,
                    std::string_view about = {}) const {
    if (require_some(key)) read_word(key, out, words, about);
  }
  void read_absolute(std::string_view key, std::filesystem::path& out,
                     std::string_view about = {}) const;  // a path that begins with /
  void require(std::string_view key, std::string& out,
               std::string_view about = {}) const;  // absent or empty is an error
  void require(std::string_view key, std::chrono::milliseconds& out, std::chrono::milliseconds min,
               std::chrono::milliseconds max, std::string_view about = {}) const;
  [[nodiscard]] YamlMap map(std::string_view key, std::string_view about = {}) const;
  // A mapping with the same keys as `other`, a path from the root.
  [[nodiscard]] YamlMap map_like(std::string_view other, std::string_view key,
                                 std::string_view about) const;
  [[nodiscard]] std::vector<YamlMap> maps(std::string_view key,
                                          std::string_view about = {}) const;  // list of mappings
  // A list whose items are a word (`- cordon`: an empty mapping) or a mapping with one key (`-
  // drain: {deadline: 30m}`: the mapping below it). Empty while describing: readers declare the
  // possible items below the root's key `steps` then.
  [[nodiscard]] std::vector<std::pair<std::string, YamlMap>> named_items(
      std::string_view key, std::string_view about = {}) const;
  // Returns each entry of this mapping as (key, value-as-mapping-or-scalar), in file order, and
  // marks it known. A list, or a scalar for which scalar() is not called, is an error unless it is
  // read by its key. While describing there is one entry, `example`, which is called `any` in its
  // path.
  [[nodiscard]] std::vector<std::pair<std::string, YamlMap>> entries(
      std::string_view any = {}, std::string_view example = {}) const;
  // Returns the text of an entry that is a scalar; empty otherwise.
  [[nodiscard]] std::string scalar(std::string_view about = {}) const;
  // For a renamed key: reads `old` as `key`; both together are an error. Call it before `key` is
  // read. `declared` is the type of both.
  void read_renamed(std::string_view old, std::string_view key, YamlKey declared) const;
  // For files that other programs define and extend (kubeconfig): finish() does not report this
  // mapping's unread keys, nor those below unread ones. Wrong types and duplicates stay errors.
  void ignore_unknown() const;
  // Reports `message` at this mapping's line, or at the line of `key` in it.
  void reject(std::string_view key, const std::string& message) const;

 private:
  friend class YamlFile;
  explicit YamlMap(std::shared_ptr<YamlNode> node);
  void read_integer(std::string_view key, std::int64_t& out, std::int64_t min, std::int64_t max,
                    std::string_view about) const;
  // Returns the index in `names` of the key's value.
  std::optional<std::size_t> word_at(std::string_view key,
                                     const std::vector<std::string_view>& names,
                                     std::string_view preset, std::string_view about) const;
  bool require_some(std::string_view key) const;   // whether there is a value
  YamlNode* value_at(std::string_view key) const;  // null if absent; marks the key as known
  YamlNode* scalar_at(
      std::string_view key) const;  // null if absent or of another kind, which it reports
  void declare(std::string_view key, std::string_view about, YamlKey declared) const;
  void report(std::string_view key, const std::string& message) const;
  std::shared_ptr<YamlNode> node_;
};

class YamlFile {
 public:
  // kNotFound, kTooLarge (over 1 MiB), kInvalid (not YAML, duplicate keys, nested deeper than 32;
  // says file:line:column).
  [[nodiscard]] static Result<YamlFile> load(const std::filesystem::path& path);
  [[nodiscard]] static Result<YamlFile> parse(std::string_view text, std::string name);
  // A file that contains each key with its default: a reader that gets it declares its keys. Its
  // lists and mappings have one item, and nothing in it is an error.
  [[nodiscard]] static YamlFile describing();

  YamlFile(YamlFile&&) noexcept;
  YamlFile& operator=(YamlFile&&) noexcept;
  ~YamlFile();

  [[nodiscard]] YamlMap root() const;  // an empty file is an empty map
  // kInvalid with one line per error (`file:line: field: what is wrong, what is allowed`), unread
  // keys included.
  [[nodiscard]] Status finish() const;
  // Returns the old names in the file, each with the new one (`a.old` is now `a.new`), in order of
  // reading.
  [[nodiscard]] const std::vector<std::string>& old_names() const;
  [[nodiscard]] const std::vector<YamlKey>& keys() const;  // as declared, only of describing()

 private:
  explicit YamlFile(std::unique_ptr<YamlDocument> document);
  std::unique_ptr<YamlDocument> document_;
};

}  // namespace gpuward
