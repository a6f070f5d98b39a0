// Another project's validator checks the schemas of manifests/schemas: with the files that gpuward
// ships and shows, and with wrong ones.
#include <gmock/gmock.h>

#include <fstream>
#include <map>

#include "exporter/config/settings.h"
#include "remediator/policy/policy.h"
#include "tests/places.inc"
#include "tests/reference/keys.h"
#include "tests/reference/page.h"
#include "tests/support/process.h"
#include "tests/support/require.h"
#include "tests/support/temp_dir.h"

namespace gpuward::reference {
namespace {

using support::Process;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

// Debian's own, which finds Debian's packages.
constexpr const char* kPython = "/usr/bin/python3";
const std::string kTree = GPUWARD_SOURCE_DIR "/";

std::string why_no_validator() {
  const auto tried = Process::run({.argv = {kPython, "-c", "import jsonschema, yaml"}});
  if (tried && tried->exit_code == 0) return {};
  return "no python3-jsonschema and python3-yaml on this machine: run `./dev deps`";
}

// A file that has a schema.
struct Described {
  std::string name;  // its name in docs/migration.md and in the schema
  std::vector<YamlKey> (*keys)();
  std::vector<std::string> shipped;  // files of the tree that have this form, or contain one
  std::map<std::string, std::string> wrong;  // such a file -> its expected faults
  [[nodiscard]] std::string schema() const { return "manifests/schemas/" + name + ".schema.json"; }
};
void PrintTo(const Described& file, std::ostream* out) { *out << file.name; }

class Schema : public testing::TestWithParam<Described> {
 protected:
  void SetUp() override { GPUWARD_REQUIRE(why_no_validator()); }

  // The faults of these files, one a line.
  static std::string faults_of(std::vector<std::string> files) {
    std::vector<std::string> argv = {kPython, kTree + "tests/reference/validate.py",
                                     kTree + GetParam().schema()};
    argv.insert(argv.end(), files.begin(), files.end());
    const auto outcome = Process::run({.argv = std::move(argv)});
    if (!outcome) return outcome.error().message;
    return outcome->output + outcome->error_output;
  }
  static std::string faults_of_texts(const std::vector<std::string>& texts) {
    const support::TempDir folder;
    std::vector<std::string> files;
    for (const std::string& text : texts) {
      files.push_back(folder / std::to_string(files.size()));
      std::ofstream(files.back()) << text << "\n";
    }
    return faults_of(files);
  }
};

TEST_P(Schema, TakesWhatIsShipped) {
  std::vector<std::string> files;
  for (const std::string& path : GetParam().shipped) files.push_back(kTree + path);

  EXPECT_THAT(faults_of(files), IsEmpty());
}

TEST_P(Schema, TakesWhatTheMigrationPageSaysToWrite) {
  EXPECT_THAT(faults_of_texts(to_write_in(GetParam().name)), IsEmpty());
}

TEST_P(Schema, TakesEachDefault) {
  std::vector<std::string> texts;
  for (const YamlKey& key : GetParam().keys()) {
    if (key.preset.empty()) continue;
    const bool is_json = key.type != "text" && key.type != "word" && key.type != "duration";
    texts.push_back(file_with(key.path, is_json ? key.preset : "'" + key.preset + "'"));
  }
  ASSERT_GT(texts.size(), 20U);
  // They lack other required keys.
  const std::string faults = faults_of_texts(texts);
  std::istringstream lines(faults);
  for (std::string line; std::getline(lines, line);)
    EXPECT_THAT(line, HasSubstr("is a required property"));
}

TEST_P(Schema, RefusesWhatIsWrong) {
  for (const auto& [text, fault] : GetParam().wrong)
    EXPECT_THAT(faults_of_texts({text}), HasSubstr(fault)) << text;
}

TEST_P(Schema, IsNamedInTheFirstLineOfWhatIsShipped) {
  const std::string line =
      "# yaml-language-server: "
      "$schema=https://raw.githubusercontent.com/gpuward/gpuward/main/" +
      GetParam().schema() + "\n";

  EXPECT_THAT(tree_file(GetParam().shipped.front()), HasSubstr(line));
}

INSTANTIATE_TEST_SUITE_P(
    All, Schema,
    testing::Values(
        Described{.name = "policy",
                  .keys = remediator::policy_keys,
                  .shipped = {"manifests/remediator-policy-full.yaml", "manifests/remediator.yaml",
                              "tests/manifests/everything/remediator.yaml"},
                  .wrong = {{"mod: full", "'mod' was unexpected"},
                            {"mode: fully", "mode: 'fully' is not one of"},
                            {"cooldown: 60", "cooldown: 60 is not of type 'string'"},
                            {"cooldown: 5 minutes", "cooldown: '5 minutes' does not match"},
                            {"pools: {name: a}", "pools: {'name': 'a'} is not of type"},
                            {"pools: [{labels: [a]}]", "pools.0: 'name' is a required property"},
                            {"jobs: {pair_port: 80}", "80 is less than the minimum of 1024"},
                            {"budgets: {pool: {percent: 101}}", "101 is greater than the maximum"},
                            {"severities: {reset: [taint, evict]}", "severities.reset.1: 'evict'"},
                            {"severities: {reset: [drain: {deadlin: 1h}]}", "severities.reset.0: "},
                            {"pools: [{name: a, drain: {pods: none}}]", "'none' is not one of"}}},
        Described{.name = "exporter",
                  .keys = exporter::settings_keys,
                  .shipped = {"manifests/packaging/exporter.yaml", "manifests/exporter.yaml",
                              "tests/manifests/everything/exporter.yaml"},
                  .wrong = {{"profil: seed", "'profil' was unexpected"},
                            {"driver_branch: 1", "1 is less than the minimum of 300"},
                            {"gpu: 15s", "gpu: '15s' is not of type"},
                            {"node: {taint: 'yes'}", "node.taint: 'yes' is not of type 'boolean'"},
                            {"xid: {'79': {severity: bad}}", "xid.79.severity: 'bad' is not one"},
                            {"checks: {timeouts: {'2': 60}}", "checks.timeouts.2: 60 is not of"}}}),
    [](const auto& file) { return file.param.name; });

}  // namespace
}  // namespace gpuward::reference
