#include "remediator/model/evidence.h"

#include <gmock/gmock.h>

#include "remediator/model/history_alerts.h"
#include "remediator/policy/retention.h"

namespace gpuward::remediator {
namespace {

using std::chrono::minutes;
using ::testing::SizeIs;

const WallTime kStart = WallTime(std::chrono::hours(500'000));

AlertSignal firing(Severity severity = Severity::kReboot, std::string fingerprint = "aa") {
  return {.node = "gpu-01",
          .severity = severity,
          .alertname = "GpuNodeBad",
          .fingerprint = std::move(fingerprint),
          .firing = true,
          .starts_at = kStart,
          .ends_at = {}};
}

AlertSignal resolved(WallTime ends_at) {
  AlertSignal signal = firing();
  signal.firing = false;
  signal.ends_at = ends_at;
  return signal;
}

TEST(Evidence, TakesANewAlertAndItsSeverity) {
  Remediation remediation;

  EXPECT_EQ(fold(remediation, firing(), kStart + minutes(1)), Change::kSome);

  ASSERT_THAT(remediation.alerts, SizeIs(1));
  EXPECT_EQ(remediation.severity, Severity::kReboot);
  EXPECT_EQ(remediation.alerts[0].starts_at, kStart);
  EXPECT_EQ(remediation.alerts[0].first_received, kStart + minutes(1));
}

AlertSignal drill(Severity severity, std::string fingerprint = "d1") {
  AlertSignal signal = firing(severity, std::move(fingerprint));
  signal.drill = true;
  return signal;
}

// A sender may send a drill with the fingerprint of an alert that fires later.
TEST(Evidence, IsRealOnceTheSameAlertFiresWithoutTheLabelOfADrill) {
  Remediation remediation;
  fold(remediation, drill(Severity::kMonitor, "ab"), kStart);
  ASSERT_TRUE(remediation.is_drill());

  fold(remediation, firing(Severity::kReboot, "ab"), kStart + minutes(1));
  EXPECT_FALSE(remediation.is_drill());

  fold(remediation, drill(Severity::kMonitor, "ab"), kStart + minutes(2));
  EXPECT_FALSE(remediation.is_drill());
}

TEST(Evidence, OfADrillAddsNothingToARealFault) {
  Remediation remediation;
  fold(remediation, firing(Severity::kReset), kStart);

  EXPECT_EQ(fold(remediation, drill(Severity::kIsolate), kStart), Change::kSome);

  EXPECT_FALSE(remediation.is_drill());
  EXPECT_EQ(remediation.severity, Severity::kReset);
  EXPECT_EQ(remediation.evidence_severity(), Severity::kReset);
  EXPECT_EQ(remediation.firing_severity(), Severity::kReset);
  remediation.alerts[0].ended_at = kStart + minutes(1);
  EXPECT_FALSE(remediation.any_firing());
  EXPECT_EQ(remediation.ended_at(), kStart + minutes(1));
}

TEST(Evidence, ThatIsRealTakesAwayWhatADrillHadRaised) {
  Remediation remediation;
  fold(remediation, drill(Severity::kIsolate), kStart);
  ASSERT_TRUE(remediation.is_drill());
  ASSERT_EQ(remediation.evidence_severity(), Severity::kIsolate);

  fold(remediation, firing(Severity::kReset), kStart);

  EXPECT_FALSE(remediation.is_drill());
  EXPECT_EQ(remediation.severity, Severity::kReset);
  fold(remediation, drill(Severity::kIsolate, "d2"), kStart);
  EXPECT_EQ(remediation.severity, Severity::kReset);
  EXPECT_THAT(remediation.alerts, SizeIs(3));
}

TEST(Evidence, OfADrillTakesNobodysPlace) {
  Remediation remediation;
  for (std::size_t i = 0; i < kMaxEvidence; ++i)
    fold(remediation, firing(Severity::kMonitor, "a" + std::to_string(i)), kStart);

  const Folded folded = fold(remediation, drill(Severity::kIsolate), kStart);

  EXPECT_EQ(folded.ignored, Ignored::kNoRoom);
  EXPECT_THAT(remediation.alerts, SizeIs(kMaxEvidence));
  EXPECT_EQ(remediation.severity, Severity::kMonitor);
}

TEST(Evidence, ThatIsRealHasRoomIfDrillsHaveTakenAllOfIt) {
  Remediation remediation;
  for (std::size_t i = 0; i < kMaxEvidence; ++i)
    fold(remediation, drill(Severity::kIsolate, "d" + std::to_string(i)), kStart);

  const Folded folded = fold(remediation, firing(Severity::kReset), kStart);

  EXPECT_FALSE(folded.ignored);
  EXPECT_FALSE(remediation.is_drill());
  EXPECT_EQ(remediation.severity, Severity::kReset);
  EXPECT_THAT(remediation.alerts, SizeIs(kMaxEvidence));
  EXPECT_FALSE(remediation.dropped) << "a drill is no evidence that somebody has to wait for";
}

TEST(Evidence, DoesNotChangeByARepeatWithAnEarlierStart) {
  Remediation remediation;
  fold(remediation, firing(), kStart);
  AlertSignal repeat = firing();
  repeat.starts_at -= minutes(3);  // another Alertmanager of the cluster

  EXPECT_EQ(fold(remediation, repeat, kStart + minutes(9)), Change::kNone);

  EXPECT_EQ(remediation.alerts[0].starts_at, kStart);
}

// The event ends some time after its last start, so each repeat has to move the start.
TEST(Evidence, TakesTheLaterStartOfAnEventThatIsRepeated) {
  Remediation remediation;
  AlertSignal event = firing();
  event.fingerprint = std::string(kMonitorEventOrigin) + "ab";
  fold(remediation, event, kStart);
  event.starts_at += minutes(10);

  EXPECT_EQ(fold(remediation, event, kStart + minutes(10)), Change::kSome);

  EXPECT_EQ(remediation.alerts[0].starts_at, event.starts_at);
}

// Otherwise a late end of the earlier episode would count as its own.
TEST(Evidence, TakesTheLaterStartOfAnAlertThatFires) {
  Remediation remediation;
  fold(remediation, firing(), kStart);
  AlertSignal anew = firing();
  anew.starts_at += minutes(30);
  EXPECT_EQ(fold(remediation, anew, kStart + minutes(31)), Change::kSome);
  EXPECT_EQ(fold(remediation, anew, kStart + minutes(32)), Change::kNone);

  const Folded late = fold(remediation, resolved(kStart + minutes(20)), kStart + minutes(33));

  EXPECT_EQ(late, Change::kNone);
  EXPECT_EQ(late.ignored, Ignored::kEarlierEpisode);
  EXPECT_TRUE(remediation.any_firing());
}

// One replica counts how long an alert is absent. Another has recorded that it fires again.
TEST(Evidence, EndsByAbsenceOnlyTheEpisodeThatWasAbsent) {
  Remediation remediation;
  fold(remediation, firing(), kStart);
  AlertSignal absent = resolved(kStart + minutes(33));
  absent.absent = true;
  AlertSignal anew = firing();
  anew.starts_at += minutes(30);
  fold(remediation, anew, kStart + minutes(31));

  const Folded of_earlier = fold(remediation, absent, kStart + minutes(33));
  EXPECT_EQ(of_earlier, Change::kNone);
  EXPECT_EQ(of_earlier.ignored, Ignored::kEarlierEpisode);
  EXPECT_TRUE(remediation.any_firing());

  absent.starts_at = anew.starts_at;
  EXPECT_EQ(fold(remediation, absent, kStart + minutes(33)), Change::kSome);
  EXPECT_FALSE(remediation.any_firing());
}

// Each line is a start of its own. An alert that ends by silence has no end that could come late.
TEST(Evidence, DoesNotChangeByTheNextLineOfALog) {
  Remediation remediation;
  fold(remediation, firing(Severity::kReboot, "loki.aa"), kStart);
  AlertSignal next = firing(Severity::kReboot, "loki.aa");
  next.starts_at += minutes(3);

  EXPECT_EQ(fold(remediation, next, kStart + minutes(4)), Change::kNone);
}

TEST(Evidence, SurvivesALateCopyOfTheRecoveryBefore) {
  Remediation remediation;
  fold(remediation, firing(), kStart);
  const AlertSignal end = resolved(kStart + minutes(5));
  fold(remediation, end, kStart + minutes(6));
  AlertSignal anew = firing();
  anew.starts_at = kStart + minutes(20);
  fold(remediation, anew, kStart + minutes(21));

  EXPECT_EQ(fold(remediation, end, kStart + minutes(22)).ignored, Ignored::kEarlierEpisode);

  EXPECT_TRUE(remediation.any_firing());
}

// One evaluation of the rule ended the first and began the second.
TEST(Evidence, SurvivesTheEndOfTheEpisodeThatItFollowsAtOnce) {
  Remediation remediation;
  AlertSignal anew = firing();
  anew.starts_at = kStart + minutes(5);
  fold(remediation, anew, kStart + minutes(6));

  const AlertSignal end = resolved(anew.starts_at);
  EXPECT_EQ(fold(remediation, end, kStart + minutes(7)).ignored, Ignored::kEarlierEpisode);

  EXPECT_TRUE(remediation.any_firing());
}

// Alertmanager merges the starts of two Prometheus servers to the earlier one.
TEST(Evidence, EndsByAnEndWhoseStartIsEarlierThanTheKnownOne) {
  Remediation remediation;
  fold(remediation, firing(), kStart);
  AlertSignal end = resolved(kStart + minutes(5));
  end.starts_at = kStart - minutes(1);

  EXPECT_EQ(fold(remediation, end, kStart + minutes(6)), Change::kSome);

  EXPECT_EQ(remediation.ended_at(), kStart + minutes(5));
}

TEST(Evidence, EndsNowIfTheKnownStartIsOfAWrongClock) {
  Remediation remediation;
  AlertSignal fires = firing();
  fires.starts_at = kStart + std::chrono::hours(24 * 365);
  fold(remediation, fires, kStart);

  EXPECT_EQ(fold(remediation, resolved(kStart + minutes(5)), kStart + minutes(6)), Change::kSome);

  EXPECT_EQ(remediation.ended_at(), kStart + minutes(6));
}

TEST(Evidence, EndsNowIfTheEndSaysNoTime) {
  Remediation remediation;
  fold(remediation, firing(), kStart);

  EXPECT_EQ(fold(remediation, resolved(WallTime::min()), kStart + minutes(6)), Change::kSome);

  EXPECT_EQ(remediation.ended_at(), kStart + minutes(6));
}

TEST(Evidence, TakesAFiringCopyThatComesAfterItsEndForALateOne) {
  Remediation remediation;
  fold(remediation, firing(), kStart);
  fold(remediation, resolved(kStart + minutes(5)), kStart + minutes(6));

  EXPECT_EQ(fold(remediation, firing(), kStart + minutes(7)).ignored, Ignored::kLateRepeat);

  EXPECT_FALSE(remediation.any_firing());
}

// One of two Prometheus servers has ended it, or an attacker has forged the end.
TEST(Evidence, FiresAgainIfItIsRepeatedLongAfterItsEndAndContestsTheNextEnd) {
  Remediation remediation;
  fold(remediation, firing(), kStart);
  fold(remediation, resolved(kStart + minutes(5)), kStart + minutes(6));
  EXPECT_FALSE(remediation.is_end_contested(Severity::kReboot));

  EXPECT_EQ(fold(remediation, firing(), kStart + minutes(16)), Change::kSome);
  EXPECT_TRUE(remediation.any_firing());
  fold(remediation, resolved(kStart + minutes(17)), kStart + minutes(17));

  EXPECT_TRUE(remediation.is_end_contested(Severity::kReboot));
  EXPECT_FALSE(remediation.is_end_contested(Severity::kIsolate));
}

TEST(Evidence, TakesTheEndOfALaterEpisodeWhoseFiringCameNever) {
  Remediation remediation;
  fold(remediation, firing(), kStart);
  fold(remediation, resolved(kStart + minutes(5)), kStart + minutes(6));
  AlertSignal end = resolved(kStart + minutes(25));
  end.starts_at = kStart + minutes(20);
  EXPECT_EQ(fold(remediation, end, kStart + minutes(26)), Change::kSome);
  AlertSignal late = firing();
  late.starts_at = kStart + minutes(20);

  EXPECT_EQ(fold(remediation, late, kStart + minutes(27)).ignored, Ignored::kLateRepeat);

  EXPECT_EQ(remediation.ended_at(), kStart + minutes(25));
}

TEST(Evidence, ComparesStartsAsTheyWereSaidOrAsAVersionBeforeHasCutThem) {
  using std::chrono::nanoseconds;
  const WallTime said = kStart + nanoseconds(987'654'321);
  AlertSignal signal = firing();
  signal.starts_at = said;
  AlertEvidence known;

  known.starts_at = said;
  EXPECT_FALSE(has_started_anew(signal, known));
  known.starts_at = said - nanoseconds(1);
  EXPECT_TRUE(has_started_anew(signal, known));
  known.starts_at = kStart + std::chrono::milliseconds(987);
  EXPECT_FALSE(has_started_anew(signal, known)) << "kept to the millisecond";
}

TEST(Evidence, RaisesSeverityAndNeverLowersIt) {
  Remediation remediation;
  fold(remediation, firing(Severity::kReset, "aa"), kStart);

  EXPECT_EQ(fold(remediation, firing(Severity::kIsolate, "bb"), kStart), Change::kSome);
  EXPECT_EQ(fold(remediation, firing(Severity::kMonitor, "cc"), kStart), Change::kSome);

  EXPECT_EQ(remediation.severity, Severity::kIsolate);
}

TEST(Evidence, RecordsTheEndOfAnAlertOnce) {
  Remediation remediation;
  fold(remediation, firing(), kStart);

  EXPECT_EQ(fold(remediation, resolved(kStart + minutes(5)), kStart + minutes(6)), Change::kSome);
  EXPECT_EQ(fold(remediation, resolved(kStart + minutes(8)), kStart + minutes(9)), Change::kNone);

  EXPECT_FALSE(remediation.any_firing());
  EXPECT_EQ(remediation.ended_at(), kStart + minutes(5));
}

TEST(Evidence, DoesNotBelieveAnEndInTheFuture) {
  Remediation remediation;
  fold(remediation, firing(), kStart);

  fold(remediation, resolved(kStart + minutes(50)), kStart + minutes(7));

  EXPECT_EQ(remediation.ended_at(), kStart + minutes(7));
}

TEST(Evidence, IgnoresTheEndOfAnAlertNeverHeardOf) {
  Remediation remediation;

  EXPECT_EQ(fold(remediation, resolved(kStart), kStart), Change::kNone);

  EXPECT_THAT(remediation.alerts, SizeIs(0));
}

TEST(Evidence, TakesAnAlertThatFiresAgain) {
  Remediation remediation;
  fold(remediation, firing(), kStart);
  fold(remediation, resolved(kStart + minutes(5)), kStart + minutes(6));
  AlertSignal again = firing();
  again.starts_at = kStart + minutes(20);
  again.advice = "what is known of this one";

  EXPECT_EQ(fold(remediation, again, kStart + minutes(21)), Change::kSome);

  EXPECT_TRUE(remediation.any_firing());
  EXPECT_EQ(remediation.alerts[0].starts_at, kStart + minutes(20));
  EXPECT_EQ(remediation.alerts[0].advice, "what is known of this one");
}

TEST(Evidence, KeepsABoundedNumberAndDropsTheOldestThatEnded) {
  Remediation remediation;
  fold(remediation, firing(), kStart);
  fold(remediation, resolved(kStart + minutes(1)), kStart + minutes(2));
  for (std::size_t i = 1; i <= kMaxEvidence; ++i) {
    fold(remediation, firing(Severity::kReset, "f" + std::to_string(i)), kStart + minutes(3));
  }

  EXPECT_THAT(remediation.alerts, SizeIs(kMaxEvidence));
  EXPECT_EQ(remediation.alerts[0].fingerprint, "f1");
}

Remediation full_of(Severity severity) {
  Remediation remediation;
  for (std::size_t i = 0; i < kMaxEvidence; ++i) {
    fold(remediation, firing(severity, "f" + std::to_string(i)), kStart);
  }
  return remediation;
}

TEST(Evidence, RemembersThatMoreFiresThanIsKept) {
  Remediation remediation = full_of(Severity::kReset);

  const Folded more = fold(remediation, firing(Severity::kReset, "more"), kStart);

  EXPECT_EQ(more, Change::kSome);
  EXPECT_EQ(more.ignored, Ignored::kNoRoom);
  EXPECT_EQ(remediation.dropped, (DroppedAlerts{.severity = Severity::kReset, .at = kStart}));
  EXPECT_TRUE(remediation.may_have_dropped(kStart + std::chrono::hours(23)));
  EXPECT_FALSE(remediation.may_have_dropped(kStart + std::chrono::hours(25)));
  EXPECT_EQ(fold(remediation, firing(Severity::kReset, "more"), kStart + minutes(1)),
            Change::kNone);
  EXPECT_EQ(fold(remediation, firing(Severity::kReset, "more"), kStart + minutes(11)),
            Change::kSome);
}

TEST(Evidence, LetsTheMildestThatFiresGiveWayToAWorseOne) {
  Remediation remediation = full_of(Severity::kReset);

  const Folded worse = fold(remediation, firing(Severity::kReboot, "worse"), kStart);

  EXPECT_EQ(worse, Change::kSome);
  EXPECT_FALSE(worse.ignored);
  EXPECT_TRUE(worse.displaced);
  EXPECT_EQ(remediation.severity, Severity::kReboot);
  EXPECT_EQ(remediation.firing_severity(), Severity::kReboot);
  EXPECT_EQ(remediation.dropped->severity, Severity::kReset);
  EXPECT_THAT(remediation.alerts, SizeIs(kMaxEvidence));
}

TEST(Evidence, KnowsALateRepeatOfAnAlertThatEnded) {
  Remediation closed;
  fold(closed, firing(), kStart);
  fold(closed, resolved(kStart + minutes(5)), kStart + minutes(6));
  AlertSignal anew = firing();
  anew.starts_at = kStart + minutes(10);
  const std::vector<Remediation> all = {closed};

  const WallTime now = kStart + minutes(7);

  EXPECT_TRUE(is_late_repeat(firing(), all, now));
  EXPECT_FALSE(is_late_repeat(anew, all, now));
  EXPECT_FALSE(is_late_repeat(firing(Severity::kReboot, "other"), all, now));
}

// One of two Prometheus servers has ended it, the other has not: it keeps its start.
TEST(Evidence, IsOneWhetherAnAlertmanagerOrPrometheusItselfSaysIt) {
  Remediation remediation;
  ASSERT_EQ(fold(remediation, firing(Severity::kReboot, "prometheus.aa"), kStart), Change::kSome);

  EXPECT_EQ(fold(remediation, firing(), kStart + minutes(1)), Change::kNone);
  EXPECT_EQ(fold(remediation, resolved(kStart + minutes(2)), kStart + minutes(3)), Change::kSome);

  EXPECT_THAT(remediation.alerts, SizeIs(1));
  EXPECT_FALSE(remediation.any_firing());
  remediation.status.phase = Phase::kCancelled;
  EXPECT_TRUE(is_late_repeat(firing(), {{remediation}}, kStart + minutes(4)));
}

TEST(Evidence, DoesNotTakeAnAlertThatGoesOnForALateRepeatForEver) {
  Remediation closed;
  fold(closed, firing(), kStart);
  fold(closed, resolved(kStart + minutes(5)), kStart + minutes(6));

  EXPECT_FALSE(is_late_repeat(firing(), {{closed}}, kStart + minutes(11)));
}

Remediation closed_at(WallTime at) {
  Remediation remediation;
  remediation.status.phase = Phase::kReleased;
  remediation.status.closed_at = at;
  return remediation;
}

TEST(Retention, ForgetsWhatIsOldAndWhatIsTooMany) {
  const WallTime now = WallTime(std::chrono::hours(500'000));
  const Retention retention{.age = std::chrono::hours(24), .most = 2};
  std::vector<Remediation> all = {
      closed_at(now - std::chrono::hours(2)), closed_at(now - std::chrono::hours(25)),
      closed_at(now - std::chrono::hours(3)), closed_at(now - std::chrono::hours(1))};

  const auto forget = to_forget(all, retention, now);

  ASSERT_EQ(forget.size(), 2U);
  EXPECT_EQ(forget[0], &all[1]);  // too old
  EXPECT_EQ(forget[1], &all[2]);  // the oldest of three
}

TEST(Retention, KeepsWhatIsOpenAndWhoseAlertsStillFire) {
  const WallTime now = WallTime(std::chrono::hours(500'000));
  const Retention retention{.age = std::chrono::hours(1), .most = 0};
  std::vector<Remediation> all(2);
  all[0].status.phase = Phase::kHeld;
  all[1] = closed_at(now - std::chrono::hours(9));
  all[1].alerts.push_back({"Bad", "ab", Severity::kReboot, now, now, std::nullopt});

  EXPECT_TRUE(to_forget(all, retention, now).empty());
}

// The alerts of a Node that is gone never end.
TEST(Retention, ForgetsAlertsOfNodesThatAreGone) {
  const WallTime now = WallTime(std::chrono::hours(500'000));
  const Retention retention{.age = std::chrono::hours(1), .most = 0};
  std::vector<Remediation> all = {closed_at(now - std::chrono::hours(9))};
  all[0].status.phase = Phase::kReplaced;
  all[0].alerts.push_back({"Bad", "ab", Severity::kReboot, now, now, std::nullopt});

  EXPECT_EQ(to_forget(all, retention, now).size(), 1U);
}

// A holder of the webhook's token can open and close any number of severity monitor.
TEST(Retention, LetsNoNumberPushOutWhatKeepsAMachineOut) {
  const WallTime now = WallTime(std::chrono::hours(500'000));
  const Retention retention{.age = std::chrono::hours(24), .most = 2};
  std::vector<Remediation> all(6, closed_at(now - std::chrono::hours(1)));
  for (Remediation& one : all) one.severity = Severity::kMonitor;
  all[0] = closed_at(now - std::chrono::hours(23));
  all[0].status.phase = Phase::kSuperseded;
  all[0].severity = Severity::kIsolate;
  all[1] = closed_at(now - std::chrono::hours(22));
  all[1].severity = Severity::kReboot;

  const auto forget = to_forget(all, retention, now);

  ASSERT_EQ(forget.size(), 3U);
  for (const Remediation* one : forget) EXPECT_EQ(one->severity, Severity::kMonitor);
}

// Without this answer, a machine that returned healthy would count as given up.
TEST(Retention, LetsNoNumberPushOutTheAnswerToWhatKeptAMachineOut) {
  const WallTime now = WallTime(std::chrono::hours(500'000));
  const Retention retention{.age = std::chrono::hours(24), .most = 1};
  std::vector<Remediation> all(3, closed_at(now - std::chrono::hours(1)));
  all[0] = closed_at(now - std::chrono::hours(2));
  all[0].alerts.push_back(
      {std::string(kReturnedAlert), "0123456789", Severity::kReset, now, now, now});

  const auto forget = to_forget(all, retention, now);

  ASSERT_EQ(forget.size(), 1U);
  EXPECT_NE(forget[0], &all[0]);
}

// A Node that has replaced one machine would count for the next one too.
TEST(Retention, KeepsAReplacedOneWhileAnOlderOneMayBeReplaced) {
  const WallTime now = WallTime(std::chrono::hours(500'000));
  const Retention retention{.age = std::chrono::hours(1), .most = 0};
  std::vector<Remediation> all(2, closed_at(now - std::chrono::hours(9)));
  all[0].status.phase = Phase::kReplaced;
  all[1].status = {};
  all[1].created = now - std::chrono::hours(10);
  EXPECT_EQ(to_forget(all, retention, now).size(), 1U);

  all[1].status.steps.emplace_back().step = Step::kDrain;
  EXPECT_TRUE(to_forget(all, retention, now).empty());
  all[0].status.phase = Phase::kReleased;
  EXPECT_EQ(to_forget(all, retention, now).size(), 1U);
  all[0].status.phase = Phase::kReplaced;
  all[1].created = now - std::chrono::hours(8);
  EXPECT_EQ(to_forget(all, retention, now).size(), 1U);
}

// An alert of a closed Remediation never ends in its record.
TEST(Retention, ForgetsACancelledOneInTheEnd) {
  const WallTime now = WallTime(std::chrono::hours(500'000));
  const Retention retention{.age = std::chrono::hours(1), .most = 0};
  std::vector<Remediation> all = {closed_at(now - std::chrono::hours(9))};
  all[0].status.phase = Phase::kCancelled;
  all[0].alerts.push_back({"Bad", "ab", Severity::kReboot, now, now, std::nullopt});
  EXPECT_TRUE(to_forget(all, retention, now).empty());

  EXPECT_EQ(to_forget(all, retention, now + std::chrono::hours(2)).size(), 1U);
}

}  // namespace
}  // namespace gpuward::remediator
