// `./dev demo` as users see it: the story, and an end that leaves nothing behind.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>
#include <regex>

#include "tests/e2e/stack.h"
#include "tests/places.inc"
#include "tests/support/http_get.h"
#include "tests/support/process.h"
#include "tests/support/require.h"
#include "tests/support/wait.h"

namespace gpuward::e2e {
namespace {

using support::wait_until;
using ::testing::ContainsRegex;
using ::testing::HasSubstr;
using ::testing::SizeIs;

std::string demo() { return std::string(GPUWARD_BIN_DIR) + "/gpuward-demo"; }

bool has(const support::Process& process, const char* text) {
  return process.output().find(text) != std::string::npos;
}

TEST(Demo, TellsHowAFaultBecomesACordonAndLeaves) {
  GPUWARD_REQUIRE(why_no_stack());
  const auto run = support::Process::run({.argv = {demo(), "--exit-after-story"}});
  ASSERT_TRUE(run) << run.error().message;
  EXPECT_EQ(run->exit_code, 0) << run->output << run->error_output;
  for (const char* step :
       {"fault        NVRM: Xid (PCI:0000:4e:00): 79", "metric       ", "alert        ",
        "remediation  ", "cordon       gpu-node-1 is tainted and cordoned",
        "gpuward.dev/remediation=reboot:NoSchedule", "get nodes,remediations"}) {
    EXPECT_THAT(run->output, HasSubstr(step));
  }
  EXPECT_THAT(run->output, ContainsRegex("gpu-node-1 +Ready,SchedulingDisabled"));
  EXPECT_THAT(run->output, ContainsRegex("gpu-node-2 +Ready +<none>"));
  EXPECT_THAT(run->output, ContainsRegex("From the line to the cordoned node: [0-9.]+ s"));
}

// The addresses that the output names.
std::vector<std::string> addresses_in(const std::string& output) {
  const std::regex address("https?://[^ \\n]+");
  return {std::sregex_token_iterator(output.begin(), output.end(), address), {}};
}

TEST(Demo, AnswersAtEachAddressThatItNamesAndEndsCleanlyOnCtrlC) {
  GPUWARD_REQUIRE(why_no_stack());
  const auto process = support::Process::spawn({.argv = {demo()}});
  ASSERT_TRUE(process) << process.error().message;
  ASSERT_TRUE(
      wait_until([&] { return has(**process, "Ctrl-C ends it all"); }, "the end of the story"))
      << (*process)->output() << (*process)->error_output();
  const auto addresses = addresses_in((*process)->output());
  EXPECT_THAT(addresses, SizeIs(5));
  for (const std::string& address : addresses) {
    const auto answer = support::http_get(address);
    EXPECT_EQ(answer.status, 200) << address;
    EXPECT_NE(answer.body, "") << address;
  }
  (*process)->signal(SIGINT);
  EXPECT_EQ((*process)->wait_exit(), 0) << (*process)->output() << (*process)->error_output();
  EXPECT_TRUE(has(**process, "Everything stopped within"));
}

TEST(Demo, EndsCleanlyOnCtrlCWhileItStarts) {
  GPUWARD_REQUIRE(why_no_stack());
  const auto process = support::Process::spawn({.argv = {demo()}});
  ASSERT_TRUE(process) << process.error().message;
  ASSERT_TRUE(wait_until([&] { return has(**process, "Starting on loopback"); }, "the first line"));
  (*process)->signal(SIGINT);
  EXPECT_EQ((*process)->wait_exit(), 0) << (*process)->output() << (*process)->error_output();
}

TEST(Demo, RefusesArgumentsThatItDoesNotKnow) {
  const auto run = support::Process::run({.argv = {demo(), "--fast"}});
  ASSERT_TRUE(run) << run.error().message;
  EXPECT_EQ(run->exit_code, 2);
  EXPECT_THAT(run->error_output, HasSubstr("usage: gpuward-demo"));
}

}  // namespace
}  // namespace gpuward::e2e
