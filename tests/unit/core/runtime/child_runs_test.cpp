#include "core/runtime/child_runs.h"

#include <gtest/gtest.h>

#include "tests/support/temp_dir.h"
#include "tests/support/wait.h"

namespace gpuward {
namespace {

using std::chrono::seconds;

ChildCommand shell(const std::string& script) {
  ChildCommand command;
  command.program = "/bin/sh";
  command.arguments = {"-c", script};
  return command;
}

class ChildRunsTest : public ::testing::Test {
 protected:
  Result<ChildResult> wait_for(const std::string& name) {
    ChildRuns::Look look;
    EXPECT_TRUE(support::wait_until(
        [&] { return (look = runs_.look(name)).ended.has_value() || !look.is_known; },
        "the end of " + name));
    return look.ended.value_or(fail(ErrorKind::kNotFound, "not known"));
  }
  ChildRuns runs_{lasting_clock(), 2};
};

TEST_F(ChildRunsTest, TellHowAChildEnded) {
  EXPECT_FALSE(runs_.look("a").is_known);
  ASSERT_TRUE(runs_.start("a", shell("exit 3")));

  const auto ended = wait_for("a");

  ASSERT_TRUE(ended) << ended.error().message;
  EXPECT_EQ(ended->exit_code, 3);
  EXPECT_TRUE(runs_.look("a").ended) << "who could not write it down asks again";
  runs_.stop("a");
  EXPECT_FALSE(runs_.look("a").is_known);
}

TEST_F(ChildRunsTest, LeaveRoomIfNobodyAsksHowTheyEnded) {
  for (int i = 0; i < 10; ++i) {
    const std::string name = std::to_string(i);
    ASSERT_TRUE(runs_.start(name, shell("exit 0"))) << name;
    ASSERT_TRUE(wait_for(name));
  }
  EXPECT_FALSE(runs_.look("0").is_known);
  EXPECT_TRUE(runs_.look("9").is_known);
}

TEST_F(ChildRunsTest, RunNoMoreThanAreAllowedAndEachNameOnce) {
  ASSERT_TRUE(runs_.start("a", shell("sleep 1000")));
  EXPECT_FALSE(runs_.start("a", shell("exit 0")));
  const support::TempDir folder;
  const std::string end_of_b = folder / "end";
  ASSERT_TRUE(runs_.start("b", shell("until [ -e " + end_of_b + " ]; do sleep 0.01; done")));
  EXPECT_FALSE(runs_.start("c", shell("exit 0")));
  EXPECT_TRUE(runs_.look("a").is_known);

  folder.write("end", "");
  ASSERT_TRUE(wait_for("b"));

  EXPECT_TRUE(runs_.start("c", shell("exit 0")));
  ASSERT_TRUE(wait_for("c"));
}

TEST_F(ChildRunsTest, ForgetWhatIsStopped) {
  ASSERT_TRUE(runs_.start("a", shell("sleep 1000")));

  runs_.stop("a");

  EXPECT_FALSE(runs_.look("a").is_known);
}

TEST(ChildRunsEnd, TakesTheChildrenAlong) {
  const auto begin = lasting_clock().steady();
  {
    ChildRuns runs(lasting_clock(), 1);
    ASSERT_TRUE(runs.start("a", shell("sleep 1000")));
  }
  EXPECT_LT(lasting_clock().steady() - begin, seconds(60));
}

}  // namespace
}  // namespace gpuward
