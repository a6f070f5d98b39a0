#include "tests/alerts/alert_rules.h"

#include <regex>
#include <set>
#include <stdexcept>

#include "core/runtime/files.h"
#include "core/runtime/yaml.h"
#include "tests/places.inc"

namespace gpuward::alerts {
namespace {

std::map<std::string, std::string> texts(const YamlMap& map) {
  std::map<std::string, std::string> out;
  for (const auto& [key, value] : map.entries()) out[key] = value.scalar();
  return out;
}

AlertRule read_rule(const YamlMap& item, const std::string& group) {
  AlertRule rule;
  rule.group = group;
  item.read("alert", rule.name);
  item.read("expr", rule.expr);
  item.read("for", rule.wait);
  rule.labels = texts(item.map("labels"));
  rule.annotations = texts(item.map("annotations"));
  return rule;
}

}  // namespace

void PrintTo(const AlertRule& rule, std::ostream* out) { *out << rule.name; }

std::filesystem::path alerts_folder() {
  return std::filesystem::path(GPUWARD_SOURCE_DIR) / "alerts";
}

std::filesystem::path rules_file() { return alerts_folder() / "gpuward.rules.yaml"; }

std::vector<AlertRule> load_alert_rules(const std::filesystem::path& path) {
  const auto file = YamlFile::load(path);
  if (!file) throw std::runtime_error(file.error().message);
  std::vector<AlertRule> out;
  for (const YamlMap& group : file->root().maps("groups")) {
    std::string name;
    group.read("name", name);
    for (const YamlMap& item : group.maps("rules")) {
      if (item.has("alert")) out.push_back(read_rule(item, name));
    }
  }
  return out;
}

std::vector<std::string> metrics_in_rules() {
  const auto text = read_file(rules_file());
  if (!text) throw std::runtime_error(text.error().message);
  // A name before a selector, an operator, a bracket or the end of the line: not a folder, a job or
  // a word.
  static const std::regex kMetric(R"((?:^|[\s(])((?:gpuward|alertmanager)_[a-z_]+)(?=[{\[\s)]))");
  std::set<std::string> out;
  for (std::sregex_iterator at(text->begin(), text->end(), kMetric), end; at != end; ++at) {
    out.insert((*at)[1]);
  }
  return {out.begin(), out.end()};
}

}  // namespace gpuward::alerts
