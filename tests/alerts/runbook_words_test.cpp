// What a runbook tells people to type or to look at is there: files behind links, subcommands and
// flags of the programs, metrics, alerts.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <regex>
#include <set>

#include "core/runtime/files.h"
#include "tests/alerts/alert_rules.h"
#include "tests/alerts/command.h"
#include "tests/places.inc"

namespace gpuward::alerts {
namespace {

struct Page {
  std::string name, text;
};

std::vector<Page> runbooks() {
  std::vector<Page> pages;
  for (const auto& entry : std::filesystem::directory_iterator(alerts_folder() / "runbooks")) {
    pages.push_back({entry.path().filename(), *read_file(entry.path())});
  }
  return pages;
}

// The first group of each match.
std::set<std::string> words(const std::string& text, const std::string& regex) {
  const std::regex compiled(regex);
  std::set<std::string> out;
  for (std::sregex_iterator at(text.begin(), text.end(), compiled), end; at != end; ++at) {
    out.insert((*at)[1]);
  }
  return out;
}

// What `--help` prints; asked once for each.
const std::string& help_of(const std::string& program, const std::vector<std::string>& subcommand) {
  static std::map<std::vector<std::string>, std::string> known;
  std::vector<std::string> argv{std::string(GPUWARD_BIN_DIR) + "/" + program};
  argv.insert(argv.end(), subcommand.begin(), subcommand.end());
  argv.emplace_back("--help");
  const auto [at, is_new] = known.try_emplace(argv);
  if (is_new) at->second = run(argv).text;
  return at->second;
}

bool has_subcommand(const std::string& help, const std::string& name) {
  const auto list = help.find("\nSubcommands:\n");
  return list != std::string::npos &&
         std::regex_search(help.substr(list), std::regex("\n  " + name + " +[A-Z]"));
}

// `gpuward-exporter findings clear --pci 0000:4e:00 ...`: each subcommand in front, and each flag.
void expect_command_exists(const std::string& command, const std::string& page) {
  std::istringstream rest(command);
  std::string program, word;
  rest >> program;
  std::vector<std::string> subcommand;
  while (rest >> word) {
    const std::string& help = help_of(program, subcommand);
    if (word.starts_with("--")) {
      const std::string flag = word.substr(0, word.find('='));
      EXPECT_TRUE(help.contains(flag + " ") || help_of(program, {}).contains(flag + " "))
          << page << ": " << command << " has no " << flag;
    } else if (help.contains("\nSubcommands:\n")) {
      ASSERT_TRUE(has_subcommand(help, word)) << page << ": " << command << " has no " << word;
      subcommand.push_back(word);
    }
  }
}

TEST(RunbookWords, NameCommandsThatThereAre) {
  std::size_t count = 0;
  for (const Page& page : runbooks()) {
    for (const std::string& command :
         words(page.text, "[`|] ?(?:[^`]*-- )?(gpuward-(?:exporter|remediator) [^`|]+)")) {
      expect_command_exists(command, page.name);
      ++count;
    }
  }
  EXPECT_GT(count, 30U);
}

TEST(RunbookWords, LinkToPagesThatThereAre) {
  std::size_t count = 0;
  for (const Page& page : runbooks()) {
    for (const std::string& link : words(page.text, R"(\]\(([^)#]+)\))")) {
      EXPECT_TRUE(std::filesystem::exists(alerts_folder() / "runbooks" / link))
          << page.name << " links to " << link;
      ++count;
    }
    EXPECT_THAT(page.text, ::testing::Not(::testing::HasSubstr("]()"))) << page.name;
  }
  EXPECT_GT(count, 10U);
}

TEST(RunbookWords, NameFilesThatThereAre) {
  for (const Page& page : runbooks()) {
    for (const std::string& file :
         words(page.text, R"(\b((?:manifests|alerts|docs)/[a-z0-9.-]+\.(?:yaml|md|json)))")) {
      EXPECT_TRUE(std::filesystem::exists(std::filesystem::path(GPUWARD_SOURCE_DIR) / file))
          << page.name << " names " << file;
    }
  }
}

TEST(RunbookWords, NameMetricsAndAlertsThatThereAre) {
  const std::string metrics = *read_file(GPUWARD_SOURCE_DIR "/docs/metrics.md");
  std::set<std::string> alerts;
  for (const AlertRule& rule : load_alert_rules()) alerts.insert(rule.name);
  for (const Page& page : runbooks()) {
    for (const std::string& metric : words(page.text, "(gpuward_[a-z_]+)")) {
      EXPECT_TRUE(metrics.contains("`" + metric + "`")) << page.name << " names " << metric;
    }
    for (const std::string& alert : words(page.text, "\\b(Gpu[A-Z][A-Za-z]+)")) {
      EXPECT_TRUE(alerts.contains(alert)) << page.name << " names " << alert;
    }
  }
}

}  // namespace
}  // namespace gpuward::alerts
