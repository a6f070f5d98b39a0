// Exclusions with the real programs: an operator makes them on the command line, and the running
// remediator obeys them.
#include "tests/unit/remediator/remediator_process.h"

namespace gpuward::remediator {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

class ExclusionsProcess : public RemediatorProcess {
 protected:
  support::Process::Outcome say(std::vector<std::string> words) {
    std::vector<std::string> argv = {kCtl};
    argv.insert(argv.end(), words.begin(), words.end());
    argv.push_back("--kubeconfig=" + path("kubeconfig"));
    argv.emplace_back("--namespace=gpuward");
    auto outcome = support::Process::run({.argv = std::move(argv)});
    EXPECT_TRUE(outcome);
    return outcome ? *outcome : support::Process::Outcome{};
  }
};

TEST_F(ExclusionsProcess, KeepTheRunningOneOffANodeAndAreSeenByAll) {
  const auto added = say({"exclude", "gpu-01", "--for", "1h", "--reason", "a test"});
  ASSERT_EQ(added.exit_code, 0) << added.error_output;
  start_ready({"--mode=cordon", "--namespace=gpuward"});

  deliver(alert());

  ASSERT_TRUE(support::wait_until(
      [&] { return say({"explain", "gpu-01"}).output.find("rule excluded") != std::string::npos; },
      "the exclusion is heeded"));
  EXPECT_THAT(say({"explain", "gpu-01"}).output, StartsWith("gpu-01 is excluded until "));
  EXPECT_FALSE(is_cordoned());
  EXPECT_FALSE(is_tainted());
  EXPECT_THAT(support::http_get(telemetry("/metrics")).body,
              HasSubstr("gpuward_remediator_exclusion_expires_timestamp_seconds{subject="
                        "\"gpu-01\"} "));
  EXPECT_THAT(say({"exclusions", "list"}).output, HasSubstr(": a test\n"));
  EXPECT_THAT(say({"explain", "gpu-01", "-o", "json"}).output,
              HasSubstr(R"("excluded":"gpu-01 is excluded until )"));
  EXPECT_THAT(say({"explain", "gpu-01", "-o", "yaml"}).output,
              HasSubstr("\nnode: gpu-01\nremediations:\n  - apiVersion: gpuward.dev/v1alpha1\n"));
  EXPECT_EQ(say({"list", "-o", "xml"}).exit_code, 2);
  EXPECT_THAT(say({"list", "-o", "xml"}).error_output, HasSubstr("table"));
  EXPECT_EQ(say({"exclusions", "remove", "gpu-01"}).exit_code, 0);
}

TEST_F(ExclusionsProcess, AreNotTakenIfTheyMakeNoSense) {
  EXPECT_EQ(say({"exclusions"}).exit_code, 2);
  EXPECT_EQ(say({"exclude", "gpu-01", "--for", "soon"}).exit_code, 2);
  EXPECT_EQ(say({"exclude", "gpu-01", "--for", "0s"}).exit_code, 2);
  EXPECT_EQ(say({"exclude", "a/b"}).exit_code, 2);
  EXPECT_EQ(say({"exclude", "gpu-01", "--for", "367d"}).exit_code, 2);
  EXPECT_EQ(say({"exclude", "gpu-001"}).exit_code, 2);
  EXPECT_EQ(say({"exclusions", "remove", "gpu-001"}).exit_code, 2);
  EXPECT_EQ(say({"exclusions", "remove", "gpu-01"}).exit_code, 0) << "it is not excluded";
  EXPECT_EQ(say({"exclusions", "import", path("missing.json")}).exit_code, 2);
}

}  // namespace
}  // namespace gpuward::remediator
