// Everything that a runbook tells operators to type or to check exists: files behind links,
// subcommands and flags of the programs, metrics, alerts.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <regex>
#include <set>
#include <sstream>
#include <vector>

#include "core/runtime/files.h"
#include "core/xid/catalogue.h"
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

// The text between backticks; each line of a shell block, and nothing of other blocks.
std::vector<std::string> code_in(const std::string& text) {
  std::vector<std::string> code;
  std::istringstream parts(text);
  bool is_code = false;
  for (std::string part; std::getline(parts, part, '`'); is_code = !is_code) {
    if (!is_code) continue;
    std::istringstream lines(part);
    const bool is_block = part.contains('\n');
    if (is_block && !part.starts_with("sh\n")) continue;
    for (std::string line; std::getline(lines, line);)
      if (!is_block || line != "sh") code.push_back(line);
  }
  return code;
}

// The output of `--help`; read once for each subcommand.
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
    for (const std::string& code : code_in(page.text)) {
      for (const std::string& command :
           words(code, "(?:^|-- |[|] )(gpuward-(?:exporter|remediator) (?:--)?[a-z][^|]*)")) {
        expect_command_exists(command, page.name);
        ++count;
      }
    }
  }
  EXPECT_GT(count, 30U);
}

// The programs of the pods run in the pods. gpuwardctl runs on your machine, under your own name.
// Read-only commands also run in the pod, for readers without gpuwardctl. The remediator's own
// account may not run the others (manifests/remediator-admission.yaml).
TEST(RunbookWords, RunOurProgramsInTheirPodsAndActUnderYourOwnName) {
  const std::regex command(
      "(?:.*[|] )?((?:.* -- )?)((gpuward-exporter|gpuward-remediator|gpuwardctl) (?:--)?[a-z].*)");
  const std::regex exporter(R"(kubectl -n gpu-healthcheck exec (-i )?\$POD -- )");
  const std::regex remediator("kubectl -n gpuward exec deploy/gpuward-remediator -- ");
  const std::regex reads(
      "gpuwardctl (explain|list|status|breaker|exclusions list|policy (check|explain)).*"
      "|gpuward-remediator (--check-config|notify test) --config.file=/etc/gpuward/policy.yaml");
  const std::regex acts(
      R"(gpuwardctl (approve \$NODE \$TOKEN|(pause|resume|cancel|machine-replaced) \$NODE)"
      R"(|exclusions remove \$NODE|stop REASON|start|breaker close))");
  std::size_t in_pods = 0, acting = 0;
  for (const Page& page : runbooks()) {
    for (const std::string& code : code_in(page.text)) {
      std::smatch found;
      if (!std::regex_match(code, found, command)) continue;
      if (std::regex_match(code, acts)) {
        ++acting;
        continue;
      }
      const bool is_exporter = found[3] == "gpuward-exporter";
      EXPECT_TRUE(is_exporter || std::regex_match(found[2].str(), reads))
          << page.name << ": " << code;
      if (found[3] == "gpuwardctl" && found[1].length() == 0) continue;
      EXPECT_TRUE(std::regex_match(found[1].str(), is_exporter ? exporter : remediator))
          << page.name << ": " << code;
      ++in_pods;
    }
  }
  EXPECT_GT(in_pods, 30U);
  EXPECT_GT(acting, 60U);
}

// Without gpuwardctl, kubectl does the same; each page gives that form once, after the other.
TEST(RunbookWords, HaveTheFormOfKubectlOnceAndBehindThatOfGpuwardctl) {
  const std::vector<std::pair<std::string, std::string>> forms = {
      {"\ngpuwardctl pause $NODE\n", "gpuward.dev/pause=true"},
      {"\ngpuwardctl cancel $NODE\n", "gpuward.dev/cancel=true"},
      {"\ngpuwardctl approve $NODE $TOKEN\n", "gpuward.dev/approve=$TOKEN"},
      {"\ngpuwardctl stop REASON\n", R"({"data":{"stop":"true"}})"},
      {"\ngpuwardctl start\n", R"({"data":{"stop":"false"}})"}};
  for (const Page& page : runbooks()) {
    for (const auto& [ours, kubectl] : forms) {
      const auto at = page.text.find(kubectl);
      if (at == std::string::npos) continue;
      EXPECT_LT(page.text.find(ours), at) << page.name << ": " << kubectl;
      EXPECT_EQ(page.text.find(kubectl, at + 1), std::string::npos) << page.name << ": " << kubectl;
    }
  }
}

// Operators read an alert in places where they cannot run a program.
TEST(RunbookWords, AnnotationsNameNoProgramOfOurs) {
  const std::regex command("`gpuward-(exporter|remediator) [a-z-][^`]*`");
  for (const AlertRule& rule : load_alert_rules()) {
    for (const auto& [key, text] : rule.annotations)
      EXPECT_FALSE(std::regex_search(text, command)) << rule.name << ": " << text;
  }
}

