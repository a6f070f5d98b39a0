// The texts that are generated from the fields of the Remediation resource,
// remediator/cluster/remediation_fields.cpp: the schema in manifests/crd.yaml and the tables of
// docs/remediation.md. These tests check them; `./dev docs` runs the tests with the name Generated
// to write both again.
#include <gmock/gmock.h>

#include <algorithm>
#include <filesystem>
#include <regex>
#include <set>
#include <sstream>

#include "core/runtime/yaml_text.h"
#include "remediator/cluster/remediation_fields.h"
#include "tests/places.inc"
#include "tests/reference/page.h"

namespace gpuward::remediator {
namespace {

using reference::tree_file;

// One field in the page: its path, its type, and its sentence.
struct Row {
  std::string path, holds, about;
};

std::string words_in(const Json& schema) {
  std::string words;
  for (const Json& word : schema.at("enum"))
    words += (words.empty() ? "" : ", ") + word.get<std::string>();
  return words;
}

std::string holds(const Json& schema) {
  if (schema.contains("enum")) return words_in(schema);
  if (schema.contains("format")) return schema.at("format");
  if (schema.contains("items"))
    return "list of " + schema.at("items").at("type").get<std::string>() + "s";
  if (schema.contains("additionalProperties")) return "map of strings";
  return schema.at("type");
}

// The fields below an object's `schema`, each before its own sub-fields.
void add_rows(const std::string& path, const Json& schema, std::vector<Row>& rows) {
  for (const auto& [name, field] : schema.at("properties").items()) {
    const std::string at = path + "." + name;
    rows.push_back({at, holds(field), field.value("description", "")});
    const bool is_list = field.contains("items");
    const Json& below = is_list ? field.at("items") : field;
    if (below.contains("properties")) add_rows(at + (is_list ? "[]" : ""), below, rows);
  }
}

std::vector<Row> rows_of(const std::string& part) {
  std::vector<Row> rows;
  add_rows(part, remediation_schema().at("properties").at(part), rows);
  return rows;
}

std::string table_of(const std::string& mark) {
  std::string table = "| field | holds | meaning |\n|---|---|---|\n";
  for (const Row& row : rows_of(mark.contains(" spec ") ? "spec" : "status"))
    table += "| `" + row.path + "` | " + row.holds + " | " + row.about + " |\n";
  return table;
}

std::string indented(const std::string& text, std::size_t columns) {
  std::string result;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);)
    result += std::string(columns, ' ') + line + "\n";
  return result;
}

TEST(GeneratedRemediation, IsTheSchemaOfTheCrd) {
  const std::string file = "manifests/crd.yaml";
  const std::string mark = "        openAPIV3Schema:\n";
  const std::string text = tree_file(file);
  const auto at = text.find(mark);
  ASSERT_NE(at, std::string::npos);
  const auto schema = json_to_yaml(dump_json(remediation_schema()));
  ASSERT_TRUE(schema);

  reference::expect_file(file, text.substr(0, at + mark.size()) + indented(*schema, 10));
}

TEST(GeneratedRemediation, IsTheTablesOfThePage) {
  reference::expect_tables("docs/remediation.md", "<!-- fields of ", table_of);
}

TEST(RemediationFields, SayWhatEachIsFor) {
  for (const char* part : {"spec", "status"})
    for (const Row& row : rows_of(part)) EXPECT_NE(row.about, "") << row.path;
}

// The files below `folder` that contain this text.
std::vector<std::string> files_with(const std::string& text, const std::string& folder) {
  std::vector<std::string> files;
  const std::filesystem::path root = GPUWARD_SOURCE_DIR;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(root / folder)) {
    if (!entry.is_regular_file()) continue;
    const std::string file = entry.path().lexically_relative(root).string();
    if (tree_file(file).contains(text)) files.push_back(file);
  }
  return files;
}

// docs/extending.md counts these places: a member, and a line of the table. Names in small letters
// ("name", "status") have other uses too.
TEST(RemediationFields, AreNamedInTheTableAlone) {
  for (const char* part : {"spec", "status"}) {
    for (const Row& row : rows_of(part)) {
      const std::string name = row.path.substr(row.path.rfind('.') + 1);
      if (std::ranges::none_of(name, [](char c) { return c >= 'A' && c <= 'Z'; })) continue;
      EXPECT_THAT(files_with('"' + name + '"', "remediator/cluster"),
                  testing::ElementsAre("remediator/cluster/remediation_fields.cpp"))
          << row.path;
    }
  }
}

TEST(RemediationFields, TakeAsManyFilesAsThePageSays) {
  static const std::regex kHeading("\n## A field of the Remediation, in (\\d+) files\n");
  const std::string page = tree_file("docs/extending.md");
  std::smatch heading;
  ASSERT_TRUE(std::regex_search(page, heading, kHeading));
  const std::string below = heading.suffix();
  std::set<std::string> sources;
  for (const std::string& word : reference::code_words(below.substr(0, below.find("\n## "))))
    if (word.starts_with("remediator/")) sources.insert(word);

  EXPECT_EQ(std::to_string(sources.size()), heading[1]);
}

}  // namespace
}  // namespace gpuward::remediator
