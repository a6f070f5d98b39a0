// The policy that the chart makes from a preset and the user's own keys: its notes agree with the
// program.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <regex>
#include <sstream>

#include "tests/manifests/tools.h"
#include "tests/places.inc"
#include "tests/support/require.h"
#include "tests/support/temp_dir.h"

namespace gpuward::manifests {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

using Arguments = std::vector<std::string>;

std::string policy_of(const Arguments& arguments) {
  return file_in(chart(arguments), "gpuward-remediator", "policy.yaml");
}

// The line of the notes that must agree with `policy explain` about a severity.
std::string line_of(const std::string& severity, const std::string& explained,
                    const std::string& mode) {
  static const std::regex kStep(R"(^  \d+\. ([a-z-]+))");
  std::string taken, left;
  std::string* names = &taken;
  std::istringstream lines(explained);
  for (std::string line; std::getline(lines, line);) {
    std::smatch step;
    if (line.starts_with("  -- mode " + mode + " ends here")) names = &left;
    if (std::regex_search(line, step, kStep))
      *names += (names->empty() ? "" : ", ") + step[1].str();
    if (line.find("for an operator's approval") != std::string::npos)
      *names += " (after an operator's approval)";
  }
  return "  " + severity + ": " + (taken.empty() ? "recorded only" : taken) +
         (left.empty() ? "" : "; not in this mode: " + left) + "\n";
}

struct Case {
  const char* name;
  const char* mode;
  Arguments arguments;
};

const Arguments kMeans = {"--set=remediator.prometheusURL=http://prometheus:9090",
                          "--set=remediator.grants.terminate=true",
                          "--set=remediator.grants.jobs=true",
                          "--set=remediator.policy.machines.aws.reboot=true",
                          "--set=remediator.policy.jobs.image=registry.example/exporter:1"};

constexpr const char* kOwnSteps = R"(remediator.policy.severities={
  "isolate": ["taint", "cordon", {"drain": {"pods": "gpu"}}, {"wait": {"approval": false}}, "terminate", "verify"],
  "reboot": ["taint", "notify", "cordon", "drain", {"wait": {"approval": true}}, "reboot"],
  "reset": []})";

Arguments with_means(Arguments arguments) {
  arguments.insert(arguments.end(), kMeans.begin(), kMeans.end());
  return arguments;
}

class Notes : public ::testing::TestWithParam<Case> {
 protected:
  void SetUp() override { GPUWARD_REQUIRE_IN(kLanding, why_no_helm()); }
};

TEST_P(Notes, SayOfEachSeverityWhatTheProgramDoes) {
  const auto& [name, mode, arguments] = GetParam();
  const std::string told = notes(arguments);
  const std::string policy = policy_of(arguments);
  EXPECT_THAT(told, HasSubstr("(mode " + std::string(mode) + "; preset "));
  for (const char* severity : {"isolate", "reboot", "reset", "monitor"})
    EXPECT_THAT(told, HasSubstr(line_of(severity, steps_explained(policy, severity), mode)));
}

INSTANTIATE_TEST_SUITE_P(
    All, Notes,
    ::testing::Values(
        Case{"watch_only", "observe", {}}, Case{"watch_only_with_means", "observe", with_means({})},
        Case{"cordon_and_tell", "cordon", {"--set=remediator.preset=cordon-and-tell"}},
        Case{"full", "full", with_means({"--set=remediator.preset=full"})},
        Case{"full_with_reboot_by_a_job",
             "full",
             {"--set=remediator.preset=full",
              "--set=remediator.prometheusURL=http://prometheus:9090",
              "--set=remediator.grants.terminate=true", "--set=remediator.grants.jobs=true",
              "--set=remediator.grants.rebootJob=true",
              "--set=remediator.policy.jobs.image=registry.example/exporter:1"}},
        Case{"mode_taint", "taint", {"--set=remediator.policy.mode=taint"}},
        Case{"health_suite", "full",
             with_means({"--set=remediator.preset=full",
                         "--set=remediator.policy.preset=health-suite"})},
        Case{"own_steps", "full",
             with_means({"--set=remediator.preset=full", std::string("--set-json=") + kOwnSteps})}),
    [](const auto& one) { return std::string(one.param.name); });

