#include "core/runtime/child.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <fstream>
#include <optional>
#include <thread>

#include "tests/support/environment.h"
#include "tests/support/temp_dir.h"

namespace gpuward {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using ::testing::HasSubstr;
using ::testing::Not;

class ChildTest : public ::testing::Test {
 protected:
  static ChildCommand shell(const std::string& script) {
    ChildCommand command;
    command.program = "/bin/sh";
    command.arguments = {"-c", script};
    return command;
  }
  SystemClock clock;
};

TEST_F(ChildTest, GivesBothStreamsAndTheExitCode) {
  const auto ended = run_child(shell("echo out; echo err >&2; exit 205"), clock);
  ASSERT_TRUE(ended) << ended.error().message;
  EXPECT_EQ(ended->output, "out\n");
  EXPECT_EQ(ended->complaint, "err\n");
  EXPECT_EQ(ended->exit_code, 205);  // dcgmi's code for a GPU to isolate
  EXPECT_EQ(ended->signal, 0);
  EXPECT_EQ(how_it_ended(*ended), "ended with 205");
}

TEST_F(ChildTest, ReadsWhatItIsGivenAndNothingIfItIsGivenNothing) {
  ChildCommand command = shell("cat");
  EXPECT_EQ(run_child(command, clock)->output, "");
  command.input = std::string(200'000, 'x');
  EXPECT_EQ(run_child(command, clock)->output, command.input);
}

// The input is larger than a pipe holds, and the child never reads it.
TEST_F(ChildTest, NeedNotReadWhatItIsGiven) {
  ChildCommand command = shell("exit 4");
  command.input = std::string(200'000, 'x');
  EXPECT_EQ(run_child(command, clock)->exit_code, 4);
}

TEST_F(ChildTest, TellsASignalFromAnExitCode) {
  const auto ended = run_child(shell("kill -SEGV $$"), clock);
  ASSERT_TRUE(ended) << ended.error().message;
  EXPECT_EQ(ended->exit_code, -1);
  EXPECT_EQ(ended->signal, SIGSEGV);
  EXPECT_EQ(how_it_ended(*ended), "was terminated by signal 11");
}

TEST_F(ChildTest, TakesOutputLargerThanAPipe) {
  const auto ended = run_child(shell("head -c 900000 /dev/zero; printf end"), clock);
  ASSERT_TRUE(ended) << ended.error().message;
  EXPECT_EQ(ended->output.size(), 900003U);
  EXPECT_TRUE(ended->output.ends_with("end"));
}

TEST_F(ChildTest, MayWriteExactlyTheCap) {
  ChildCommand command = shell("printf 12345678");
  command.max_output_bytes = 8;
  const auto ended = run_child(command, clock);
  ASSERT_TRUE(ended) << ended.error().message;
  EXPECT_EQ(ended->output, "12345678");
}

TEST_F(ChildTest, IsKilledIfItWritesMoreThanTheCap) {
  ChildCommand command = shell("printf 123456789");
  command.max_output_bytes = 8;
  const auto ended = run_child(command, clock);
  ASSERT_FALSE(ended);
  EXPECT_EQ(ended.error().kind, ErrorKind::kTooLarge);
}

TEST_F(ChildTest, KeepsTheBeginningOfItsComplaint) {
  const auto ended =
      run_child(shell("printf first >&2; head -c 3000000 /dev/zero >&2; echo done"), clock);
  ASSERT_TRUE(ended) << ended.error().message;
  EXPECT_EQ(ended->complaint.size(), 4096U);
  EXPECT_TRUE(ended->complaint.starts_with("first"));
  EXPECT_EQ(ended->output, "done\n");
}

TEST_F(ChildTest, GetsItsEnvironmentOnTopOfOurs) {
  const support::Environment inherited("GPUWARD_TEST_INHERITED", "ours");
  const support::Environment replaced("GPUWARD_TEST_REPLACED", "ours");
  ChildCommand command = shell("echo $GPUWARD_TEST_INHERITED $GPUWARD_TEST_REPLACED");
  command.environment = {{"GPUWARD_TEST_REPLACED", "its"}};
  EXPECT_EQ(run_child(command, clock).value().output, "ours its\n");
}

TEST_F(ChildTest, GetsNoDescriptorOfOursAndNoTerminal) {
  const int leaked = ::open("/dev/null", O_RDONLY);  // without O_CLOEXEC
  const auto ended = run_child(shell("ls /proc/self/fd | wc -l; readlink /proc/self/fd/0"), clock);
  ::close(leaked);
  ASSERT_TRUE(ended) << ended.error().message;
  EXPECT_EQ(ended->output, "4\n/dev/null\n");  // 0, 1, 2 and the folder that ls reads
}

TEST_F(ChildTest, IsNotStartedAfterAStop) {
  std::stop_source source;
  source.request_stop();
  ChildCommand command = shell("echo");
  command.stop = source.get_token();
  EXPECT_EQ(run_child(command, clock).error().kind, ErrorKind::kCancelled);
}

TEST_F(ChildTest, SaysWhereItLookedForAProgram) {
  const support::Environment path("PATH", "/nowhere/bin:/nowhere/sbin");
  ChildCommand command;
  command.program = "gpuward-no-such-program";
  command.search = {"/opt/amazon/efa/bin"};
  const auto ended = run_child(command, clock);
  ASSERT_FALSE(ended);
  EXPECT_EQ(ended.error().kind, ErrorKind::kNotFound);
  EXPECT_THAT(ended.error().message,
              AllOf(HasSubstr("gpuward-no-such-program"), HasSubstr("/opt/amazon/efa/bin"),
                    HasSubstr("/nowhere/sbin")));
}

TEST_F(ChildTest, IsLookedForInItsOwnPlacesBeforePath) {
  const support::TempDir folder;
  namespace fs = std::filesystem;
  fs::permissions(folder.write("sh", "#!/bin/sh\necho mine\n"), fs::perms::owner_all);
  ChildCommand command;
  command.program = "sh";
  command.search = {"/nowhere", folder.path()};
  EXPECT_EQ(run_child(command, clock).value().output, "mine\n");
}

TEST_F(ChildTest, SaysThatAFileMayNotBeRun) {
  const support::TempDir folder;
  ChildCommand command;
  command.program = folder.write("plain", "text").string();
  const auto ended = run_child(command, clock);
  ASSERT_FALSE(ended);
  EXPECT_EQ(ended.error().kind, ErrorKind::kNotFound);
  command.program = folder.path().string();
  EXPECT_EQ(run_child(command, clock).error().kind, ErrorKind::kNotFound);
}

TEST_F(ChildTest, SaysThatAnInterpreterIsMissing) {
  const support::TempDir folder;
  namespace fs = std::filesystem;
  ChildCommand command;
  command.program = folder.write("script", "#!/nowhere/interpreter\n").string();
  fs::permissions(command.program, fs::perms::owner_all);
  const auto ended = run_child(command, clock);
  ASSERT_FALSE(ended);
  EXPECT_EQ(ended.error().kind, ErrorKind::kNotFound);
  EXPECT_THAT(ended.error().message, HasSubstr("interpreter"));
}

}  // namespace
}  // namespace gpuward
