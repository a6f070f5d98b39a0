#include "core/runtime/yaml.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/temp_dir.h"

namespace gpuward {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

// The file of a test; a text that does not parse fails the test at once.
YamlFile file_of(std::string_view text) {
  auto file = YamlFile::parse(text, "c.yaml");
  if (!file) throw std::runtime_error(file.error().message);
  return std::move(*file);
}

std::string faults_of(const YamlFile& file) {
  const auto status = file.finish();
  return status ? "" : status.error().message;
}

std::string refusal_of(std::string_view text) {
  const auto file = YamlFile::parse(text, "c.yaml");
  return file ? "accepted" : file.error().message;
}

TEST(RenamedKey, IsReadUnderItsOldNameAndSaidSo) {
  const YamlFile file = file_of("in:\n  old: 7\n");
  const YamlMap in = file.root().map("in");
  int value = 0;
  in.read_renamed("old", "new", {.type = "integer"});
  in.read("new", value, 0, 9);
  EXPECT_EQ(value, 7);
  EXPECT_EQ(faults_of(file), "");
  EXPECT_THAT(file.old_names(), ElementsAre("`in.old` is now `in.new`"));
}

TEST(RenamedKey, MayNotBeBesideTheNewOne) {
  const YamlFile file = file_of("new: 1\nold: 7\n");
  int value = 0;
  file.root().read_renamed("old", "new", {.type = "integer"});
  file.root().read("new", value, 0, 9);
  EXPECT_EQ(value, 1);
  EXPECT_EQ(faults_of(file),
            "c.yaml:2: old: is the old name of `new`, and both are set: remove the old one");
}

TEST(RenamedKey, IsDeclaredUnderBothNames) {
  const YamlFile file = YamlFile::describing();
  int value = 0;
  file.root().read_renamed("old", "new", {.type = "integer", .range = "0 to 9"});
  file.root().read("new", value, 0, 9, "a number");
  ASSERT_EQ(file.keys().size(), 2U);
  EXPECT_EQ(file.keys()[0].path, "old");
  EXPECT_TRUE(file.keys()[0].is_old);
  EXPECT_FALSE(file.keys()[1].is_old);
  EXPECT_EQ(file.keys()[0].about, "old name of `new`, accepted for one more release");
  EXPECT_EQ(file.keys()[1].path, "new");
}

TEST(Yaml, ReadsOneOfTheWordsAsItIsWritten) {
  constexpr YamlWord<int> kWords[] = {{"one", 1}, {"two", 2}};
  const YamlFile file = file_of("a: two\nb: ONE\nc: three\n");
  int a = 0;
  int b = 0;
  std::optional<int> c;
  int d = 0;
  file.root().read_word("a", a, kWords);
  file.root().read_word("b", b, kWords);
  file.root().read_word("c", c, kWords);
  file.root().require_word("d", d, kWords);
  EXPECT_EQ(a, 2);
  EXPECT_EQ(b, 0);
  EXPECT_EQ(c, std::nullopt);
  EXPECT_EQ(faults_of(file),
            "c.yaml:1: d: is required and must not be empty\nc.yaml:2: b: must be one of one, "
            "two\nc.yaml:3: c: must be one of one, two");
}

TEST(Yaml, ReadsASeverityInAnyCase) {
  constexpr YamlWord<int> kWords[] = {{"isolate", 1}, {"reboot", 2}};
  const YamlFile file = file_of("a: Isolate\nb: REBOOT\n");
  int a = 0;
  int b = 0;
  file.root().read_word("a", a, kWords);
  file.root().read_word("b", b, kWords);
  EXPECT_EQ(a, 1);
  EXPECT_EQ(b, 2);
  EXPECT_EQ(faults_of(file), "");
}

TEST(Yaml, ReadsEveryKindOfValue) {
  const YamlFile file = file_of(
      "name: node-a\nquoted: \"a\\tb\"\non: true\ncount: 7\nshare: 0.25\nwait: 90s\nlist: [a, 'b', "
      "3]\n");
  std::string name;
  std::string quoted;
  bool on = false;
  std::int64_t count = 0;
  double share = 0;
  std::chrono::milliseconds wait{};
  std::vector<std::string> list;
  const YamlMap root = file.root();
  root.read("name", name);
  root.read("quoted", quoted);
  root.read("on", on);
  root.read("count", count, 0, 10);
  root.read("share", share, 0, 1);
  root.read("wait", wait, 1s, 1h);
  root.read("list", list);
  EXPECT_EQ(faults_of(file), "");
  EXPECT_EQ(name, "node-a");
  EXPECT_EQ(quoted, "a\tb");
  EXPECT_TRUE(on);
  EXPECT_EQ(count, 7);
  EXPECT_EQ(share, 0.25);
  EXPECT_EQ(wait, 90s);
  EXPECT_THAT(list, ElementsAre("a", "b", "3"));
}

TEST(Yaml, LeavesTheDefaultIfAKeyIsAbsent) {
  const YamlFile file = file_of("");
  std::string name = "default";
  file.root().read("name", name);
  file.root().map("web").read("name", name);
  EXPECT_EQ(name, "default");
  EXPECT_TRUE(file.root().maps("rules").empty());
  EXPECT_EQ(faults_of(file), "");
}

TEST(Yaml, TakesAFileOfCommentsAloneForAnEmptyMapping) {
  EXPECT_EQ(faults_of(file_of("# nothing\n\n---\n# yet\n")), "");
}

TEST(Yaml, ReportsAKeyThatNobodyReadsWithItsLineAndTheNearestKnownOne) {
  const YamlFile file = file_of("mode: observe\nweb:\n  lisen: x\n");
  std::string text;
  file.root().read("mode", text);
  file.root().map("web").read("listen", text);
  EXPECT_EQ(faults_of(file),
            "c.yaml:3: web.lisen: unknown key: did you mean listen? allowed here: listen");
}

TEST(Yaml, DoesNotGuessAtAKeyThatResemblesNone) {
  const YamlFile file = file_of("temperature: 3\n");
  std::string text;
  file.root().read("mode", text);
  EXPECT_EQ(faults_of(file), "c.yaml:1: temperature: unknown key allowed here: mode");
}

TEST(Yaml, ReportsUnreadKeysOfListsWithTheirPlace) {
  const YamlFile file = file_of("rules:\n  - name: a\n  - name: b\n    nam: c\n");
  for (const YamlMap& rule : file.root().maps("rules")) {
    std::string name;
    rule.require("name", name);
  }
  EXPECT_THAT(faults_of(file),
              HasSubstr("c.yaml:4: rules[1].nam: unknown key: did you mean name?"));
}

TEST(Yaml, ReadsAListOfWordsAndOfMappingsWithOneKey) {
  const YamlFile file = file_of("steps:\n  - taint\n  - drain: {deadline: 30m}\n  - verify:\n");
  std::vector<std::string> names;
  std::chrono::milliseconds deadline{0};
  for (const auto& [name, settings] : file.root().named_items("steps")) {
    names.push_back(name);
    if (name == "drain") settings.read("deadline", deadline, 0s, 24h);
  }
  EXPECT_THAT(names, ElementsAre("taint", "drain", "verify"));
  EXPECT_EQ(deadline, 30min);
  EXPECT_EQ(faults_of(file), "");
}

TEST(Yaml, ReportsItemsThatHaveNoName) {
  for (const char* text : {"steps: taint\n", "steps:\n  - {a: {}, b: {}}\n", "steps:\n  - [a]\n"}) {
    const YamlFile file = file_of(text);
    EXPECT_TRUE(file.root().named_items("steps").empty());
    EXPECT_THAT(faults_of(file), HasSubstr("steps: must be a list of words"));
  }
}

TEST(Yaml, ReportsWhatStandsUnderANamedItemAndIsNotRead) {
  const YamlFile file = file_of("steps:\n  - drain: {deadlin: 30m}\n  - wait: 5m\n");
  std::chrono::milliseconds deadline{0};
  for (const auto& [name, settings] : file.root().named_items("steps"))
    settings.read("deadline", deadline, 0s, 24h);
  EXPECT_THAT(faults_of(file), HasSubstr("steps[0].drain.deadlin: unknown key"));
  EXPECT_THAT(faults_of(file), HasSubstr("steps[1].wait: must be a mapping"));
}

TEST(Yaml, RefusesADuplicateKeyThatYamlCppWouldDrop) {
  EXPECT_EQ(refusal_of("a:\n  x: 1\n  y: 2\n  x: 3\n"), "c.yaml:4:3: duplicate key a.x");
  EXPECT_THAT(refusal_of("{x: 1, x: 2}"), HasSubstr("duplicate key"));
  EXPECT_THAT(refusal_of("x: 1\n\"x\": 2\n"), HasSubstr("duplicate key"));
}

TEST(Yaml, NamesLineAndColumnOfBrokenSyntax) {
  EXPECT_THAT(refusal_of("a: 1\nb: [1, 2\nc: 3\n"), HasSubstr("c.yaml:3:"));
  EXPECT_THAT(refusal_of("a: 1\n\tb: 2\n"), HasSubstr("c.yaml:2:"));
}

TEST(Yaml, RefusesAFileThatIsNoMapping) {
  EXPECT_THAT(refusal_of("- a\n- b\n"), HasSubstr("c.yaml:1: the file must be a mapping"));
  EXPECT_THAT(refusal_of("just text\n"), HasSubstr("must be a mapping"));
}

TEST(Yaml, TakesNothingButTrueAndFalseForABoolean) {
  for (const std::string_view value : {"yes", "on", "1", "\"true\"", "True"}) {
    const YamlFile file = file_of("enabled: " + std::string(value));
    bool enabled = false;
    file.root().read("enabled", enabled);
    EXPECT_FALSE(enabled);
    EXPECT_EQ(faults_of(file), "c.yaml:1: enabled: must be true or false, without quotes") << value;
  }
}

TEST(Yaml, TakesNoHexadecimalOctalOrQuotedNumbers) {
  for (const std::string_view value : {"0x10", "010", "\"7\"", "7.0", "11", "-1", "seven"}) {
    const YamlFile file = file_of("count: " + std::string(value));
    std::int64_t count = 5;
    file.root().read("count", count, 0, 10);
    EXPECT_EQ(count, 5);
    EXPECT_EQ(faults_of(file),
              "c.yaml:1: count: must be a whole number from 0 to 10, without quotes")
        << value;
  }
}

TEST(Yaml, SaysWhichTimesAreAllowed) {
  const YamlFile file = file_of("wait: 90\n");
  std::chrono::milliseconds wait = 5s;
  file.root().read("wait", wait, 1s, 2h);
  EXPECT_EQ(wait, 5s);
  EXPECT_EQ(faults_of(file),
            "c.yaml:1: wait: must be a duration from 1s to 2h with a unit (90s, 5m, 1h30m, 7d)");
}

TEST(Yaml, ReportsAValueOfTheWrongShapeOnceWithoutItsInside) {
  const YamlFile file = file_of("name: {a: 1, b: 2}\nweb: text\nlist: {c: 1}\nrules: [text]\n");
  std::string name;
  std::vector<std::string> list;
  file.root().read("name", name);
  file.root().map("web").require("file", name);
  file.root().read("list", list);
  EXPECT_TRUE(file.root().maps("rules").empty());
  EXPECT_EQ(faults_of(file),
            "c.yaml:1: name: must be a single value, not a mapping or a list\n"
            "c.yaml:2: web: must be a mapping\n"
            "c.yaml:3: list: must be a list of single values\n"
            "c.yaml:4: rules: must be a list of mappings");
}

TEST(Yaml, ReportsAKeyWithoutAValueButTakesItForAnEmptyMapping) {
  const YamlFile file = file_of("name:\nweb:\nrules:\n");
  std::string name = "default";
  file.root().read("name", name);
  EXPECT_FALSE(file.root().map("web").has("x"));
  EXPECT_TRUE(file.root().maps("rules").empty());
  EXPECT_EQ(name, "default");
  EXPECT_EQ(faults_of(file), "c.yaml:1: name: has no value: give one, or remove the key");
}

TEST(Yaml, ReportsARequiredKeyThatIsAbsentOrEmpty) {
  const YamlFile file = file_of("web:\n  cert: \"\"\n");
  std::string text;
  file.root().map("web").require("cert", text);
  file.root().map("web").require("key", text);
  EXPECT_THAT(faults_of(file), HasSubstr("c.yaml:2: web.cert: is required and must not be empty"));
  EXPECT_THAT(faults_of(file), HasSubstr("web.key: is required"));
}

TEST(Yaml, NeverQuotesAValueInAFault) {
  const YamlFile file = file_of("count: s3cret\nwait: s3cret\non: s3cret\nunknown: s3cret\n");
  std::int64_t count = 0;
  std::chrono::milliseconds wait{};
  bool on = false;
  file.root().read("count", count, 0, 1);
  file.root().read("wait", wait, 0s, 1s);
  file.root().read("on", on);
  EXPECT_THAT(faults_of(file), Not(HasSubstr("s3cret")));
}

TEST(Yaml, GivesTheEntriesOfAMappingInFileOrder) {
  const YamlFile file = file_of("xids:\n  79: reboot\n  13: {severity: monitor}\n");
  std::vector<std::string> seen;
  for (const auto& [key, value] : file.root().map("xids").entries()) {
    std::string severity = value.scalar();
    value.read("severity", severity);
    seen.push_back(key + "=" + severity);
  }
  EXPECT_THAT(seen, ElementsAre("79=reboot", "13=monitor"));
  EXPECT_EQ(faults_of(file), "");
}

TEST(Yaml, ReportsAnEntryOfAShapeThatTheReaderDoesNotLookAt) {
  const YamlFile file = file_of("xids:\n  79: reboot\n  13: [a]\n");
  for (const auto& [key, value] : file.root().map("xids").entries()) {
    std::string severity;
    value.read("severity", severity);
  }
  EXPECT_EQ(faults_of(file),
            "c.yaml:2: xids.79: must be a mapping, not a single value\n"
            "c.yaml:3: xids.13: must not be a list");
}

TEST(Yaml, LetsTheReaderRejectWhatOnlyItUnderstands) {
  const YamlFile file = file_of("rules:\n  - name: a\n    severity: bad\n");
  std::string text;
  for (const YamlMap& rule : file.root().maps("rules")) {
    rule.read("name", text);
    rule.read("severity", text);
    rule.reject("severity", "use none, monitor, reset, reboot or isolate");
  }
  EXPECT_EQ(faults_of(file),
            "c.yaml:3: rules[0].severity: use none, monitor, reset, reboot or isolate");
}

TEST(Yaml, IsQuietAboutUnreadKeysIfOthersDefineTheFile) {
  const YamlFile file = file_of("kind: Config\nmore: {a: {b: 1}}\nuser: {name: a, extra: 1}\n");
  std::string name;
  file.root().ignore_unknown();
  file.root().map("user").read("name", name);
  EXPECT_EQ(faults_of(file), "c.yaml:3: user.extra: unknown key allowed here: name");
}

TEST(Yaml, ShowsTheFirstFaultsInFileOrderAndCountsTheRest) {
  std::string text;
  for (int i = 0; i < 25; ++i) text += "k" + std::to_string(i) + ": 1\n";
  const std::string faults = faults_of(file_of(text));
  EXPECT_THAT(faults, HasSubstr("c.yaml:1: k0"));
  EXPECT_THAT(faults, HasSubstr("c.yaml:20: k19"));
  EXPECT_THAT(faults, HasSubstr("and 5 more"));
}

TEST(Yaml, LoadsAFileAndNamesItInFaults) {
  const support::TempDir folder;
  const auto path = folder.write("p.yaml", "a: 1\n");
  const auto file = YamlFile::load(path);
  ASSERT_TRUE(file);
  EXPECT_THAT(faults_of(*file), HasSubstr(path.string() + ":1: a: unknown key"));
  EXPECT_EQ(YamlFile::load(folder / "absent").error().kind, ErrorKind::kNotFound);
}

}  // namespace
}  // namespace gpuward
