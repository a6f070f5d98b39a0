#include "exporter/gpu/worker/unreaped.h"

#include <gtest/gtest.h>

namespace gpuward::exporter {
namespace {

using namespace std::chrono_literals;

// A process that is stuck in the driver: no signal reaches it until the driver returns.
class StuckProcess final : public Reapable {
 public:
  explicit StuckProcess(const bool& is_gone) : is_gone_(is_gone) {}
  [[nodiscard]] std::optional<int> try_reap() override {
    return is_gone_ ? std::optional(9) : std::nullopt;
  }

 private:
  const bool& is_gone_;
};

class UnreapedTest : public testing::Test {
 protected:
  void add() { unreaped.add(std::make_unique<StuckProcess>(is_gone), now); }

  const Clock::Steady now{1000s};
  bool is_gone = false;
  Unreaped unreaped;
};

TEST_F(UnreapedTest, PilesUpAtMostTwoThatCannotBeKilled) {
  add();
  unreaped.bury();
  EXPECT_TRUE(unreaped.has_room(0)) << "one more may try";
  EXPECT_FALSE(unreaped.has_room(1)) << "a probe that may join them";
  add();
  unreaped.bury();
  EXPECT_FALSE(unreaped.has_room(0));

  is_gone = true;
  unreaped.bury();

  EXPECT_TRUE(unreaped.has_room(0));
}

TEST_F(UnreapedTest, TellsAProcessThatOutlivesItsKillFromOneThatIsJustDying) {
  add();

  EXPECT_FALSE(unreaped.has_stuck(now + 1s));
  EXPECT_TRUE(unreaped.has_stuck(now + 3s));
}

TEST_F(UnreapedTest, IsLookedAtOftenAtFirstAndSeldomLater) {
  EXPECT_EQ(unreaped.next_look(now), Clock::Steady::max());
  add();

  EXPECT_LE(unreaped.next_look(now), now + 50ms);
  EXPECT_GE(unreaped.next_look(now + 10s), now + 11s);
}

}  // namespace
}  // namespace gpuward::exporter
