// Tests of how gpuward distinguishes true ends of alerts from missing and forged ones.
#include <gmock/gmock.h>

#include <functional>

#include "remediator/inbox/sources/absent_alerts.h"
#include "remediator/inbox/sources/confirmed_ends.h"
#include "tests/fakes/fake_clock.h"

namespace gpuward::remediator {
namespace {

using std::chrono::milliseconds;
using std::chrono::minutes;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

AlertSignal signal_of(const std::string& fingerprint, bool firing = true) {
  return {.node = "gpu-01",
          .severity = Severity::kReboot,
          .alertname = "Bad",
          .fingerprint = fingerprint,
          .firing = firing,
          .starts_at = WallTime(std::chrono::hours(500'000)),
          .ends_at = {}};
}

TEST(AbsentAlerts, EndAfterAWhileOfCompleteAnswers) {
  fakes::FakeClock clock;
  AbsentAlerts absent(minutes(10), minutes(1));

  for (const int passed : {0, 4, 5}) {
    clock.advance(minutes(passed));
    EXPECT_THAT(absent.ended({signal_of("ab")}, {}, clock), IsEmpty());
  }
  clock.advance(minutes(1));
  const auto ended = absent.ended({signal_of("ab")}, {}, clock);

  ASSERT_THAT(ended, SizeIs(1));
  EXPECT_FALSE(ended[0].firing);
  EXPECT_TRUE(ended[0].absent);
  EXPECT_EQ(ended[0].starts_at, signal_of("ab").starts_at);
  EXPECT_EQ(ended[0].ends_at, clock.wall());
}

TEST(AbsentAlerts, BeginAnewIfTheyWereThereOrTheAnswerFailed) {
  fakes::FakeClock clock;
  AbsentAlerts absent(minutes(10), minutes(1));
  const auto wait_almost = [&] {
    for (int i = 0; i < 3; ++i) {
      EXPECT_THAT(absent.ended({signal_of("ab")}, {}, clock), IsEmpty());
      clock.advance(minutes(3));
    }
  };
  wait_almost();
  (void)absent.ended({signal_of("ab")}, {"ab"}, clock);
  wait_almost();
  absent.forget();
  wait_almost();
}

// It may have fired all the time, and its server may have restarted a moment ago.
TEST(AbsentAlerts, BeginAnewIfNobodyHasAskedForLong) {
  fakes::FakeClock clock;
  AbsentAlerts absent(minutes(10), minutes(1));
  (void)absent.ended({signal_of("ab")}, {}, clock);
  clock.advance(minutes(11));

  EXPECT_THAT(absent.ended({signal_of("ab")}, {}, clock), IsEmpty());
}

TEST(AbsentAlerts, EndHoweverSeldomTheirSourceIsAsked) {
  fakes::FakeClock clock;
  AbsentAlerts absent(minutes(10), minutes(20));
  (void)absent.ended({signal_of("ab")}, {}, clock);
  clock.advance(minutes(20));

  EXPECT_THAT(absent.ended({signal_of("ab")}, {}, clock), SizeIs(1));
}

TEST(AbsentAlerts, BeginAnewWithAnAlertThatHasBegunAnew) {
  fakes::FakeClock clock;
  AbsentAlerts absent(minutes(10), minutes(1));
  AlertSignal signal = signal_of("ab");
  for (int i = 0; i < 4; ++i) {
    EXPECT_THAT(absent.ended({signal}, {}, clock), IsEmpty());
    clock.advance(minutes(3));
  }
  signal.starts_at += minutes(11);

  EXPECT_THAT(absent.ended({signal}, {}, clock), IsEmpty());
}

class FixedActive final : public ActiveAlerts {
 public:
  Result<std::map<std::string, Severity>> active_on(const std::string&) override {
    return std::map<std::string, Severity>();
  }
  Result<std::set<std::string>> all_firing(milliseconds limit) override {
    ++reads;
    limits.push_back(limit);
    if (before) before();
    return answer;
  }
  Result<std::set<std::string>> answer = std::set<std::string>{"ab"};
  int reads = 0;
  std::vector<milliseconds> limits;
  std::function<void()> before;
};

class ListIntake final : public Intake {
 public:
  Result<IntakeCounts> take(std::span<const AlertSignal> signals, Clock::Steady) override {
    for (const AlertSignal& signal : signals) taken.push_back(signal.fingerprint);
    return IntakeCounts{.accepted = signals.size()};
  }
  std::vector<std::string> taken;
};

class KnownIntake final : public Intake {
 public:
  Result<IntakeCounts> take(std::span<const AlertSignal> signals, Clock::Steady) override {
    return IntakeCounts{.duplicate = signals.size()};
  }
};

TEST(ConfirmedEnds, IgnoreTheEndOfAnAlertThatAlertmanagerStillHas) {
  FixedActive active;
  ListIntake intake;
  fakes::FakeClock clock;
  ConfirmedEnds ends(intake, active, clock, nullptr);

  const auto counts =
      ends.take(std::vector{signal_of("ab", false), signal_of("cd", false), signal_of("ab")}, {});

  EXPECT_THAT(intake.taken, ElementsAre("ab", "cd"));
  EXPECT_EQ(counts->ignored, 1U);
  EXPECT_EQ(counts->accepted, 2U);
}

TEST(ConfirmedEnds, IgnoreEveryEndWhileAlertmanagerDoesNotAnswer) {
  FixedActive active;
  active.answer = fail(ErrorKind::kTimeout, "no");
  ListIntake intake;
  fakes::FakeClock clock;
  ConfirmedEnds ends(intake, active, clock, nullptr);

  EXPECT_TRUE(ends.take(std::vector{signal_of("cd", false), signal_of("ab")}, {}));

  EXPECT_THAT(intake.taken, ElementsAre("ab"));
}

// A slow Alertmanager delays ends, but not alerts that fire.
TEST(ConfirmedEnds, TakeWhatFiresFirstAndAskForHalfOfTheTimeThatIsLeft) {
  FixedActive active;
  ListIntake intake;
  fakes::FakeClock clock;
  ConfirmedEnds ends(intake, active, clock, nullptr);
  active.before = [&] { EXPECT_THAT(intake.taken, ElementsAre("ab")); };

  EXPECT_TRUE(ends.take(std::vector{signal_of("cd", false), signal_of("ab")},
                        clock.steady() + milliseconds(900)));

  EXPECT_THAT(active.limits, ElementsAre(milliseconds(450)));
}

TEST(ConfirmedEnds, CountWhatWasKnownOfBothParts) {
  FixedActive active;
  KnownIntake intake;
  fakes::FakeClock clock;
  ConfirmedEnds ends(intake, active, clock, nullptr);

  const auto counts = ends.take(std::vector{signal_of("cd", false), signal_of("ab")}, {});

  EXPECT_EQ(counts->duplicate, 2U);
}

TEST(ConfirmedEnds, AskNobodyIfNothingEnds) {
  FixedActive active;
  ListIntake intake;
  fakes::FakeClock clock;
  ConfirmedEnds ends(intake, active, clock, nullptr);

  EXPECT_TRUE(ends.take(std::vector{signal_of("ab")}, {}));

  EXPECT_EQ(active.reads, 0);
}

}  // namespace
}  // namespace gpuward::remediator
