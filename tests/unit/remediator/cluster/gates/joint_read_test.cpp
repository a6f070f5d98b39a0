// JointReads by key. stop_switch_test covers the sharing of one question.
#include "remediator/cluster/gates/joint_read.h"

#include <gmock/gmock.h>

#include <atomic>
#include <semaphore>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "tests/support/wait.h"

namespace gpuward::remediator {
namespace {

using support::wait_until;

class JointReadsTest : public ::testing::Test {
 protected:
  // A read that begins at once and ends when the test releases it.
  Status held_read() {
    ++begun_;
    turn_.acquire();
    return {};
  }
  void ask(const std::string& key, int times) {
    for (int i = 0; i < times; ++i) {
      askers_.emplace_back([this, key] {
        ++asking_;
        if (reads_.ask(key, [this] { return held_read(); })) ++answered_;
      });
    }
  }
  [[nodiscard]] ::testing::AssertionResult reaches(const std::atomic<int>& count, int wanted) {
    return wait_until([&] { return count == wanted; }, "that many");
  }

  JointReads reads_;
  std::atomic<int> begun_{0}, asking_{0}, answered_{0};
  std::counting_semaphore<> turn_{0};
  std::vector<std::jthread> askers_;
};

TEST_F(JointReadsTest, OneReadServesAllWhoAskedBeforeItBegan) {
  ask("a", 1);
  ASSERT_TRUE(reaches(begun_, 1));
  ask("a", 5);
  ASSERT_TRUE(reaches(asking_, 6));
  turn_.release(6);
  ASSERT_TRUE(reaches(answered_, 6));
  EXPECT_GE(begun_, 2);  // the first began before five of them asked
  EXPECT_LE(begun_, 6);
}

TEST_F(JointReadsTest, NobodyWaitsForTheReadOfAnotherKey) {
  ask("a", 1);
  ASSERT_TRUE(reaches(begun_, 1));
  EXPECT_TRUE(reads_.ask("b", [] { return Status(); }));
  turn_.release();
  ASSERT_TRUE(reaches(answered_, 1));
}

TEST_F(JointReadsTest, NothingIsRememberedOnceNobodyAsks) {
  ask("a", 1);
  ASSERT_TRUE(reaches(begun_, 1));
  EXPECT_EQ(reads_.remembered(), 1U);
  turn_.release();
  askers_.clear();
  EXPECT_EQ(reads_.remembered(), 0U);
}

TEST_F(JointReadsTest, EachOneAfterAnotherGetsAReadOfItsOwn) {
  int reads = 0;
  for (int i = 0; i < 3; ++i) {
    EXPECT_TRUE(reads_.ask("a", [&] {
      ++reads;
      return Status();
    }));
  }
  EXPECT_EQ(reads, 3);
}

TEST_F(JointReadsTest, AReadThatThrowsIsANo) {
  const auto status = reads_.ask("a", []() -> Status { throw std::runtime_error("broken"); });
  EXPECT_EQ(status.error().kind, ErrorKind::kInternal);
  EXPECT_TRUE(reads_.ask("a", [] { return Status(); }));
}

}  // namespace
}  // namespace gpuward::remediator
