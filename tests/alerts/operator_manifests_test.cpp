// The objects for the prometheus-operator are equal to the plain files in alerts/.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/runtime/files.h"
#include "core/runtime/yaml.h"
#include "tests/alerts/alert_rules.h"
#include "tests/alerts/command.h"
#include "tests/places.inc"

namespace gpuward::alerts {
namespace {

const std::filesystem::path kManifests = GPUWARD_SOURCE_DIR "/manifests";

YamlFile load(const std::filesystem::path& path) {
  auto file = YamlFile::load(path);
  if (!file) throw std::runtime_error(file.error().message);
  return *std::move(file);
}

std::string text_of(const YamlMap& map, const char* key) {
  std::string text;
  map.read(key, text);
  return text;
}

std::vector<std::string> list_of(const YamlMap& map, const char* key) {
  std::vector<std::string> list;
  map.read(key, list);
  return list;
}

// In the form of alertmanager.yaml: `node!=""`.
std::vector<std::string> matchers_of(const YamlMap& map, const char* key) {
  std::vector<std::string> matchers;
  for (const YamlMap& one : map.maps(key)) {
    matchers.push_back(text_of(one, "name") + text_of(one, "matchType") + "\"" +
                       text_of(one, "value") + "\"");
  }
  return matchers;
}

struct Route {
  std::string receiver, wait, interval, repeat, goes_on;
  std::vector<std::string> matchers, group_by;
  friend bool operator==(const Route&, const Route&) = default;
};

Route plain_route(const YamlMap& map) {
  return {.receiver = text_of(map, "receiver"),
          .wait = text_of(map, "group_wait"),
          .interval = text_of(map, "group_interval"),
          .repeat = text_of(map, "repeat_interval"),
          .goes_on = text_of(map, "continue"),
          .matchers = list_of(map, "matchers"),
          .group_by = list_of(map, "group_by")};
}

Route operator_route(const YamlMap& map) {
  return {.receiver = text_of(map, "receiver"),
          .wait = text_of(map, "groupWait"),
          .interval = text_of(map, "groupInterval"),
          .repeat = text_of(map, "repeatInterval"),
          .goes_on = text_of(map, "continue"),
          .matchers = matchers_of(map, "matchers"),
          .group_by = list_of(map, "groupBy")};
}

TEST(OperatorManifests, HaveTheRulesAsTheScriptMakesThem) {
  const Said made = run({alerts_folder() / "prometheus-rule.sh"});
  ASSERT_EQ(made.exit_code, 0) << made.text;
  EXPECT_TRUE(made.text == *read_file(kManifests / "prometheus-rule.yaml"))
      << "run: alerts/prometheus-rule.sh > manifests/prometheus-rule.yaml";
}

TEST(OperatorManifests, HaveEveryRuleInTheRightPlace) {
  const YamlFile manifest = load(kManifests / "prometheus-rule.yaml");
  std::size_t alerts = 0;
  for (const YamlMap& group : manifest.root().map("spec").maps("groups")) {
    for (const YamlMap& rule : group.maps("rules")) alerts += rule.has("alert") ? 1 : 0;
  }
  EXPECT_EQ(alerts, load_alert_rules().size());
}

TEST(OperatorManifests, RouteAsThePlainFileDoes) {
  const YamlFile plain = load(alerts_folder() / "alertmanager.yaml");
  const YamlFile manifest = load(kManifests / "alertmanager-config.yaml");
  const YamlMap plain_root = plain.root().map("route");
  const YamlMap operator_root = manifest.root().map("spec").map("route");
  EXPECT_TRUE(operator_route(operator_root) == plain_route(plain_root));
  std::vector<Route> expected, got;
  for (const YamlMap& route : plain_root.maps("routes")) expected.push_back(plain_route(route));
  for (const YamlMap& route : operator_root.maps("routes")) got.push_back(operator_route(route));
  EXPECT_GE(expected.size(), 4U);
  EXPECT_TRUE(got == expected);
}

TEST(OperatorManifests, InhibitAsThePlainFileDoes) {
  const YamlFile plain = load(alerts_folder() / "alertmanager.yaml");
  const YamlFile manifest = load(kManifests / "alertmanager-config.yaml");
  using Rule = std::vector<std::vector<std::string>>;
  std::vector<Rule> expected, got;
  for (const YamlMap& rule : plain.root().maps("inhibit_rules")) {
    expected.push_back({list_of(rule, "source_matchers"), list_of(rule, "target_matchers"),
                        list_of(rule, "equal")});
  }
  for (const YamlMap& rule : manifest.root().map("spec").maps("inhibitRules")) {
    got.push_back({matchers_of(rule, "sourceMatch"), matchers_of(rule, "targetMatch"),
                   list_of(rule, "equal")});
  }
  EXPECT_GE(expected.size(), 4U);
  EXPECT_EQ(got, expected);
}

}  // namespace
}  // namespace gpuward::alerts
