// The texts that are generated from the readers' declared keys: the tables of docs/configuration.md
// and the files of manifests/schemas. These tests check them; `./dev docs` runs them to write them
// again.
#include <gmock/gmock.h>

#include <map>
#include <ranges>
#include <sstream>

#include "core/runtime/yaml_schema.h"
#include "exporter/config/settings.h"
#include "remediator/policy/policy.h"
#include "tests/places.inc"
#include "tests/reference/page.h"
#include "tests/support/process.h"

namespace gpuward::reference {
namespace {

using support::Process;

constexpr const char* kPage = "docs/configuration.md";
const std::string kMark = "<!-- keys of ";

// The names of the programs' files in the page's marks.
std::vector<YamlKey> present(std::vector<YamlKey> keys) {
  std::erase_if(keys, [](const YamlKey& key) { return key.is_old; });
  return keys;
}

const std::map<std::string, std::vector<YamlKey>>& keys_by_file() {
  static const std::map<std::string, std::vector<YamlKey>> kKeys = {
      {"policy", present(remediator::policy_keys())},
      {"exporter", present(exporter::settings_keys())}};
  return kKeys;
}

std::string top_of(const YamlKey& key) { return key.path.substr(0, key.path.find_first_of(".[")); }

std::string in_code(const std::string& text) { return text.empty() ? text : "`" + text + "`"; }

std::string row_of(const YamlKey& key) {
  // A default with a `|` would end its cell: the sentence gives it instead.
  const std::string preset = key.preset.contains('|') ? std::string() : in_code(key.preset);
  const std::string like = key.like.empty() ? "" : "as `" + key.like + "`, ";
  std::string row = "|";
  for (const std::string& cell : {in_code(key.path), key.type, key.range, preset,
                                  like + key.about + (key.is_required ? "; required" : "")})
    row += (cell.empty() ? "" : " " + cell) + " |";
  return row + "\n";
}

// The words of a mark such as `<!-- keys of policy: drain evictions -->`.
std::vector<std::string> words_of_mark(const std::string& line) {
  std::istringstream text(line.substr(kMark.size(), line.rfind(" -->") - kMark.size()));
  std::vector<std::string> words;
  for (std::string word; text >> word;) words.push_back(word);
  words.front().pop_back();  // the colon
  return words;
}

std::string table_of(const std::string& mark) {
  const auto words = words_of_mark(mark);
  std::string rows;
  for (const std::string& section : words | std::views::drop(1)) {
    for (const YamlKey& key : keys_by_file().at(words.front()))
      if (top_of(key) == section && key.path != "steps") rows += row_of(key);
  }
  return "| key | type | range | default | meaning |\n|---|---|---|---|---|\n" + rows;
}

TEST(GeneratedTables, AreThoseOfTheDeclaredKeys) { expect_tables(kPage, kMark, table_of); }

TEST(GeneratedTables, HaveEachSectionOnce) {
  std::map<std::string, std::multiset<std::string>> named;
  std::istringstream lines(tree_file(kPage));
  for (std::string line; std::getline(lines, line);) {
    if (!line.starts_with(kMark)) continue;
    const auto words = words_of_mark(line);
    named[words.front()].insert(words.begin() + 1, words.end());
  }
  for (const auto& [file, keys] : keys_by_file()) {
    std::set<std::string> sections;
    for (const YamlKey& key : keys) sections.insert(top_of(key));
    EXPECT_THAT(named[file], testing::UnorderedElementsAreArray(sections)) << file;
  }
}

TEST(GeneratedTables, SayWhatEachKeyIsFor) {
  for (const auto& [file, keys] : keys_by_file())
    for (const YamlKey& key : keys) EXPECT_NE(key.about, "") << file << ": " << key.path;
}

TEST(GeneratedSchemas, AreWhatTheProgramsPrint) {
  for (const auto& [path, argv] : std::map<std::string, std::vector<std::string>>{
           {"manifests/schemas/policy.schema.json",
            {GPUWARD_BIN_DIR "/gpuwardctl", "policy", "schema"}},
           {"manifests/schemas/exporter.schema.json",
            {GPUWARD_BIN_DIR "/gpuward-exporter", "config", "schema"}}}) {
    const auto printed = Process::run({.argv = argv});
    ASSERT_TRUE(printed);
    EXPECT_EQ(printed->exit_code, 0) << printed->error_output;
    expect_file(path, printed->output);
  }
}

}  // namespace
}  // namespace gpuward::reference