class Preset : public ::testing::Test {
 protected:
  void SetUp() override { GPUWARD_REQUIRE_IN(kLanding, why_no_helm()); }
};

// Also a `false` of the user's; and a preset leaves no list of steps in force beside a mode.
TEST_F(Preset, GivesWayToTheUsersOwnKeys) {
  EXPECT_THAT(policy_of(with_means({"--set=remediator.preset=full",
                                    "--set=remediator.policy.return_to_service.enabled=false"})),
              AllOf(HasSubstr("mode: full\n"), HasSubstr("  enabled: false\n")));
  EXPECT_THAT(policy_of({"--set=remediator.grants.rebootJob=true"}),
              HasSubstr("  job:\n    reboot: true\n"));
  EXPECT_THAT(policy_of({"--set=remediator.grants.rebootJob=true",
                         "--set=remediator.policy.machines.job.reboot=false"}),
              HasSubstr("  job:\n    reboot: false\n"));
  EXPECT_THAT(policy_of({"--set=remediator.preset=cordon-and-tell",
                         "--set=remediator.policy.mode=observe"}),
              HasSubstr("mode: observe\n"));
  for (const char* preset : {"watch-only", "cordon-and-tell", "full"})
    EXPECT_THAT(text_of("manifests/chart/gpuward/files/presets/" + std::string(preset) + ".yaml"),
                Not(HasSubstr("severities")));
}

// The block of values in the installation guide that begins with the preset.
std::string example_of(const std::string& preset) {
  const std::string guide = text_of("docs/install.md");
  const std::string fence = "```yaml\n";
  const auto found = guide.find(fence + "remediator:\n  preset: " + preset + "\n");
  if (found == std::string::npos) return {};
  const auto begin = found + fence.size();
  return guide.substr(begin, guide.find("```", begin) - begin);
}

TEST_F(Preset, IsContinuedInTheInstallationGuideWithValuesThatWork) {
  for (const char* preset : {"watch-only", "cordon-and-tell", "full"}) {
    SCOPED_TRACE(preset);
    const std::string example = example_of(preset);
    ASSERT_FALSE(example.empty());
    const support::TempDir folder;
    const auto values = folder.write("values.yaml", example);
    const std::string policy = policy_of({"--values=" + values.string()});
    EXPECT_THAT(steps_explained(policy, "isolate"), HasSubstr("1. taint\n"));
  }
}

// The values that docs/tutorial.md installs on a cluster without GPUs.
TEST_F(Preset, IsContinuedByTheSampleWithSimulatedGpus) {
  const std::string rendered =
      chart({"--values=" + tree("manifests/samples/simulated-gpus.yaml").string(),
             "--set=remediator.prometheusURL=http://prometheus:9090",
             "--set=remediator.policy.mode=full"});
  EXPECT_THAT(
      steps_explained(file_in(rendered, "gpuward-remediator", "policy.yaml"), "reboot"),
      AllOf(HasSubstr("1. taint\n"), HasSubstr("4. verify"), HasSubstr("5. return-to-service")));

  const support::TempDir folder;
  const auto gpus = folder.write("gpus.yaml", file_in(rendered, "simulated-gpus", "gpus.yaml"));
  const auto outcome =
      support::Process::run({.argv = {GPUWARD_BIN_DIR "/gpuward-exporter", "--check-config",
                                      "--gpu.simulate=" + gpus.string()}});
  ASSERT_TRUE(outcome);
  EXPECT_EQ(outcome->exit_code, 0) << outcome->output << outcome->error_output;
}

}  // namespace
}  // namespace gpuward::manifests
