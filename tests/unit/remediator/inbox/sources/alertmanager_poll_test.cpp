#include "remediator/inbox/sources/alertmanager_poll.h"

#include <gmock/gmock.h>

#include <atomic>
#include <functional>

#include "remediator/model/history_alerts.h"
#include "tests/fakes/fake_clock.h"
#include "tests/support/wait.h"

namespace gpuward::remediator {
namespace {

using std::chrono::seconds;
using ::testing::ElementsAre;
using ::testing::Key;
using ::testing::Pair;
using ::testing::SizeIs;

// The alerts that fire, and the number of reads. Thread-safe.
class PolledAlerts final : public FiringAlerts {
 public:
  Result<std::vector<Alert>> read(std::chrono::milliseconds) override {
    const std::lock_guard lock(mutex_);
    ++reads_;
    return answer_;
  }
  void set(Result<std::vector<Alert>> answer) {
    const std::lock_guard lock(mutex_);
    answer_ = std::move(answer);
  }
  int reads() {
    const std::lock_guard lock(mutex_);
    return reads_;
  }

 private:
  std::mutex mutex_;
  int reads_ = 0;
  Result<std::vector<Alert>> answer_ = std::vector<Alert>();
};

class PolledIntake final : public Intake {
 public:
  Result<IntakeCounts> take(std::span<const AlertSignal> signals, Clock::Steady) override {
    const std::lock_guard lock(mutex_);
    signals_.insert(signals_.end(), signals.begin(), signals.end());
    return IntakeCounts{.accepted = signals.size()};
  }
  std::vector<AlertSignal> signals() {
    const std::lock_guard lock(mutex_);
    return signals_;
  }

