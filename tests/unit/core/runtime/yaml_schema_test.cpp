#include "core/runtime/yaml_schema.h"

#include <gmock/gmock.h>

#include <map>

#include "core/runtime/json.h"
#include "core/runtime/yaml.h"

namespace gpuward {
namespace {

using namespace std::chrono_literals;

enum class Colour { kRed, kGreen };
constexpr YamlWord<Colour> kColours[] = {{"red", Colour::kRed}, {"green", Colour::kGreen}};

// A reader of every kind of key.
YamlFile described() {
  YamlFile file = YamlFile::describing();
  const YamlMap root = file.root();
  std::string name = "a";
  root.require("name", name, "who");
  std::chrono::milliseconds wait = 90s;
  root.read("wait", wait, 1s, 1h, "how long");
  std::chrono::milliseconds grace = 0s;
  root.read("grace", grace, 1s, 1h);
  int count = 7;
  root.read("count", count, 0, 10);
  Colour colour = Colour::kGreen;
  root.read_word("colour", colour, kColours, "of it");
  std::vector<std::string> list = {"x"};
  root.map("inner", "more").read("list", list);
  for (const YamlMap& item : root.maps("items")) {
    bool is_on = false;
    item.read("on", is_on);
    item.map_like("inner", "again", "for this item").read("list", list);
  }
  for (const auto& [code, row] : root.map("codes").entries("CODE", "79")) row.read("text", name);
  static_cast<void>(root.named_items("plan"));
  static_cast<void>(root.map("steps").map("go"));
  return file;
}

std::map<std::string, YamlKey> declared() {
  const YamlFile file = described();
  std::map<std::string, YamlKey> keys;
  for (const YamlKey& key : file.keys()) keys[key.path] = key;
  return keys;
}

TEST(YamlKeys, AreDeclaredByTheirReader) {
  auto keys = declared();

  EXPECT_TRUE(keys["name"].is_required);
  EXPECT_FALSE(keys["wait"].is_required);
  EXPECT_EQ(keys["name"].about, "who");
  EXPECT_EQ(keys["wait"].type, "duration");
  EXPECT_EQ(keys["wait"].range, "1s to 1h");
  EXPECT_EQ(keys["wait"].preset, "90s");
  EXPECT_EQ(keys["colour"].range, "red, green");
  EXPECT_EQ(keys["colour"].preset, "green");
  EXPECT_EQ(keys["inner.list"].preset, R"(["x"])");
  EXPECT_EQ(keys["items[].on"].preset, "false");
  EXPECT_EQ(keys["codes.CODE.text"].type, "text");
}

TEST(YamlKeys, HaveNoDefaultThatTheFileCouldNotSay) { EXPECT_EQ(declared()["grace"].preset, ""); }

TEST(YamlKeys, AreNotRepeatedBelowAMappingThatHasThoseOfAnother) {
  const auto keys = declared();

  EXPECT_EQ(keys.at("items[].again").like, "inner");
  EXPECT_FALSE(keys.contains("items[].again.list"));
}

TEST(YamlKeys, LeaveNoFaults) { EXPECT_TRUE(described().finish()); }

TEST(JsonSchema, HasAPropertyForEachKey) {
  const auto schema = parse_json(json_schema(described().keys(), "A file"));

  ASSERT_TRUE(schema);
  const Json& properties = member_at(*schema, "properties");
  EXPECT_EQ(string_at(*schema, "title"), "A file");
  EXPECT_EQ(dump_json(member_at(*schema, "required")), R"(["name"])");
  EXPECT_EQ(dump_json(member_at(properties, "count")),
            R"({"default":7,"maximum":10,"minimum":0,"type":"integer"})");
  EXPECT_EQ(dump_json(member_at(properties, "colour")),
            R"({"default":"green","description":"of it","enum":["red","green"],"type":"string"})");
  EXPECT_EQ(dump_json(member_at(member_at(member_at(properties, "items"), "items"), "properties")),
            R"({"again":{"allOf":[{"$ref":"#/properties/inner"}],"description":"for this item"},)"
            R"("on":{"default":false,"type":"boolean"}})");
}

TEST(JsonSchema, TakesAnyKeyForAPlaceholder) {
  const auto schema = parse_json(json_schema(described().keys(), "A file"));

  ASSERT_TRUE(schema);
  const Json& codes = member_at(member_at(*schema, "properties"), "codes");
  EXPECT_TRUE(member_at(member_at(codes, "additionalProperties"), "properties").contains("text"));
}

TEST(JsonSchema, DefinesAStepAsAWordOrAMappingWithOneKey) {
  const auto schema = parse_json(json_schema(described().keys(), "A file"));

  ASSERT_TRUE(schema);
  EXPECT_FALSE(member_at(*schema, "properties").contains("steps"));
  const Json& steps = member_at(member_at(*schema, "definitions"), "steps");
  EXPECT_EQ(dump_json(member_at(member_at(steps, "items"), "anyOf")),
            R"([{"enum":["go"]},{"additionalProperties":false,"maxProperties":1,"minProperties":1,)"
            R"("properties":{"go":{"additionalProperties":false,"type":["object","null"]}},)"
            R"("type":"object"}])");
}

}  // namespace
}  // namespace gpuward
