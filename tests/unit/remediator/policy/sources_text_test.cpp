#include "remediator/policy/sources_text.h"

#include <gmock/gmock.h>

#include "tests/unit/remediator/policy/parse_policy.h"

namespace gpuward::remediator {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

std::string text_of(const std::string& yaml) {
  const auto policy = parse_policy(yaml);
  EXPECT_TRUE(policy) << policy.error().message;
  return policy ? sources_text(*policy) : std::string();
}

TEST(SourcesText, SaysWhatConditionsAmountTo) {
  EXPECT_THAT(
      text_of("conditions:\n"
              "  - {type: GPUProblem, for: 2m, severity: reset, labels: [pool=a, big]}\n"
              "  - {type: Sick, status: 'False', severity: reboot, drain: true}\n"
              "min_drain_interval: 7m\n"),
      AllOf(HasSubstr("  condition GPUProblem=True for 2m on nodes labelled pool=a, big: severity "
                      "reset; foreign: steps end at the cordon\n"),
            HasSubstr("  condition Sick=False: severity reboot; foreign: steps end at the drain, "
                      "which begins at the earliest 7m after the last disruption\n")));
}

TEST(SourcesText, SaysWhichClustersAlertsAreTaken) {
  EXPECT_EQ(text_of("cluster: east\n"), "alerts\n  only those with the label cluster=east\n");
}

TEST(SourcesText, SaysWhichLinesAreReadAndWhatTheyMean) {
  EXPECT_THAT(text_of("loki: {konduktor_taint: true}\n"), HasSubstr("trainy.konduktor.ai/faulty"));
  EXPECT_EQ(text_of(""), "") << "the policy says nothing of Loki";
  EXPECT_THAT(text_of("loki: {every: 9s, quiet_for: 20m, pod_lines: [{contains: no gpu}]}\n"),
              AllOf(HasSubstr("with --loki.url, every 9s: kernel lines of {k8s_daemonset_name"),
                    HasSubstr("pod lines with `no gpu`: severity reset; foreign"),
                    HasSubstr("a finding ends after 20m without a new line")));
}

TEST(SourcesText, SaysWhomTheTriageAsksAndHowFarItsAdviceGoes) {
  EXPECT_THAT(text_of("loki: {every: 9s}\n"), Not(HasSubstr("sent to")));
  EXPECT_THAT(text_of("triage:\n  openai: {url: 'http://m/v1', model: qwen}\n  per_hour: 9\n"),
              HasSubstr("sent to qwen at http://m/v1, at most 9 lines an hour and 200000 "
                        "characters a day; advised severity: monitor at most; foreign"));
  EXPECT_THAT(text_of("triage:\n  bedrock: {model: anthropic.x}\n  max_severity: reset\n"),
              HasSubstr("sent to anthropic.x at bedrock, at most 30 lines an hour and 200000 "
                        "characters a day; advised severity: reset at most; foreign"));
}

TEST(SourcesText, SaysWhatIsDoneAboutSilentNodes) {
  EXPECT_THAT(
      text_of("silent: {after: 7m, limit: {nodes: 2}}\n"),
      AllOf(
          HasSubstr(
              "  GPU nodes whose condition Ready has not been True for 7m: severity reboot; taint, "
              "cordon, notify\n"),
          HasSubstr("no step begins if more than 2 of the fleet, a pool"),
          HasSubstr("the kubelet is down; severity monitor; foreign")));
  EXPECT_THAT(text_of("machines: {reboot: [/bin/power-cycle]}\n"
                      "silent: {reboot: true, terminate: true}\n"),
              HasSubstr("notify, then a restart after two proofs that the machine is down, then "
                        "termination after two proofs and an approval\n"));
}

}  // namespace
}  // namespace gpuward::remediator
