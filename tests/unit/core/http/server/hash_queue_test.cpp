#include "core/http/server/hash_queue.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <string>
#include <thread>
#include <vector>

#include "tests/support/deadline.h"
#include "tests/support/wait.h"

namespace gpuward::http {
namespace {

constexpr std::size_t kWaiting = 3;

TEST(HashQueue, SaysWhatTheHashSays) {
  HashQueue queue;
  EXPECT_EQ(queue.run("a", [] { return true; }), PasswordOutcome::kRight);
  EXPECT_EQ(queue.run("a", [] { return false; }), PasswordOutcome::kWrong);
  EXPECT_THROW((void)queue.run("a", []() -> bool { throw 1; }), int);
  EXPECT_EQ(queue.run("a", [] { return true; }), PasswordOutcome::kRight)
      << "the next one has its turn";
}

TEST(HashQueue, ComputesOneAtATimeAndRefusesWhatDoesNotFit) {
  HashQueue queue(kWaiting, support::kGenerous);
  std::atomic<int> wrong{0}, busy{0}, at_once{0}, most{0};
  std::vector<std::jthread> guessers;
  (void)queue.run("first", [&] {
    for (int i = 0; i < 12; ++i) {
      guessers.emplace_back([&] {
        const PasswordOutcome verdict = queue.run("guesser", [&] {
          most = std::max(most.load(), ++at_once);
          --at_once;
          return false;
        });
        ++(verdict == PasswordOutcome::kBusy ? busy : wrong);
      });
    }
    EXPECT_TRUE(support::wait_until([&] { return busy == 9; }, "those that do not fit"));
    return true;
  });
  guessers.clear();
  EXPECT_EQ(wrong, 3);
  EXPECT_EQ(most, 1);
}

TEST(HashQueue, RefusesWhatHasWaitedTooLong) {
  HashQueue queue(kWaiting, std::chrono::milliseconds(20));
  PasswordOutcome late = PasswordOutcome::kRight;
  (void)queue.run("first", [&] {
    std::jthread([&] { late = queue.run("second", [] { return true; }); }).join();
    return true;
  });
  EXPECT_EQ(late, PasswordOutcome::kBusy);
  EXPECT_EQ(queue.run("second", [] { return true; }), PasswordOutcome::kRight);
}

// A peer that has guessed before waits behind one that has not, even if it came first.
TEST(HashQueue, PrefersAPeerWithoutWrongPasswords) {
  HashQueue queue(kWaiting, support::kGenerous);
  EXPECT_EQ(queue.run("guesser", [] { return false; }), PasswordOutcome::kWrong);
  std::atomic<int> refused{0}, guessed{0};
  std::atomic<int> guessed_before_right{-1};
  std::vector<std::jthread> others;
  (void)queue.run("first", [&] {
    for (int i = 0; i < 8; ++i) {
      others.emplace_back([&] {
        const PasswordOutcome verdict = queue.run("guesser", [&] {
          ++guessed;
          return false;
        });
        if (verdict == PasswordOutcome::kBusy) ++refused;
      });
    }
    EXPECT_TRUE(support::wait_until([&] { return refused == 5; }, "a full queue"));
    others.emplace_back([&] {
      EXPECT_EQ(queue.run("prometheus",
                          [&] {
                            guessed_before_right = guessed.load();
                            return true;
                          }),
                PasswordOutcome::kRight);
    });
    EXPECT_TRUE(support::wait_until([&] { return refused == 6; }, "room for it"));
    return true;
  });
  others.clear();
  EXPECT_EQ(guessed_before_right, 0);
  EXPECT_EQ(guessed, 2);
}

class FullHashQueue : public ::testing::Test {
 protected:
  // Fills the queue while a hash is computed: `count` peers wait, each from its own address, which
  // is more than there is room for.
  void fill(int count) {
    for (int i = 0; i < count; ++i) {
      others_.emplace_back([this, i] {
        const std::string peer = "2001:db8:0:" + std::to_string(i) + "::1";
        if (queue_.run(peer, [] { return false; }) == PasswordOutcome::kBusy) ++refused_;
      });
    }
    const int gone = count - static_cast<int>(kWaiting);
    EXPECT_TRUE(support::wait_until([&] { return refused_ == gone; }, "a full queue"));
  }

  HashQueue queue_{kWaiting, support::kGenerous};
  std::atomic<int> refused_{0};
  std::vector<std::jthread> others_;
};

// Any number of addresses may guess for the first time.
TEST_F(FullHashQueue, KeepsAPlaceForAPeerThatWasRightBefore) {
  EXPECT_EQ(queue_.run("2001:db8:1::1", [] { return true; }), PasswordOutcome::kRight);
  // A mistake since then does not matter.
  EXPECT_EQ(queue_.run("2001:db8:1::1", [] { return false; }), PasswordOutcome::kWrong);
  PasswordOutcome known = PasswordOutcome::kBusy;
  (void)queue_.run("first", [&] {
    fill(5);
    others_.emplace_back([&] { known = queue_.run("2001:db8:1::2", [] { return true; }); });
    EXPECT_TRUE(support::wait_until([&] { return refused_ == 3; }, "room for it"));
    return true;
  });
  others_.clear();
  EXPECT_EQ(known, PasswordOutcome::kRight) << "another address of its /64";
}

TEST_F(FullHashQueue, RemembersTheLatestPeersThatWereRight) {
  for (int i = 0; i < 65; ++i)
    (void)queue_.run("192.0.2." + std::to_string(i), [] { return true; });
  PasswordOutcome forgotten = PasswordOutcome::kRight, known = PasswordOutcome::kBusy;
  (void)queue_.run("first", [&] {
    fill(4);
    forgotten = queue_.run("192.0.2.0", [] { return true; });
    others_.emplace_back([&] { known = queue_.run("192.0.2.64", [] { return true; }); });
    EXPECT_TRUE(support::wait_until([&] { return refused_ == 2; }, "room for it"));
    return true;
  });
  others_.clear();
  EXPECT_EQ(forgotten, PasswordOutcome::kBusy);
  EXPECT_EQ(known, PasswordOutcome::kRight);
}

TEST(HashQueue, CountsWrongPasswordsOfANetworkTogether) {
  HashQueue queue(kWaiting, support::kGenerous);
  EXPECT_EQ(queue.run("2001:db8::1", [] { return false; }), PasswordOutcome::kWrong);
  PasswordOutcome neighbour = PasswordOutcome::kRight;
  std::vector<std::jthread> others;
  std::atomic<int> refused{0};
  (void)queue.run("first", [&] {
    others.emplace_back([&] {
      neighbour = queue.run("2001:db8::2", [] { return true; });
      ++refused;
    });
    for (int i = 0; i < 3; ++i) {
      others.emplace_back([&, i] {
        EXPECT_EQ(queue.run("192.0.2." + std::to_string(i), [] { return false; }),
                  PasswordOutcome::kWrong);
      });
    }
    EXPECT_TRUE(support::wait_until([&] { return refused == 1; }, "no room for the neighbour"));
    return true;
  });
  others.clear();
  EXPECT_EQ(neighbour, PasswordOutcome::kBusy);
}

}  // namespace
}  // namespace gpuward::http