// The exporter, its pods and its DaemonSet have their own namespace.
TEST(RunbookWords, LookForTheExporterInItsNamespace) {
  const std::string manifest = *read_file(GPUWARD_SOURCE_DIR "/manifests/exporter.yaml");
  ASSERT_THAT(manifest, ::testing::ContainsRegex("kind: DaemonSet\nmetadata:\n"
                                                 "  name: gpuward-exporter\n"
                                                 "  namespace: gpu-healthcheck\n"));
  std::size_t count = 0;
  for (const Page& page : runbooks()) {
    for (const std::string& command : code_in(page.text)) {
      const bool is_about_it = command.contains("gpuward-exporter") ||
                               command.contains(" daemonset") ||
                               command.contains("get pods -o wide --field-selector");
      if (!is_about_it || !command.starts_with("kubectl")) continue;
      EXPECT_TRUE(command.starts_with("kubectl -n gpu-healthcheck "))
          << page.name << ": " << command;
      ++count;
    }
  }
  EXPECT_GT(count, 20U);
}

// A remediator in mode observe still writes and has its finalizers. The switch stops everything at
// once. A cancellation closes the Remediation; the removal of a taint by hand only pauses it.
TEST(RunbookWords, StopByTheSwitchAndReturnNodesByCancelling) {
  for (const Page& page : runbooks()) {
    for (const char* misleading :
         {"--mode observe", "mode=observe", "Running pods stay", "kubectl taint node"})
      EXPECT_THAT(page.text, ::testing::Not(::testing::HasSubstr(misleading))) << page.name;
    // After the cancellation, for a cordon that is not proven to be gpuward's.
    EXPECT_EQ(page.text.contains("kubectl uncordon"), page.name == "GpuRemediationHeld.md")
        << page.name;
    if (!page.name.starts_with("GpuNodeNeeds") || page.name == "GpuNodeNeedsAttention.md") continue;
    for (const char* said : {"\ngpuwardctl stop REASON\n", "\ngpuwardctl cancel $NODE\n",
                             "Mode `full` goes on as the policy says"})
      EXPECT_THAT(page.text, ::testing::HasSubstr(said)) << page.name;
  }
}

TEST(RunbookWords, AnnotateRemediationsAsTheRemediatorReadsThem) {
  const std::string docs = *read_file(GPUWARD_SOURCE_DIR "/docs/gpuwardctl.md");
  std::size_t count = 0;
  for (const Page& page : runbooks()) {
    for (const std::string& key :
         words(page.text, R"(kubectl annotate \$NAME (?:--overwrite )?gpuward\.dev(/[a-z-]+)=)")) {
      EXPECT_TRUE(docs.contains("gpuward.dev" + key + "=")) << page.name << " annotates " << key;
      ++count;
    }
  }
  EXPECT_GT(count, 10U);
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

// `ecc_uncorrected` (reset)
TEST(RunbookWords, NameCodesOfFindingsWithTheirSeverity) {
  const std::string checks = *read_file(GPUWARD_SOURCE_DIR "/docs/checks.md");
  std::size_t count = 0;
  for (const Page& page : runbooks()) {
    for (const std::string& named :
         words(page.text, R"((`[a-z0-9_]+`\s\((?:monitor|reset|reboot|isolate)\)))")) {
      const auto code_end = named.find('`', 1);
      const std::string severity = named.substr(code_end + 3, named.size() - code_end - 4);
      const std::regex row("\n\\| " + named.substr(0, code_end + 1) + R"( \| [^|]+ \| )" +
                           severity + " \\|");
      EXPECT_TRUE(std::regex_search(checks, row)) << page.name << ": " << named;
      ++count;
    }
  }
  EXPECT_GT(count, 30U);
}

// Severity, check, code and clearing condition, in the rows that `findings list` has printed.
TEST(RunbookWords, ShowFindingsAsTheyAreJudged) {
  const std::string checks = *read_file(GPUWARD_SOURCE_DIR "/docs/checks.md");
  const std::regex listed(
      R"(\n([a-z]+) +(\S+) +(\S+) +\S+ +(measured|kernel) +(?:-|driver event) +(\S+) +1 )");
  std::set<std::string> xids;
  for (const xid::Row& row : xid::xid_rows()) {
    xids.insert(std::string(to_string(row.default_severity)) + " " + std::to_string(row.code) +
                " " + std::string(to_string(row.cleared_by)));
  }
  std::size_t count = 0;
  for (const Page& page : runbooks()) {
    for (std::sregex_iterator at(page.text.begin(), page.text.end(), listed), end; at != end;
         ++at, ++count) {
      const std::string severity = (*at)[1], check = (*at)[2], code = (*at)[3],
                        cleared_by = (*at)[5];
      if (check == "xid") {
        EXPECT_TRUE(xids.contains(severity + " " + code + " " + cleared_by))
            << page.name << at->str();
      } else if ((*at)[4] == "measured") {
        const std::regex row("\n\\| `" + code + R"(` \| )" + check + R"( \| )" + severity +
                             R"( \| [a-z]+ \| )" + cleared_by + " \\|");
        EXPECT_TRUE(std::regex_search(checks, row)) << page.name << at->str();
      }
    }
  }
  EXPECT_GT(count, 20U);
}

}  // namespace
}  // namespace gpuward::alerts
