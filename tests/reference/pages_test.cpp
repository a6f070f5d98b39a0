// The pages of docs/ about guarantees, switches and the places for new code: each file, test, flag,
// command, key or permission that they name exists.
#include <gmock/gmock.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <regex>
#include <set>
#include <sstream>

#include "exporter/config/settings.h"
#include "remediator/model/machine_proofs.h"
#include "remediator/policy/policy.h"
#include "remediator/policy/policy_remarks.h"
#include "tests/places.inc"
#include "tests/reference/help.h"
#include "tests/reference/page.h"
#include "tests/support/temp_dir.h"

namespace gpuward::reference {
namespace {

class PageWords : public testing::TestWithParam<const char*> {
 protected:
  std::vector<std::string> matching(const std::regex& form) {
    std::vector<std::string> found;
    for (const std::string& word : code_words(tree_file(GetParam()))) {
      if (std::regex_match(word, form)) found.push_back(word);
    }
    return found;
  }
};

bool is_there(const std::string& path) {
  return std::filesystem::exists(std::string(GPUWARD_SOURCE_DIR "/") + path);
}

TEST_P(PageWords, NameFilesThatAreThere) {
  const std::regex file(
      "(core|exporter|remediator|tests|manifests|kustomize|docs|alerts|dashboards|"
      "bench)/[A-Za-z0-9_./-]+");
  for (const std::string& path : matching(file)) EXPECT_TRUE(is_there(path)) << path;
}

TEST_P(PageWords, NameTestsThatAreThere) {
  const std::regex test(R"(tests/([a-z0-9_./-]+):([A-Za-z0-9_]+)\.([A-Za-z0-9_]+))");
  for (const std::string& word : matching(test)) {
    std::smatch parts;
    ASSERT_TRUE(std::regex_match(word, parts, test));
    const std::string source = tree_file("tests/" + parts[1].str());
    const std::regex definition("TEST(_F|_P)?\\(\\s*" + parts[2].str() + ",\\s*" + parts[3].str() +
                                "\\)");
    EXPECT_TRUE(std::regex_search(source, definition)) << word;
  }
}

// `remediator/decide/budgets/storm.cpp:storm_over`
TEST_P(PageWords, NameFunctionsThatAreThere) {
  for (const std::string& word :
       matching(std::regex("(core|exporter|remediator)/[a-z0-9_./-]+:[A-Za-z0-9_:]+"))) {
    const auto colon = word.find(':');
    const std::string source = tree_file(word.substr(0, colon));
    EXPECT_NE(source.find(word.substr(colon + 1) + "("), std::string::npos) << word;
  }
}

std::set<Flag> all_flags() {
  std::set<Flag> flags = flags_of("gpuward-exporter");
  flags.merge(flags_of("gpuward-remediator"));
  flags.merge(flags_of("gpuwardctl"));
  return flags;
}

TEST_P(PageWords, NameFlagsThatAreThere) {
  static const std::set<Flag> kFlags = all_flags();
  for (const std::string& word : matching(std::regex("--[a-z].*"))) {
    const std::string name = word.substr(0, word.find_first_of("= "));
    const bool is_known =
        name == "--help" ||  // it does not name itself
        std::ranges::any_of(kFlags, [&](const Flag& flag) { return flag.name == name; });
    EXPECT_TRUE(is_known) << word;
  }
}

TEST_P(PageWords, NameCommandsThatAreThere) {
  const std::regex command("(gpuward-exporter|gpuward-remediator|gpuwardctl) ([a-z][a-z-]*)( .*)?");
  for (const std::string& word : matching(command)) {
    std::smatch parts;
    ASSERT_TRUE(std::regex_match(word, parts, command));
    const auto flags = flags_of(parts[1]);
    const bool is_known = std::ranges::any_of(flags, [&](const Flag& flag) {
      return flag.command == parts[2] || flag.command.starts_with(parts[2].str() + " ");
    });
    EXPECT_TRUE(is_known) << word;
  }
}

// Words that begin like a key of a file: `triage.max_severity`; not the rules that begin so too.
TEST_P(PageWords, NameKeysThatAreThere) {
  std::set<std::string> keys, first_words;
  for (const char* heading : {"The policy file", "The exporter's file"}) {
    for (const Cells& row : rows_below("docs/configuration.md", heading)) {
      keys.insert(std::regex_replace(row.front(), std::regex(R"(\[\])"), ""));
      first_words.insert(row.front().substr(0, row.front().find('.')));
    }
  }
  for (const std::string& word : matching(std::regex(R"([a-z_0-9]+(\.[a-z_0-9-]+)+)"))) {
    if (!first_words.contains(word.substr(0, word.find('.'))) || word.ends_with(".json")) continue;
    if (word == remediator::kProofRule || word == remediator::kCloudAtWorkRule) continue;
    EXPECT_TRUE(keys.contains(word)) << word;
  }
}

INSTANTIATE_TEST_SUITE_P(
    All, PageWords,
    testing::Values("README.md", "docs/status.md", "docs/limits.md", "docs/pages.md",
                    "docs/security.md", "docs/safety.md", "docs/migration.md", "docs/extending.md",
                    "docs/dashboards.md", "docs/remediator.md", "docs/steps.md", "docs/drain.md",
                    "docs/guards.md", "docs/machines.md", "docs/sources.md", "docs/evidence.md",
                    "docs/notifications.md", "docs/policy-recipes.md", "docs/gpuwardctl.md",
                    "docs/node.md", "docs/upgrade.md", "docs/troubleshooting.md"),
    [](const auto& page) {
      auto name = std::filesystem::path(page.param).stem().string();
      std::ranges::replace(name, '-', '_');
      return name;
    });

// The fenced blocks of a page that begin with "```yaml policy".
std::vector<std::string> policies_of(const std::string& page) {
  std::vector<std::string> policies;
  bool is_policy = false;
  std::istringstream lines(tree_file(page));
  for (std::string line; std::getline(lines, line);) {
    if (line == "```") is_policy = false;
    if (is_policy) policies.back() += line + "\n";
    if (line != "```yaml policy") continue;
    is_policy = true;
    policies.emplace_back();
  }
  return policies;
}

TEST(PolicyBlocks, AreTakenWithoutRemarks) {
  std::size_t count = 0;
  for (const auto& entry : std::filesystem::directory_iterator(GPUWARD_SOURCE_DIR "/docs")) {
    if (entry.path().extension() != ".md") continue;
    for (const std::string& yaml : policies_of("docs/" + entry.path().filename().string())) {
      ++count;
      const auto file = YamlFile::parse(yaml, entry.path().filename().string());
      ASSERT_TRUE(file) << yaml;
      const auto policy = remediator::read_policy(*file);
      ASSERT_TRUE(policy) << yaml << "\n" << policy.error().message;
      EXPECT_THAT(remediator::remarks_on(*policy), testing::IsEmpty()) << yaml;
    }
  }
  EXPECT_GE(count, 25U);
}

TEST(MigrationPage, SaysToWriteWhatThePolicyTakes) {
  for (const std::string& yaml : to_write_in("policy")) {
    const auto file = YamlFile::parse(yaml, "page");
    ASSERT_TRUE(file) << yaml;
    const auto policy = remediator::read_policy(*file);
    ASSERT_TRUE(policy) << yaml << "\n" << policy.error().message;
    for (const std::string& remark : remediator::remarks_on(*policy))
      EXPECT_THAT(remark, testing::Not(testing::HasSubstr("no drain"))) << yaml;
  }
}

// The steps in the table about the resilience monitor, from the row that begins with `row`.
std::vector<remediator::Step> monitor_plan(const std::string& row, Severity severity) {
  for (const Cells& cells : rows_below("docs/migration.md", "The resilience monitor on EKS")) {
    if (!cells[0].starts_with(row)) continue;
    const auto file = YamlFile::parse(cells[1], "page");
    EXPECT_TRUE(file) << cells[1];
    if (!file) return {};
    const auto policy = remediator::read_policy(*file);
    EXPECT_TRUE(policy) << cells[1] << "\n" << policy.error().message;
    std::vector<remediator::Step> steps;
    for (const auto& planned :
         remediator::steps_for(policy.value_or(remediator::Policy{}), severity))
      steps.push_back(planned.step);
    return steps;
  }
  ADD_FAILURE() << "no row " << row;
  return {};
}

// Xid 79 is reboot; 46, 48, 62, 74, 95 and ECC errors are reset.
TEST(MigrationPage, DrainsANodeForARestartAReplacementAndAReset) {
  using remediator::Step;
  for (const Severity severity : {Severity::kReset, Severity::kReboot, Severity::kIsolate}) {
    const auto steps = monitor_plan("restart or replace", severity);
    EXPECT_THAT(steps, testing::IsSupersetOf({Step::kTaint, Step::kCordon, Step::kDrain}))
        << to_string(severity);
    EXPECT_GT(steps.size(), 3U) << to_string(severity);
  }
}

TEST(MigrationPage, RestartsJobsAfterEachDrain) {
  using remediator::Step;
  for (const Severity severity : {Severity::kReset, Severity::kReboot, Severity::kIsolate}) {
    EXPECT_THAT(monitor_plan("its automatic task recovery", severity),
                testing::IsSupersetOf({Step::kDrain, Step::kRestartJob}))
        << to_string(severity);
  }
}

TEST(MigrationPage, SaysToWriteWhatTheExporterTakes) {
  for (const std::string& yaml : to_write_in("exporter")) {
    const support::TempDir folder;
    std::ofstream(folder / "exporter.yaml") << yaml;
    const auto settings = exporter::load_settings({.file = folder / "exporter.yaml"});
    EXPECT_TRUE(settings) << yaml << "\n" << settings.error().message;
  }
}

TEST(ExtendingPage, NamesTheTableOfEachKindOfPart) {
  std::set<std::string> tables;
  for (const char* part : {"core", "exporter", "remediator"}) {
    const std::filesystem::path root = GPUWARD_SOURCE_DIR;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(root / part)) {
      if (entry.path().filename() != "all.cpp") continue;
      tables.insert(entry.path().lexically_relative(root).string());
    }
  }
  std::set<std::string> named;
  for (const std::string& word : code_words(tree_file("docs/extending.md"))) {
    if (word.ends_with("/all.cpp")) named.insert(word);
  }

