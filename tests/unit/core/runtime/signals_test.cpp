#include "core/runtime/signals.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <csignal>
#include <thread>

#include "core/runtime/clock.h"

namespace gpuward {
namespace {

TEST(Signals, ReturnsTheSignalThatEndsTheProgram) {
  Signals signals;
  ::kill(::getpid(), SIGTERM);
  EXPECT_EQ(signals.wait([] {}), SIGTERM);
  ::kill(::getpid(), SIGINT);
  EXPECT_EQ(signals.wait([] {}), SIGINT);
}

TEST(Signals, CallsBackForEachHangupAndGoesOnWaiting) {
  Signals signals;
  int hangups = 0;
  ::kill(::getpid(), SIGHUP);
  const int ended_by = signals.wait([&] {
    // Each reload sends the next signal. A signal that comes during a reload is not lost.
    ::kill(::getpid(), ++hangups < 3 ? SIGHUP : SIGTERM);
  });
  EXPECT_EQ(ended_by, SIGTERM);
  EXPECT_EQ(hangups, 3);
}

TEST(Signals, TicksWhileNothingHappens) {
  Signals signals;
  int ticks = 0;
  const int ended_by = signals.wait([] {},
                                    [&] {
                                      if (++ticks == 2) ::kill(::getpid(), SIGTERM);
                                    });
  EXPECT_EQ(ended_by, SIGTERM);
  EXPECT_EQ(ticks, 2);
}

TEST(Signals, ReachTheWaitingThreadThoughAnotherOneCouldTakeThem) {
  Signals signals;
  std::stop_source stop;
  const std::jthread other([token = stop.get_token()] {
    ::kill(::getpid(), SIGTERM);
    static_cast<void>(SystemClock().sleep_until(Clock::Steady::max(), token));
  });
  EXPECT_EQ(signals.wait([] {}), SIGTERM);
  stop.request_stop();
}

TEST(Signals, EndsOnAStopToo) {
  Signals signals;
  std::stop_source stop;
  const std::jthread stopper([&] { stop.request_stop(); });
  EXPECT_EQ(signals.wait([] {}, {}, stop.get_token()), 0);
}

TEST(Signals, LetAWriteToAClosedPipeFailInsteadOfKillingUs) {
  const Signals signals;
  int ends[2];
  ASSERT_EQ(::pipe(ends), 0);
  ::close(ends[0]);
  EXPECT_EQ(::write(ends[1], "x", 1), -1);
  ::close(ends[1]);
}

}  // namespace
}  // namespace gpuward
