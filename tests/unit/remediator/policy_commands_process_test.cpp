// `policy check` and `policy explain` of the real program, the latter against the fake API server.
#include "tests/unit/remediator/remediator_process.h"

namespace gpuward::remediator {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

class PolicyCommands : public RemediatorProcess {
 protected:
  void SetUp() override {
    RemediatorProcess::SetUp();
    write("policy.yaml",
          "mode: cordon\n"
          "severities:\n  reboot: [taint, cordon, drain]\n"
          "excluded: {labels: [team=research]}\n");
  }
  support::Process::Outcome policy(std::vector<std::string> words, std::string input = {}) {
    std::vector<std::string> argv = {kCtl, "policy"};
    argv.insert(argv.end(), words.begin(), words.end());
    auto outcome = support::Process::run({.argv = std::move(argv), .input = std::move(input)});
    EXPECT_TRUE(outcome);
    return outcome ? *outcome : support::Process::Outcome{};
  }
};

TEST_F(PolicyCommands, CheckSaysInALineThatAFileIsGood) {
  const auto said = policy({"check", path("policy.yaml")});

  EXPECT_EQ(said.exit_code, 0) << said.error_output;
  EXPECT_EQ(said.output, path("policy.yaml") + ": OK. Mode: cordon\n");
}

TEST_F(PolicyCommands, CheckSaysThatTheBreakerIsOff) {
  write("off.yaml", "mode: cordon\nbudgets: {breaker: {percent: 100}}\n");

  const auto said = policy({"check", path("off.yaml")});

  EXPECT_EQ(said.exit_code, 0);
  EXPECT_THAT(said.output, HasSubstr(": OK. Mode: cordon\nnote: budgets.breaker.percent"));
}

TEST_F(PolicyCommands, CheckNamesEveryFaultWithItsLineAndEndsWith2) {
  write("bad.yaml", "mode: ful\nseverities:\n  reboot: [taint, evict]\n");

  const auto said = policy({"check", path("bad.yaml")});

  EXPECT_EQ(said.exit_code, 2);
  EXPECT_THAT(said.error_output,
              AllOf(HasSubstr("bad.yaml:1: mode"), HasSubstr("bad.yaml:3: severities.reboot")));
  EXPECT_EQ(policy({"check", path("missing.yaml")}).exit_code, 2);
  EXPECT_EQ(policy({}).exit_code, 2);
  EXPECT_EQ(policy({"check"}).exit_code, 2);
}

TEST_F(PolicyCommands, CheckSaysWhatAnEmptyPolicyMeans) {
  write("empty.yaml", "# nothing yet\n");

  EXPECT_THAT(
      policy({"check", path("empty.yaml")}).output,
      HasSubstr("the policy is empty, so every key has its default: alerts are recorded, and no "
                "node is touched"));
  EXPECT_THAT(policy({"check", path("policy.yaml")}).output, Not(HasSubstr("empty")));
}

TEST_F(PolicyCommands, ReadStandardInput) {
  const auto good = policy({"check", "-"}, "mode: cordon\n");
  const auto bad = policy({"check", "-"}, "mode: ful\n");

  EXPECT_EQ(good.output, "stdin: OK. Mode: cordon\n");
  EXPECT_EQ(bad.exit_code, 2);
  EXPECT_THAT(bad.error_output, HasSubstr("error: stdin:1: mode: "));
  EXPECT_THAT(policy({"explain", "-"}, "mode: cordon\n").output,
              HasSubstr("stdin in mode cordon, for"));
}

// `kubectl get configmap -o yaml` and `-o json` print it like this.
TEST_F(PolicyCommands, FindThePolicyInAConfigMap) {
  const std::string map = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata:\n";
  const auto good = policy({"check", "-"}, map + "  policy.yaml: |\n    mode: cordon\n");
  const auto bad = policy({"check", "-"}, map + "  policy.yaml: |\n    mode: full\n    modes: 1\n");
  const auto json =
      policy({"check", "-"}, R"({"kind": "ConfigMap", "data": {"policy.yaml": "mode: taint\n"}})");
  const auto none = policy({"check", "-"}, map + "  stop: \"true\"\n");

  EXPECT_EQ(good.output, "stdin, key policy.yaml of the ConfigMap: OK. Mode: cordon\n");
  EXPECT_THAT(bad.error_output,
              HasSubstr("stdin, key policy.yaml of the ConfigMap:2: modes: unknown key"));
  EXPECT_THAT(json.output, HasSubstr("of the ConfigMap: OK. Mode: taint\n"));
  EXPECT_EQ(none.exit_code, 2);
  EXPECT_THAT(none.error_output, HasSubstr("a ConfigMap without the key policy.yaml in its data"));
}

TEST_F(PolicyCommands, FindThePolicyInHelmValuesAtItsLines) {
  const std::string head = "images: {exporter: {tag: a}}\nremediator:\n  # ours\n  replicas: 2\n";
  write("values.yaml", head +
                           "  policy:\n    mode: cordon\n    # later more\n\n    severities:\n"
                           "      reboot: [taint, cordon]\n  grants: {}\nexporter: {mode: x}\n");
  write("bad.yaml", head + "  policy:\n    mode: cordon\n    modes: 1\n");
  write("flow.yaml", head + "  policy: {mode: taint}\n");
  write("none.yaml", head);
  const std::string key = ", key remediator.policy of the Helm values";

  const auto bad = policy({"check", path("bad.yaml")});
  const auto none = policy({"check", path("none.yaml")});

  EXPECT_THAT(policy({"check", path("values.yaml")}).output,
              AllOf(StartsWith(path("values.yaml") + key + ": OK. Mode: cordon\n"),
                    HasSubstr("note: remediator.preset of the values is not read")));
  EXPECT_THAT(policy({"explain", path("values.yaml")}).output,
              HasSubstr("note: remediator.preset of the values is not read"));
  EXPECT_EQ(bad.exit_code, 2);
  EXPECT_THAT(bad.error_output, HasSubstr(path("bad.yaml") + key + ":7: modes: unknown key"));
  EXPECT_THAT(policy({"check", path("flow.yaml")}).output, HasSubstr(": OK. Mode: taint\n"));
  EXPECT_EQ(none.exit_code, 2);
  EXPECT_THAT(none.error_output, HasSubstr("have no remediator.policy"));
}

TEST(RunbookCommand, PrintsAPageOrTheNamesOfAll) {
  const auto runbook = [](std::vector<std::string> words) {
    std::vector<std::string> argv = {kCtl, "runbook"};
    argv.insert(argv.end(), words.begin(), words.end());
    return *support::Process::run({.argv = std::move(argv)});
  };

  EXPECT_TRUE(runbook({"GpuFallenOffBus"}).output.starts_with("# GpuFallenOffBus\n"));
  EXPECT_THAT(runbook({}).output,
              HasSubstr("\nGpuExporterDown                     Prometheus has not "
                        "scraped the exporter"));
  EXPECT_THAT(runbook({"-o", "name"}).output, HasSubstr("\nGpuFallenOffBus\n"));
  const auto unknown = runbook({"GpuOnFire"});
  EXPECT_EQ(unknown.exit_code, 2);
  EXPECT_THAT(unknown.error_output,
              HasSubstr("no runbook GpuOnFire; `gpuwardctl runbook` lists them"));
  EXPECT_THAT(runbook({"GpuFalenOfBus"}).error_output,
              HasSubstr("did you mean \"GpuFallenOffBus\"?"));
}

TEST_F(PolicyCommands, ExplainSaysEverySeverityForANodeOfSuchLabels) {
  const auto said = policy({"explain", path("policy.yaml"), "--labels", "team=serving,pool=a"});

  EXPECT_EQ(said.exit_code, 0) << said.error_output;
  EXPECT_THAT(said.output,
              AllOf(HasSubstr("in mode cordon, for a node labelled pool=a, team=serving\n"),
                    HasSubstr("severity isolate"), HasSubstr("severity monitor"),
                    HasSubstr("mode cordon ends here; the steps below are skipped --\n  3."),
                    HasSubstr("budget: cluster"), Not(HasSubstr("loki"))));
}

TEST_F(PolicyCommands, ExplainTakesOneSeverityAndAnotherMode) {
  const auto said = policy({"explain", path("policy.yaml"), "--severity", "reboot", "--mode=full"});

  EXPECT_THAT(said.output, AllOf(HasSubstr("in mode full"), HasSubstr("severity reboot"),
                                 Not(HasSubstr("severity isolate")), Not(HasSubstr("ends here"))));
}

TEST_F(PolicyCommands, ExplainReadsANodeOfTheCluster) {
  Json excluded = fakes::ready_node("gpu-02");
  excluded["metadata"]["labels"]["team"] = "research";
  server_->kube().create("/api/v1/nodes", excluded);
  const auto explain = [&](const std::string& node) {
    return policy(
        {"explain", path("policy.yaml"), "--node", node, "--kubeconfig=" + path("kubeconfig")});
  };

  EXPECT_THAT(explain("gpu-01").output,
              AllOf(HasSubstr("for node gpu-01\n"), HasSubstr("severity reboot")));
  EXPECT_THAT(explain("gpu-02").output,
              AllOf(HasSubstr("excluded: excluded.labels matches the node: team=research"),
                    Not(HasSubstr("severity"))));
  EXPECT_EQ(explain("gpu-99").exit_code, 2);
}

TEST_F(PolicyCommands, ExplainRefusesWhatItDoesNotUnderstand) {
  const std::vector<std::vector<std::string>> all = {
      {"explain", path("policy.yaml"), "--severity", "fatal"},
      {"explain", path("policy.yaml"), "--severity", "none"},
      {"explain", path("policy.yaml"), "--labels", "team"},
      {"explain", path("policy.yaml"), "--labels", "a=b", "--node", "gpu-01"}};
  for (const auto& words : all) {
    const auto said = policy(words);
    EXPECT_EQ(said.exit_code, 2) << words[3];
    EXPECT_THAT(said.error_output, HasSubstr(words[2]));
  }
}

}  // namespace
}  // namespace gpuward::remediator