  EXPECT_THAT(named, testing::ContainerEq(tables));
}

// "file|nodes|get, patch" for each rule, with the rule's object names after its resources.
std::multiset<std::string> rules_of(const std::string& file) {
  std::multiset<std::string> rules;
  const std::regex rule(
      R"(resources: \[([^\]]*)\]\s+(?:resourceNames: \[([^\]]*)\]\s+)?verbs: \[([^\]]*)\])");
  const std::string text = tree_file(file);
  for (std::sregex_iterator it(text.begin(), text.end(), rule), end; it != end; ++it) {
    const std::string names = (*it)[2];
    rules.insert(file + "|" + (*it)[1].str() + (names.empty() ? "" : " " + names) + "|" +
                 (*it)[3].str());
  }
  return rules;
}

TEST(SecurityPage, HasEachRightThatIsShippedAndWhatItIsFor) {
  std::multiset<std::string> shipped, documented;
  for (const char* file :
       {"manifests/remediator-rbac.yaml", "manifests/remediator-jobs-rbac.yaml",
        "manifests/remediator-restart-job-rbac.yaml", "manifests/remediator-terminate-rbac.yaml",
        "manifests/remediator-loki-rbac.yaml", "manifests/exporter-rbac.yaml",
        "manifests/exporter-sweep.yaml", "manifests/oncall-rbac.yaml"}) {
    shipped.merge(rules_of(file));
  }
  for (const Cells& row : rows_below("docs/security.md", "Who may do what")) {
    ASSERT_EQ(row.size(), 4U);
    EXPECT_NE(row[3], "");
    documented.insert(row[0] + "|" + row[1] + "|" + row[2]);
  }

  EXPECT_THAT(documented, testing::ContainerEq(shipped));
}

}  // namespace
}  // namespace gpuward::reference
