// The meaning of the words of gpuwardctl.
#include "remediator/cli/ctl/parse.h"

#include <gmock/gmock.h>

#include <functional>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "remediator/cli/ctl/words.h"
#include "tests/support/environment.h"

namespace gpuward::remediator {
namespace {

using std::chrono::hours;
using std::chrono::milliseconds;
using Names = std::vector<std::string>;

std::variant<CtlLine, int> parse(const std::string& words) {
  std::istringstream in("gpuwardctl " + words);
  std::vector<std::string> all;
  for (std::string word; in >> word;) all.push_back(word);
  std::vector<const char*> argv;
  for (const std::string& word : all) argv.push_back(word.c_str());
  return parse_ctl_line(static_cast<int>(argv.size()), argv.data());
}

struct Meaning {
  std::string command, words;
  std::function<bool(const CommandFlags&)> holds;
};

// One case for each flag and word of each command. Only this word has the effect that the case
// expects.
const std::vector<Meaning>& meanings() {
  using F = const CommandFlags&;
  static const std::vector<Meaning> kMeanings{
      {"list", "--kubeconfig=a", [](F f) { return f.kubeconfig == "a"; }},
      {"list", "--context=a", [](F f) { return f.context == "a"; }},
      {"list", "--as=a", [](F f) { return f.as_user == "a"; }},
      {"list", "--as a --as-group=b --as-group c",
       [](F f) { return f.as_user == "a" && f.as_groups == Names{"b", "c"}; }},
      {"list", "-n a", [](F f) { return f.state_namespace == "a"; }},
      {"list", "--namespace=a", [](F f) { return f.state_namespace == "a"; }},
      {"list", "--request-timeout=7s", [](F f) { return f.request_timeout == milliseconds(7000); }},
      {"list", "-o json", [](F f) { return f.output == OutputFormat::kJson; }},
      {"list", "--output=yaml", [](F f) { return f.output == OutputFormat::kYaml; }},
      {"list", "-o wide", [](F f) { return f.output == OutputFormat::kWide; }},
      {"list", "-o name", [](F f) { return f.output == OutputFormat::kName; }},
      {"list", "-o nodes", [](F f) { return f.output == OutputFormat::kNodes; }},
      {"list", "a node/b", [](F f) { return f.list.names == Names{"a", "b"}; }},
      {"list", "--all", [](F f) { return f.list.is_all; }},
      {"list", "-l a=b,c", [](F f) { return f.list.selector == "a=b,c"; }},
      {"list", "--selector=a!=b", [](F f) { return f.list.selector == "a!=b"; }},
      {"list", "--sort-by={.a.b}", [](F f) { return f.list.sort_by == "{.a.b}"; }},
      {"list", "--no-headers", [](F f) { return f.list.has_no_headers; }},
      {"list", "-w", [](F f) { return f.watches; }},
      {"list", "--watch", [](F f) { return f.watches; }},
      {"status", "-o wide", [](F f) { return f.output == OutputFormat::kWide; }},
      {"status", "-w", [](F f) { return f.watches; }},
      {"status", "--exit-code", [](F f) { return f.exit_code; }},
      {"doctor", "node/a", [](F f) { return f.node == "a"; }},
      {"doctor", "--wait=4m", [](F f) { return f.wait == std::chrono::minutes(4); }},
      {"doctor", "-o json", [](F f) { return f.output == OutputFormat::kJson; }},
      {"status", "-o json", [](F f) { return f.output == OutputFormat::kJson; }},
      {"explain", "a", [](F f) { return f.node == "a"; }},
      {"explain", "a -o json", [](F f) { return f.output == OutputFormat::kJson; }},
      {"breaker", "-o json", [](F f) { return f.output == OutputFormat::kJson; }},
      {"runbook", "a", [](F f) { return f.alert == "a"; }},
      {"runbook", "-o name", [](F f) { return f.output == OutputFormat::kName; }},
      {"approve", "a b", [](F f) { return f.node == "a" && f.token == "b"; }},
      {"pause", "a", [](F f) { return f.node == "a"; }},
      {"resume", "a", [](F f) { return f.node == "a"; }},
      {"breaker close", "--dry-run", [](F f) { return f.dry_run; }},
      {"breaker close", "--yes", [](F f) { return f.is_confirmed; }},
      {"cancel", "a", [](F f) { return f.node == "a"; }},
      {"cancel", "a --dry-run", [](F f) { return f.dry_run; }},
      {"cancel", "a --yes", [](F f) { return f.is_confirmed; }},
      {"machine-replaced", "a", [](F f) { return f.node == "a"; }},
      {"machine-replaced", "a --dry-run", [](F f) { return f.dry_run; }},
      {"machine-replaced", "a --yes", [](F f) { return f.is_confirmed; }},
      {"exclude", "a", [](F f) { return f.exclusion.subject == "a"; }},
      {"exclude", "a --for=7d", [](F f) { return f.exclusion.lasts == hours(24 * 7); }},
      {"exclude", "a --reason=b", [](F f) { return f.exclusion.reason == "b"; }},
      {"exclusions list", "-o json", [](F f) { return f.output == OutputFormat::kJson; }},
      {"exclusions remove", "a", [](F f) { return f.exclusion.subject == "a"; }},
      {"exclusions import", "a", [](F f) { return f.exclusion.file == "a"; }},
      {"stop", "--reason=a", [](F f) { return f.reason == "a"; }},
      {"stop", "a", [](F f) { return f.reason == "a"; }},
      {"stop", "a b --context=c", [](F f) { return f.reason == "a b" && f.context == "c"; }},
      {"reset", "--taint=a", [](F f) { return f.taint == "a"; }},
      {"reset", "--dry-run", [](F f) { return f.dry_run; }},
      {"reset", "--yes", [](F f) { return f.is_confirmed; }},
      {"reset", "--cancel", [](F f) { return f.cancels; }},
      {"policy check", "a", [](F f) { return f.policy_file == "a"; }},
      {"policy check", "a --mode=full", [](F f) { return f.mode == Mode::kFull; }},
      {"policy explain", "a", [](F f) { return f.policy_file == "a"; }},
      {"policy explain", "a --mode=taint", [](F f) { return f.mode == Mode::kTaint; }},
      {"policy explain", "a --labels=b=c,d=", [](F f) { return f.labels.contains("b"); }},
      {"policy explain", "a --node=b", [](F f) { return f.node == "b"; }},
      {"policy explain", "a --severity=reset", [](F f) { return f.severity == Severity::kReset; }},
      {"replay", "a --mode=full", [](F f) { return f.mode == Mode::kFull; }},
      {"replay", "a", [](F f) { return f.policy_file == "a"; }},
      {"replay", "a --history=b", [](F f) { return f.replay.history == "b"; }},
      {"replay", "a --nodes=b", [](F f) { return f.replay.nodes == "b"; }},
      {"replay", "a --since=12h", [](F f) { return f.replay.since == hours(12); }},
      {"replay", "a --approve", [](F f) { return f.replay.approves_all; }},
      {"replay", "a -o json", [](F f) { return f.output == OutputFormat::kJson; }},
      {"replay", "a --prometheus.url=http://b",
       [](F f) { return f.replay.prometheus_url == "http://b"; }},
      {"replay", "a --prometheus.ca-file=b",
       [](F f) { return f.replay.prometheus_files.ca_file == "b"; }},
      {"replay", "a --prometheus.bearer-token-file=b",
       [](F f) { return f.replay.prometheus_files.bearer_token_file == "b"; }},
      {"replay", "a --prometheus.basic-auth-file=b",
       [](F f) { return f.replay.prometheus_files.basic_auth_file == "b"; }},
      {"replay", "a --prometheus.certificate-file=b",
       [](F f) { return f.replay.prometheus_files.certificate_file == "b"; }},
      {"replay", "a --prometheus.credentials-over-http",
       [](F f) { return f.replay.prometheus_files.plain_http == http::PlainHttp::kAllowed; }},
      {"replay", "a --prometheus.key-file=b",
       [](F f) { return f.replay.prometheus_files.key_file == "b"; }},
  };
  return kMeanings;
}

TEST(CtlWords, MeanWhatTheySay) {
  const support::Environment no_pod("POD_NAMESPACE", "");
  for (const Meaning& meaning : meanings()) {
    const auto line = parse(meaning.command + " " + meaning.words);
    ASSERT_TRUE(std::holds_alternative<CtlLine>(line)) << meaning.command << " " << meaning.words;
    const CtlLine& parsed = std::get<CtlLine>(line);
    EXPECT_EQ(parsed.command->name, meaning.command);
    EXPECT_TRUE(meaning.holds(parsed.flags)) << meaning.command << " " << meaning.words;
    EXPECT_FALSE(meaning.holds(CommandFlags())) << meaning.words << " is nothing but the default";
  }
}

// kubectl and `list -o name` write names in these forms.
TEST(CtlWords, NameANodeWithItsKindToo) {
  for (const char* const words :
       {"explain node/a", "pause no/a", "cancel nodes/a", "resume remediation/a",
        "explain remediation.gpuward.dev/a", "policy explain p --node node/a"})
    EXPECT_EQ(std::get<CtlLine>(parse(words)).flags.node, "a") << words;
  EXPECT_EQ(std::get<CtlLine>(parse("exclude node/a")).flags.exclusion.subject, "a");
  EXPECT_EQ(std::get<CtlLine>(parse("explain pod/a")).flags.node, "pod/a") << "no node";
}

// Fails if a new word has no line above.
TEST(CtlWords, AreAllTested) {
  std::set<std::string> tested;
  for (const Meaning& meaning : meanings()) {
    std::istringstream words(meaning.words);
    for (std::string word; words >> word;)
      if (word.starts_with("-"))
        tested.insert(meaning.command + " " + word.substr(0, word.find('=')));
  }
  for (const CtlCommand& command : ctl_commands()) {
    CLI::App app;
    CommandFlags flags;
    if (command.add_words != nullptr) command.add_words(app, flags);
    for (const CLI::Option* option : app.get_options()) {
      if (option == app.get_help_ptr() || option->get_positional()) continue;
      const std::string name(command.name);
      const bool is_tested =
          std::ranges::any_of(
              option->get_lnames(),
              [&](const std::string& word) { return tested.contains(name + " --" + word); }) ||
          std::ranges::any_of(option->get_snames(), [&](const std::string& word) {
            return tested.contains(name + " -" + word);
          });
      EXPECT_TRUE(is_tested) << name << " " << option->get_name();
    }
  }
}

TEST(CtlWords, AreRefusedIfTheyMakeNoSense) {
  for (const char* words : {"nothing",
                            "list --nothing",
                            "explain",
                            "approve gpu-01",
                            "exclusions",
                            "policy",
                            "list -o xml",
                            "explain a -o name",
                            "explain a -w",
                            "list --request-timeout=fast",
                            "list --request-timeout=0s",
                            "exclude a --for=-1s",
                            "exclude a --for=367d",
                            "list --as-group=a",
                            "policy check a --mode=ful",
                            "stop a --reason=b",
                            "policy explain a --labels=b",
                            "policy explain a --labels=b=c --node=d",
                            "policy explain a --severity=bad",
                            "replay a --prometheus.url=b",
                            "replay a --since=1d --history=b"}) {
    const auto line = parse(words);
    ASSERT_TRUE(std::holds_alternative<int>(line)) << words;
    EXPECT_EQ(std::get<int>(line), 2) << words;
  }
}

TEST(CtlWords, TakeTheNamespaceOfThePod) {
  const support::Environment pod("POD_NAMESPACE", "healing");

  EXPECT_EQ(std::get<CtlLine>(parse("list")).flags.state_namespace, "healing");
  EXPECT_EQ(std::get<CtlLine>(parse("list -n a")).flags.state_namespace, "a");
}

}  // namespace
}  // namespace gpuward::remediator
