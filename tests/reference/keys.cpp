#include "tests/reference/keys.h"

#include <gtest/gtest.h>

#include <array>
#include <regex>
#include <sstream>

namespace gpuward::reference {
namespace {

// These steps need a drain before them.
const std::set<std::string>& after_drain() {
  static const std::set<std::string> kSteps = {"restart-job",    "gpu-reset", "reboot",
                                               "quarantine-job", "nccl-test", "terminate"};
  return kSteps;
}

std::vector<std::string> parts_of(const std::string& path) {
  std::vector<std::string> parts;
  std::istringstream words(path);
  for (std::string part; std::getline(words, part, '.');) {
    if (part == "CODE") part = "79";
    if (part == "NUMBER") part = "2";
    parts.push_back(part);
  }
  return parts;
}

std::string nested(const std::vector<std::string>& parts, std::size_t from, std::string value) {
  for (std::size_t i = parts.size(); i-- > from;) {
    const bool is_list = parts[i].ends_with("[]");
    const std::string key = is_list ? parts[i].substr(0, parts[i].size() - 2) : parts[i];
    value = "{\"" + key + "\": " + (is_list ? "[" + value + "]" : value) + "}";
  }
  return value;
}

std::string last_part(const std::string& path) {
  std::string last = parts_of(path).back();
  if (last.ends_with("[]")) last.resize(last.size() - 2);
  return last;
}

bool is_placeholder(const std::set<std::string>& names) {
  return names.contains("CODE") || names.contains("CONDITION") || names.contains("LABEL") ||
         names.contains("NUMBER");
}

}  // namespace

std::vector<Key> documented_keys(std::string_view heading) {
  std::vector<Key> keys;
  for (const Cells& row : rows_below("docs/configuration.md", heading)) {
    EXPECT_EQ(row.size(), 5U) << row.front();
    if (row.size() == 5) keys.push_back({row[0], row[1], row[2], row[3], row[4]});
  }
  return keys;
}

std::string file_with(const std::string& path, const std::string& value) {
  const auto parts = parts_of(path);
  if (parts.front() != "steps") return nested(parts, 0, value);
  const std::string& step = parts[1];
  if (step == "nccl-pairs") {  // allowed only in a recovery
    return "{severities: {isolate: [taint, cordon, drain]}, jobs: {image: i}, recovery: {isolate: "
           "[nccl-test, " +
           nested(parts, 1, value) + ", verify, return-to-service]}}";
  }
  std::string list = after_drain().contains(step) ? "taint, cordon, drain, " : "taint, cordon, ";
  if (step == "taint") list.clear();
  if (step == "cordon") list = "taint, ";
  if (step == "return-to-service") list = "taint, cordon, drain, verify, ";
  list += nested(parts, 1, value);
  if (step == "wait") list += ", drain";
  return "{severities: {isolate: [" + list + "]}}";
}

std::string complaint_about(const Reader& reader, const Key& key, const std::string& value) {
  const std::string name = last_part(key.path) + ": ";
  std::istringstream lines(reader(file_with(key.path, value)));
  for (std::string line; std::getline(lines, line);) {
    const auto at = line.find(name);
    const bool is_whole =
        at != std::string::npos && at > 0 && (line[at - 1] == '.' || line[at - 1] == ' ');
    if (is_whole) return line.substr(at + name.size());
  }
  return {};
}

std::map<std::string, std::set<std::string>> mappings_of(const std::vector<Key>& keys) {
  std::map<std::string, std::set<std::string>> mappings;
  for (const Key& key : keys) {
    std::string parent;
    std::istringstream parts(key.path);
    for (std::string part; std::getline(parts, part, '.');) {
      const std::string name = part.ends_with("[]") ? part.substr(0, part.size() - 2) : part;
      mappings[parent].insert(name);
      parent += (parent.empty() ? "" : ".") + part;
    }
  }
  // Any code is allowed there; and a list of steps has no keys.
  std::erase_if(mappings, [](const auto& entry) { return is_placeholder(entry.second); });
  mappings.erase("steps");
  if (mappings.contains("")) mappings[""].erase("steps");
  return mappings;
}

std::set<std::string> allowed_in(const Reader& reader, const std::string& mapping) {
  const std::string nobody = "known-to-nobody";
  const std::string said =
      reader(file_with(mapping.empty() ? nobody : mapping + "." + nobody, "1"));
  const std::string introduction = nobody + ": unknown key allowed here:";
  const auto at = said.find(introduction);
  EXPECT_NE(at, std::string::npos) << mapping << ": " << said;
  if (at == std::string::npos) return {};
  std::istringstream line(said.substr(at + introduction.size()));
  std::string words;
  std::getline(line, words);
  std::istringstream names(words);
  std::set<std::string> allowed;
  for (std::string name; names >> name;) allowed.insert(name);
  return allowed;
}

std::pair<std::string, std::string> type_of(const Reader& reader, const Key& key) {
  static const std::vector<std::pair<std::string, std::regex>> kWords = {
      {"integer", std::regex("must be a whole number from (.*), without quotes")},
      {"number", std::regex("must be a number from (.*), without quotes")},
      {"duration", std::regex("must be a duration from (.*) with a unit.*")},
      {"bool", std::regex("must be true or false, without quotes")},
      {"list", std::regex("must be a list of single values")},
      {"mapping", std::regex("must be a mapping")},
      {"list of mappings", std::regex("must be a list of mappings")},
      {"steps", std::regex("must be a list of words, or of mappings.*")},
      {"word", std::regex("must be one of ([a-zA-Z_, -]+)")}};
  static const std::regex kEither("(?:must be|is neither) (\\w+) n?or (\\w+)(?:: .*)?");
  const std::string said = complaint_about(reader, key, "nonsense");
  std::smatch found;
  for (const auto& [type, words] : kWords) {
    if (std::regex_match(said, found, words)) {
      return {type, found.size() > 1 ? found[1].str() : ""};
    }
  }
  if (std::regex_match(said, found, kEither)) {
    return {"word", found[1].str() + ", " + found[2].str()};
  }
  return {"text", ""};
}

}  // namespace gpuward::reference
