#include "exporter/checks/programs/program_check.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/runtime/clock.h"
#include "core/runtime/files.h"
#include "exporter/checks/check/decide.h"
#include "tests/support/is_gone.h"
#include "tests/support/temp_dir.h"
#include "tests/support/wait.h"

namespace gpuward::exporter {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using ::testing::HasSubstr;
using Kind = CheckOutcome::Kind;

class ProgramCheckTest : public ::testing::Test {
 protected:
  ProgramCheckTest() {
    program_.name = "scratch-disk";
    program_.code = "DiskFull";
  }

  CheckOutcome run(const std::string& script) {
    program_.command = {"/bin/sh", "-c", script};
    return run();
  }

  CheckOutcome run() {
    CheckSettings settings;
    settings.programs = {program_};
    return program_entry(program_).make()->run({.snapshot = {},
                                                .settings = settings,
                                                .host = {},
                                                .instance_type = {},
                                                .profile = {},
                                                .clock = clock_,
                                                .stop = {}});
  }

  ProgramSettings program_;
  SystemClock clock_;
};

TEST_F(ProgramCheckTest, PassesIfItsProgramEndsWith0) {
  const CheckOutcome outcome = run("echo ' 40% used '");
  EXPECT_EQ(outcome.kind, Kind::kDone);
  EXPECT_TRUE(outcome.findings.empty());
  EXPECT_EQ(outcome.details, "40% used");
}

TEST_F(ProgramCheckTest, HasAFindingAsConfiguredIfItsProgramEndsWith1) {
  program_.severity = Severity::kReset;
  const CheckOutcome outcome = run("echo '100% used'; exit 1");
  ASSERT_EQ(outcome.findings.size(), 1U);
  EXPECT_EQ(outcome.findings[0].code, "DiskFull");
  EXPECT_EQ(outcome.findings[0].severity, Severity::kReset);
  EXPECT_EQ(outcome.findings[0].cleared_by, ClearedBy::kCheck);
  EXPECT_EQ(outcome.findings[0].line, "100% used");
  EXPECT_EQ(decide_status(outcome, "scratch-disk", {}).status, CheckStatus::kFail);
}

TEST_F(ProgramCheckTest, OnlyWarnsUnlessTheConfigurationSaysMore) {
  EXPECT_EQ(decide_status(run("exit 1"), "scratch-disk", {}).status, CheckStatus::kWarn);
}

TEST_F(ProgramCheckTest, IsAnErrorIfItsProgramEndsInAnyOtherWay) {
  for (const auto& [script, says] :
       {std::pair{"echo what; exit 2", "ended with 2: what"}, std::pair{"exit 3", "ended with 3"},
        std::pair{"kill -9 $$", "was terminated by signal 9"}}) {
    const CheckOutcome outcome = run(script);
    EXPECT_EQ(outcome.kind, Kind::kError) << script;
    EXPECT_TRUE(outcome.findings.empty()) << script;
    EXPECT_EQ(outcome.details, says);
  }
}

TEST_F(ProgramCheckTest, IsAnErrorWithoutItsProgram) {
  program_.command = {"/nonexistent/check_disk.sh"};
  const CheckOutcome outcome = run();
  EXPECT_EQ(outcome.kind, Kind::kError);
  EXPECT_THAT(outcome.details, HasSubstr("/nonexistent/check_disk.sh"));
}

// node-problem-detector kills the program alone and then waits for its children.
TEST_F(ProgramCheckTest, EndsTheWholeProcessGroupAtItsTimeOut) {
  const support::TempDir folder;
  const auto child = folder / "child";
  program_.timeout = milliseconds(2'000);  // enough for a shell to start
  const auto begin = clock_.steady();
  const CheckOutcome outcome = run("sleep 1000 & echo $! > " + child.string() + "; sleep 1000");
  EXPECT_LT(clock_.steady() - begin, support::kGenerous) << "it waited for the program to end";
  EXPECT_EQ(outcome.kind, Kind::kError);
  EXPECT_THAT(outcome.details, HasSubstr("timed out after 2000 ms"));
  const pid_t pid = std::atoi(read_file(child).value_or("").c_str());
  ASSERT_GT(pid, 0);
  EXPECT_TRUE(support::wait_until([&] { return support::is_gone(pid); },
                                  "the child of the program is gone"));
}

TEST_F(ProgramCheckTest, KeepsAsMuchOfTheOutputAsConfigured) {
  program_.max_output = 5;
  EXPECT_EQ(run("echo 123456789").details, "12345");
}

TEST_F(ProgramCheckTest, TakesTheErrorsOfAProgramThatPrintsNothing) {
  EXPECT_EQ(run("echo no disk >&2; exit 1").findings[0].line, "no disk");
  EXPECT_EQ(run("exit 1").findings[0].line, "ended with 1");
}

TEST_F(ProgramCheckTest, PassesArgumentsAsTheyAre) {
  program_.command = {"/bin/echo", "$HOME", "a  b; exit 1"};
  EXPECT_EQ(run().details, "$HOME a  b; exit 1");
}

TEST(ProgramEntry, GivesItsCheckMoreTimeThanTheProgram) {
  ProgramSettings program;
  program.name = "scratch-disk";
  program.timeout = seconds(20);
  const CheckEntry entry = program_entry(program);
  EXPECT_GT(entry.timeout, program.timeout);
  EXPECT_EQ(entry.name, "scratch-disk");
}

}  // namespace
}  // namespace gpuward::exporter
