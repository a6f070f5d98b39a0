#include "core/runtime/yaml_text.h"

#include <gtest/gtest.h>

#include "core/runtime/yaml.h"

namespace gpuward {
namespace {

TEST(JsonToYaml, WritesBlocksAndEmptyOnesInALine) {
  EXPECT_EQ(*json_to_yaml(R"({"items": [{"name": "gpu-01", "open": true, "count": 3}, null],
                              "none": {}, "nothing": []})"),
            "items:\n"
            "  - count: 3\n"
            "    name: gpu-01\n"
            "    open: true\n"
            "  - null\n"
            "none: {}\n"
            "nothing: []\n");
  EXPECT_EQ(*json_to_yaml("[]"), "[]\n");
}

TEST(JsonToYaml, KeepsTextsTexts) {
  for (const std::string text : {"on", "No", "null", "~", "12", "1e3", "2026-01-01T00:00:00Z",
                                 "0x1f", "a: b", "- a", "#", "", " a", "{", "&a", "!t"}) {
    EXPECT_EQ(*json_to_yaml("\"" + text + "\""), "\"" + text + "\"\n");
    EXPECT_EQ(*json_to_yaml("{\"" + text + "\": 1}"), "\"" + text + "\": 1\n");
  }
  EXPECT_EQ(*json_to_yaml("\"gpuward.dev/node\""), "gpuward.dev/node\n");
}

TEST(JsonToYaml, CanBeReadBack) {
  const auto yaml = json_to_yaml(R"({"text": "two\nlines: \"quoted\" \\ \u00e4\u0007"})");
  ASSERT_TRUE(yaml);
  const auto file = YamlFile::parse(*yaml, "test");
  ASSERT_TRUE(file) << *yaml;
  std::string text;
  file->root().read("text", text);
  EXPECT_EQ(text, "two\nlines: \"quoted\" \\ \u00e4\a");
}

TEST(JsonToYaml, EscapesWhatReordersOrHidesText) {
  const auto yaml = json_to_yaml(R"({"text": "a\u202eb\nc\u2069"})");
  ASSERT_TRUE(yaml);
  EXPECT_EQ(*yaml, "text: \"a\\u202eb\\nc\\u2069\"\n");
  const auto file = YamlFile::parse(*yaml, "test");
  ASSERT_TRUE(file);
  std::string text;
  file->root().read("text", text);
  EXPECT_EQ(text, "a\u202eb\nc\u2069");
}

TEST(JsonToYaml, RefusesWhatIsNoJson) {
  EXPECT_EQ(json_to_yaml("{").error().kind, ErrorKind::kInvalid);
}

}  // namespace
}  // namespace gpuward
