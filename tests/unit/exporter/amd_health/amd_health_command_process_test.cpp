// `gpuward-exporter amd-health` as an operator types it instead of AMD's metricsclient, with and
// without a running exporter.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/wait.h"
#include "tests/unit/exporter/running_exporter.h"

namespace gpuward::exporter {
namespace {

using testing::AllOf;
using testing::HasSubstr;

class AmdHealthCommand : public testing::Test {
 protected:
  void start(const std::vector<std::string>& more = {}) {
    exporter_.write("gpus.yaml",
                    "gpus:\n"
                    "  - {uuid: GPU-a, pci: \"0000:c1:00.0\", vendor: amd, name: MI300X}\n"
                    "  - {uuid: GPU-b, pci: \"0000:c2:00.0\", vendor: amd, name: MI300X}\n");
    exporter_.write("config.yaml",
                    "amd: {health_service: {enabled: true, socket: " + socket() + "}}\n");
    std::vector<std::string> flags{"--config.file=" + exporter_.file("config.yaml").string()};
    flags.insert(flags.end(), more.begin(), more.end());
    exporter_.start(flags);
    ASSERT_TRUE(support::poll_until([&] { return run({"get"}).exit_code == 0; }))
        << run({"get"}).error_output;
  }
  [[nodiscard]] std::string socket() const { return exporter_.file("amd/health.socket").string(); }
  [[nodiscard]] support::Process::Outcome run(const std::vector<std::string>& words) const {
    std::vector<std::string> argv{exporter_binary().string(), "amd-health"};
    argv.insert(argv.end(), words.begin(), words.end());
    argv.push_back("--socket=unix://" + socket());
    return support::Process::run({.argv = std::move(argv)}).value_or(support::Process::Outcome{});
  }
  RunningExporter exporter_;
};

constexpr const char* kBothHealthy =
    "ID  UUID   HEALTH   DEVICE        ASSOCIATED WORKLOAD\n"
    "0   GPU-a  healthy  0000:c1:00.0  -\n"
    "1   GPU-b  healthy  0000:c2:00.0  -\n";

// CONTRACTS C: `metricsclient`.
TEST_F(AmdHealthCommand, PrintsTheHealthOfTheGpus) {
  start();
  EXPECT_EQ(run({"get"}).output, kBothHealthy);
  EXPECT_EQ(run({"get", "--id", "1", "--json"}).output,
            R"({"GPUState":[{"AssociatedWorkload":[],"Device":"0000:c2:00.0",)"
            R"("Health":"healthy","ID":"1","UUID":"GPU-b"}]})"
            "\n");
}

TEST_F(AmdHealthCommand, SaysWhichGpuIsNotThere) {
  start();
  const auto outcome = run({"get", "--id", "0", "--id", "7"});
  EXPECT_EQ(outcome.exit_code, 2);
  EXPECT_EQ(outcome.error_output, "gpuward-exporter: no GPU has the id 7\n");
}

// CONTRACTS C: the mock of AMD's testing tool, by words or by its file.
TEST_F(AmdHealthCommand, PretendsErrorsAndTakesThemAway) {
  start({"--debug.allow-injection"});
  EXPECT_THAT(
      run({"inject", "--id=0", "GPU_ECC_UNCORRECT_SEM=1", "GPU_ECC_UNCORRECT_FUSE=2"}).output,
      HasSubstr("\n0   GPU-a  unhealthy  0000:c1:00.0"));
  exporter_.write("ecc.json",
                  R"({"ID": "0", "Fields": ["GPU_ECC_UNCORRECT_SEM", "GPU_ECC_UNCORRECT_FUSE"],
                      "Counts": [0, 0]})");
  EXPECT_EQ(run({"inject", "--ecc-file-path", exporter_.file("ecc.json").string()}).exit_code, 0);
  EXPECT_EQ(run({"get"}).output, kBothHealthy);
}

TEST_F(AmdHealthCommand, SaysWhatTheServiceRefuses) {
  start({"--debug.allow-injection"});
  const auto wrong = run({"inject", "--id=0", "GPU_ECC_UNCORRECT_NONE=1"});
  EXPECT_EQ(wrong.exit_code, 1);
  EXPECT_THAT(wrong.error_output, HasSubstr("no threshold has the name GPU_ECC_UNCORRECT_NONE"));
}

TEST_F(AmdHealthCommand, SaysThatInjectionHasToBeAllowed) {
  start();
  const auto outcome = run({"inject", "--id=0", "GPU_ECC_UNCORRECT_SEM=1"});
  EXPECT_EQ(outcome.exit_code, 1);
  EXPECT_THAT(outcome.error_output, HasSubstr("needs --debug.allow-injection"));
}

TEST_F(AmdHealthCommand, SaysThatNobodyServes) {
  const auto outcome = run({"get"});
  EXPECT_EQ(outcome.exit_code, 2);
  EXPECT_THAT(
      outcome.error_output,
      AllOf(HasSubstr(socket()), HasSubstr("the socket does not exist"), HasSubstr("enabled")));
}

TEST_F(AmdHealthCommand, RefusesWhatIsNoInjection) {
  exporter_.write("ecc.json", R"({"ID": "0", "Fields": ["GPU_ECC_UNCORRECT_SEM"], "Counts": []})");
  const std::vector<std::vector<std::string>> wrong = {
      {"inject"},
      {"inject", "--id=0"},
      {"inject", "GPU_ECC_UNCORRECT_SEM=1"},
      {"inject", "--id=0", "GPU_ECC_UNCORRECT_SEM"},
      {"inject", "--id=0", "GPU_ECC_UNCORRECT_SEM=-1"},
      {"inject", "--id=0", "=1"},
      {"inject", "--ecc-file-path", exporter_.file("ecc.json").string()},
      {"inject", "--ecc-file-path", exporter_.file("none.json").string()},
      {"inject", "--ecc-file-path", exporter_.file("ecc.json").string(), "--id=0"},
      {"get", "--json", "-o", "yaml"},
      {}};
  for (const auto& words : wrong) {
    const auto outcome = run(words);
    EXPECT_EQ(outcome.exit_code, 2) << testing::PrintToString(words) << outcome.error_output;
    EXPECT_NE(outcome.error_output, "") << testing::PrintToString(words);
  }
}

}  // namespace
}  // namespace gpuward::exporter