 private:
  std::mutex mutex_;
  std::vector<AlertSignal> signals_;
};

Alert an_alert(const std::string& fingerprint) {
  Alert alert;
  alert.labels = {{"alertname", "Bad"}, {"node", "gpu-01"}, {"remediation", "reboot"}};
  alert.fingerprint = fingerprint;
  alert.starts_at = WallTime(std::chrono::hours(500'000));
  return alert;
}

class FixedEvidence final : public KnownEvidence {
 public:
  std::vector<AlertSignal> firing_from(std::string_view) const override { return signals; }
  std::vector<AlertSignal> signals;
};

AlertSignal known_signal(const std::string& fingerprint) {
  return {.node = "gpu-01",
          .severity = Severity::kReboot,
          .alertname = "Bad",
          .fingerprint = fingerprint,
          .firing = true,
          .starts_at = WallTime(std::chrono::hours(500'000)),
          .ends_at = {}};
}

class AlertmanagerPollTest : public ::testing::Test {
 protected:
  std::unique_ptr<AlertmanagerPoll> start() {
    auto poll =
        std::make_unique<AlertmanagerPoll>(PollOptions{.known = &known}, firing, intake, clock);
    poll->start([this](const Error&) { ++errors; });
    return poll;
  }
  fakes::FakeClock clock;
  PolledAlerts firing;
  PolledIntake intake;
  FixedEvidence known;
  std::atomic<int> errors{0};
};

TEST_F(AlertmanagerPollTest, TakesWhatANotificationHasLost) {
  firing.set(std::vector<Alert>{an_alert("ab")});
  const auto poll = start();

  EXPECT_TRUE(support::wait_until(
      [&] {
        clock.advance(seconds(60));
        return !intake.signals().empty();
      },
      "a signal"));
  EXPECT_EQ(intake.signals()[0].fingerprint, "ab");
}

// The notification of the end was lost.
TEST_F(AlertmanagerPollTest, EndsWhatIsAbsentForTenMinutes) {
  known.signals = {known_signal("00000000000000ab"), known_signal("00000000000000cd"),
                   known_signal("condition.ef"), known_signal("0123456789")};
  firing.set(std::vector<Alert>{an_alert("00000000000000cd")});
  const auto poll = start();

  std::vector<AlertSignal> ended;
  EXPECT_TRUE(support::wait_until(
      [&] {
        clock.advance(seconds(60));
        ended = intake.signals();
        std::erase_if(ended, std::mem_fn(&AlertSignal::firing));
        return !ended.empty();
      },
      "an end"));
  for (const AlertSignal& signal : ended) EXPECT_EQ(signal.fingerprint, "00000000000000ab");
}

// The sender of a notification chooses the fingerprint. Fingerprints with an origin, and those of
// the history of a machine, are not from the webhook.
TEST_F(AlertmanagerPollTest, EndsAnAlertWhoseFingerprintAlertmanagerNeverGives) {
  known.signals = {known_signal("ab"), known_signal(std::string(64, 'a')),
                   known_signal("silent.kubelet"),
                   known_signal(history_fingerprint(kReturnedAlert, "uid"))};
  firing.set(std::vector<Alert>{});
  const auto poll = start();

  std::set<std::string> ended;
  EXPECT_TRUE(support::wait_until(
      [&] {
        clock.advance(seconds(60));
        for (const AlertSignal& signal : intake.signals()) ended.insert(signal.fingerprint);
        return !ended.empty();
      },
      "an end"));
  EXPECT_THAT(ended, ElementsAre(std::string(64, 'a'), "ab"));
}

TEST_F(AlertmanagerPollTest, TakesWhatIsSilencedOrInhibitedForNeitherFiringNorEnded) {
  Alert silenced = an_alert("00000000000000ab");
  silenced.is_suppressed = true;
  firing.set(std::vector<Alert>{silenced, an_alert("00000000000000cd")});
  known.signals = {known_signal("00000000000000ab")};
  const auto poll = start();

  EXPECT_THAT(*poll->active_on("gpu-01"), ElementsAre(Key("00000000000000cd")));
  EXPECT_THAT(*poll->all_firing(seconds(1)), ElementsAre("00000000000000ab", "00000000000000cd"));
  const int before = firing.reads();
  EXPECT_TRUE(support::wait_until(
      [&] {
        clock.advance(seconds(60));
        return firing.reads() > before + 15;
      },
      "fifteen rounds"));
  for (const AlertSignal& signal : intake.signals())
    EXPECT_EQ(signal.fingerprint, "00000000000000cd");
}

TEST_F(AlertmanagerPollTest, GoesOnAfterARoundThatFailed) {
  firing.set(fail(ErrorKind::kUnavailable, "no"));
  const auto poll = start();
  EXPECT_TRUE(support::wait_until(
      [&] {
        clock.advance(seconds(60));
        return errors > 0;
      },
      "an error"));

  firing.set(std::vector<Alert>{an_alert("ab")});

  EXPECT_TRUE(support::wait_until(
      [&] {
        clock.advance(seconds(60));
        return !intake.signals().empty();
      },
      "a signal"));
}

TEST_F(AlertmanagerPollTest, SaysWhatFiresNowWithOneReadForMany) {
  firing.set(std::vector<Alert>{an_alert("ab"), an_alert("cd")});
  const auto poll = start();

  EXPECT_THAT(*poll->active_on("gpu-01"),
              ElementsAre(Pair("ab", Severity::kReboot), Pair("cd", Severity::kReboot)));
  EXPECT_THAT(*poll->active_on("gpu-02"), SizeIs(0)) << "of another node";
  EXPECT_EQ(firing.reads(), 1);
  firing.set(std::vector<Alert>{});
  clock.advance(seconds(6));

  EXPECT_THAT(*poll->active_on("gpu-01"), SizeIs(0));
}

TEST_F(AlertmanagerPollTest, DoesNotSayWhatItDoesNotKnow) {
  const auto poll = start();
  ASSERT_TRUE(poll->active_on("gpu-01"));
  firing.set(fail(ErrorKind::kTimeout, "no"));
  clock.advance(seconds(6));

  EXPECT_FALSE(poll->active_on("gpu-01"));
}

}  // namespace
}  // namespace gpuward::remediator
