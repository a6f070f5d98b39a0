// The current formats beside those of the earlier version: in an upgrade, a rollback and with
// replicas of both versions side by side, each version reads what the other has written.
#include <gmock/gmock.h>

#include <array>
#include <chrono>
#include <regex>
#include <set>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "remediator/decide/budgets/ledger_text.h"
#include "remediator/model/node_mark.h"
#include "remediator/policy/policy_remarks.h"
#include "remediator/policy/policy_text.h"
#include "tests/unit/remediator/policy/parse_policy.h"
#include "tests/unit/remediator/upgrade/version_before.h"

namespace gpuward::remediator {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

void compare(const Json& before, const Json& now, const std::string& path,
             std::vector<std::string>& faults);

// All earlier properties must still exist. A new one is optional, because `required` is compared
// like any other keyword.
void compare_properties(const Json& before, const Json& now, const std::string& path,
                        std::vector<std::string>& faults) {
  for (const auto& [name, schema] : before.items()) {
    if (now.contains(name)) {
      compare(schema, now.at(name), path + "." + name, faults);
    } else {
      faults.push_back(path + "." + name + " is gone");
    }
  }
}

void compare(const Json& before, const Json& now, const std::string& path,
             std::vector<std::string>& faults) {
  const std::set<std::string> into = {"items", "additionalProperties"};
  std::set<std::string> keywords;
  for (const auto& [keyword, value] : before.items()) keywords.insert(keyword);
  for (const auto& [keyword, value] : now.items()) keywords.insert(keyword);
  keywords.erase("description");
  for (const std::string& keyword : keywords) {
    const std::string where = path + " " + keyword;
    if (!before.contains(keyword) || !now.contains(keyword)) {
      faults.push_back(where + (now.contains(keyword) ? " is new" : " is gone"));
    } else if (keyword == "properties") {
      compare_properties(before.at(keyword), now.at(keyword), path, faults);
    } else if (into.contains(keyword) && before.at(keyword).is_object()) {
      compare(before.at(keyword), now.at(keyword), path + "[]", faults);
    } else if (before.at(keyword) != now.at(keyword)) {
      faults.push_back(where + " is another");
    }
  }
}

std::vector<std::string> differences(const Json& before, const Json& now) {
  std::vector<std::string> faults;
  compare(before, now, "", faults);
  return faults;
}

// An enum with a new word, or a wider limit, is a difference: after a rollback the API server would
// refuse objects that exist. The step out-of-service is one: docs/silent.md says what to do first.
TEST(FormatsOfNow, AddOptionalFieldsToTheCrdAndChangeNothingElse) {
  const Json now = definition_in(GPUWARD_SOURCE_DIR "/manifests/crd.yaml");
  const Json before = definition_in(kVersionBefore + "crd.yaml");

  EXPECT_THAT(differences(schema_of(before), schema_of(now)),
              ElementsAre(".status.steps[].name enum is another"));
  EXPECT_EQ(now.at("spec").at("versions").size(), 1U);
  EXPECT_EQ(now.at("spec").at("names"), before.at("spec").at("names"));
  EXPECT_EQ(now.at("spec").at("scope"), before.at("spec").at("scope"));
}

TEST(FormatsOfNow, AreComparedToTheLastKeyword) {
  const Json before = {{"type", "object"},
                       {"required", {"a"}},
                       {"properties", {{"a", {{"type", "string"}, {"enum", {"x"}}}}}}};
  Json now = before;
  now["properties"]["b"] = {{"type", "string"}};
  now["description"] = "other words";
  EXPECT_THAT(differences(before, now), IsEmpty());
  now["required"].push_back("b");
  EXPECT_THAT(differences(before, now), ElementsAre(" required is another"));
  now = before;
  now["properties"]["a"]["enum"].push_back("y");
  now["properties"]["a"]["maxLength"] = 3;
  EXPECT_THAT(differences(before, now), ElementsAre(".a enum is another", ".a maxLength is new"));
  now = before;
  now["properties"].erase("a");
  EXPECT_THAT(differences(before, now), ElementsAre(".a is gone"));
}

// The rules of the earlier reader, with their words written out.
std::vector<std::regex> lines_before() {
  const std::array<std::pair<std::string, std::string>, 4> words = {
      {{"TIME", R"(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z)"},
       {"NUMBER", R"(\d+)"},
       {"PAIR", R"([^ =]+=[^ =]+)"},
       {"WORD", R"([^ =]+)"}}};
  const auto text = read_file(kVersionBefore + "ledger_lines.txt");
  std::istringstream rows(text.value());
  std::vector<std::regex> lines;
  for (std::string row; std::getline(rows, row);) {
    for (const auto& [name, pattern] : words)
      row = std::regex_replace(row, std::regex(name), pattern);
    lines.emplace_back(row);
  }
  return lines;
}

std::vector<std::string> unknown_lines(const std::string& ledger) {
  const auto known = lines_before();
  std::vector<std::string> unknown;
  std::istringstream lines(ledger);
  for (std::string line; std::getline(lines, line);) {
    const bool is_known = std::ranges::any_of(
        known, [&](const std::regex& rule) { return std::regex_match(line, rule); });
    if (!is_known) unknown.push_back(line);
  }
  return unknown;
}

Ledger with_all_entries() {
  const WallTime at{std::chrono::hours(490'000)};
  const Place place{"pool a", "zone", {{"rack", "r=1"}}};
  Ledger ledger;
  for (const Impact impact : {Impact::kCordon, Impact::kDisrupt, Impact::kTerminate}) {
    ledger.slots.push_back({"r" + std::string(to_string(impact)), "uid", place, impact, at});
    ledger.starts.push_back({"r" + std::string(to_string(impact)), impact, place, at});
  }
  for (const Treatment treatment : {Treatment::kReset, Treatment::kReboot, Treatment::kTerminate})
    ledger.attempts.push_back({"r", {"i-1", {"165", ""}}, treatment, at});
  ledger.arrivals = {{"r", "uid", at, true}, {"s", "", at, false}};
  ledger.breaker = {true, at, "4 nodes % in = a storm", ""};
  return ledger;
}

// A rollback restores the earlier version with its own policy.
TEST(PolicyOfTheVersionBefore, MeansTheSameAndSaysWhatItsKeysAreCalledNow) {
  const auto text = read_file(kVersionBefore + "policy.yaml");
  ASSERT_TRUE(text);
  std::string now = *text;
  now = std::regex_replace(now, std::regex("way_back"), "recovery");
  now = std::regex_replace(now, std::regex("drain_buffer"), "min_drain_interval");

  const auto before = parse_policy(*text);
  const auto after = parse_policy(now);

  ASSERT_TRUE(before) << before.error().message;
  ASSERT_TRUE(after) << after.error().message;
  for (const Severity severity : {Severity::kIsolate, Severity::kReboot, Severity::kReset})
    EXPECT_EQ(severity_text(*before, severity), severity_text(*after, severity));
  EXPECT_EQ(before->min_drain_interval, std::chrono::minutes(7));
  EXPECT_THAT(recovery_of(*before, "", Severity::kIsolate), ::testing::SizeIs(3));
  EXPECT_DOUBLE_EQ(recovery_of(*before, "a", Severity::kIsolate)[0].job.min_bus_bandwidth, 300);
  EXPECT_THAT(remarks_text(*before),
              AllOf(HasSubstr("`way_back` is now `recovery`"),
                    HasSubstr("`pools[0].way_back` is now `pools[0].recovery`"),
                    HasSubstr("`drain_buffer` is now `min_drain_interval`")));
  EXPECT_THAT(remarks_text(*after), Not(HasSubstr("is now")));
}

TEST(FormatsOfNow, WriteNoLineOfTheLedgerThatTheVersionBeforeRefuses) {
  EXPECT_THAT(unknown_lines(encode_ledger(with_all_entries()).value()), IsEmpty());
  EXPECT_THAT(unknown_lines(encode_ledger({}).value()), IsEmpty());
  EXPECT_THAT(unknown_lines("gpuward-ledger 3\nslot a\n"), ::testing::SizeIs(2));
}

// Its owner and its flags decide who owns the cordon.
TEST(FormatsOfNow, WriteTheAnnotationOfTheNodeAsTheVersionBeforeReadsIt) {
  OwnerAnnotation mark;
  mark.name = "gpu-01-1";
  mark.severity = Severity::kReboot;
  mark.taint = mark.cordon = true;

  const auto written = parse_json(to_annotation(mark));

  ASSERT_TRUE(written);
  const Json known = {{"name", "gpu-01-1"},   {"owner", "gpuward-remediator"},
                      {"severity", "reboot"}, {"taint", true},
                      {"cordon", true},       {"preExistingCordon", false}};
  for (const auto& [key, value] : known.items()) EXPECT_EQ(member_at(*written, key), value) << key;
}

}  // namespace
}  // namespace gpuward::remediator
