// Sinks at work: which notices they repeat, give up, count and log. No sink delays another.
#include "remediator/notify/notifier.h"

#include <gmock/gmock.h>

#include <atomic>

#include "core/aws/client.h"
#include "tests/fakes/fake_clock.h"
#include "tests/support/temp_dir.h"
#include "tests/support/wait.h"
#include "tests/unit/remediator/notify/receiver.h"
#include "tests/unit/remediator/notify/silent_client.h"

namespace gpuward::remediator {
namespace {

using std::chrono::seconds;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

// Gives the scripted answers, and records the id and time of each delivery.
class ScriptedSink final : public Sink {
 public:
  struct Script {
    std::mutex mutex;
    std::vector<Status> answers;  // in order; after them each delivery succeeds
    std::vector<std::string> asked;
    std::vector<Clock::Steady> at;
  };
  ScriptedSink(Script& script, Clock& clock) : script_(script), clock_(clock) {}
  Status deliver(const NotificationEvent& event, const std::stop_token&) override {
    const std::lock_guard lock(script_.mutex);
    script_.asked.push_back(event.id);
    script_.at.push_back(clock_.steady());
    if (script_.answers.empty()) return {};
    Status answer = std::move(script_.answers.front());
    script_.answers.erase(script_.answers.begin());
    return answer;
  }

 private:
  Script& script_;
  Clock& clock_;
};

class SinkWorkerTest : public ::testing::Test {
 protected:
  void start(const SinkSettings& settings = named("a")) {
    worker_ =
        std::make_unique<SinkWorker>(settings, std::make_unique<ScriptedSink>(script_, clock_),
                                     clock_, log_, [this](const NotificationEvent&) { ++ended_; });
  }
  static SinkSettings named(const std::string& name) {
    SinkSettings settings;
    settings.name = name;
    return settings;
  }
  static NotificationEvent event(const std::string& id) {
    return {.id = id, .node_name = "gpu-01"};
  }
  void submit_notices(const std::string& id) { EXPECT_FALSE(worker_->has_ended(event(id))); }
  void wait_for_ends(int count) {
    ASSERT_TRUE(support::wait_until([&] { return ended_ == count; }, "ends"));
  }
  std::uint64_t count(Delivery delivery) { return worker_->tally().ended.at(delivery); }
  std::vector<std::string> asked() {
    const std::lock_guard lock(script_.mutex);
    return script_.asked;
  }

  fakes::FakeClock clock_{fakes::FakeClock::Mode::kAutoAdvance};
  Log log_{LogLevel::kError, LogFormat::kLogfmt};
  ScriptedSink::Script script_;
  std::atomic<int> ended_{0};
  std::unique_ptr<SinkWorker> worker_;
};

TEST_F(SinkWorkerTest, DeliversInOrderAndEachOnce) {
  start();
  submit_notices("1");
  submit_notices("2");
  wait_for_ends(2);

  EXPECT_TRUE(worker_->has_ended(event("1")));
  EXPECT_TRUE(worker_->has_ended(event("2")));
  EXPECT_THAT(asked(), ElementsAre("1", "2"));
  EXPECT_EQ(count(Delivery::kSent), 2U);
  EXPECT_EQ(worker_->tally().waiting, 0U);
}

TEST_F(SinkWorkerTest, TriesAgainLaterAndLater) {
  for (int i = 0; i < 4; ++i) script_.answers.push_back(fail(ErrorKind::kUnavailable, "not now"));
  start();
  submit_notices("1");
  wait_for_ends(1);

  EXPECT_THAT(asked(), SizeIs(5));
  EXPECT_EQ(count(Delivery::kSent), 1U);
  EXPECT_GT(script_.at[4] - script_.at[3], script_.at[1] - script_.at[0]);
}

TEST_F(SinkWorkerTest, WaitsAsLongAsTheReceiverAsks) {
  script_.answers.push_back(std::unexpected(Error{ErrorKind::kUnavailable, "busy", seconds(120)}));
  start();
  submit_notices("1");
  wait_for_ends(1);

  EXPECT_GE(script_.at[1] - script_.at[0], seconds(120));
}

TEST_F(SinkWorkerTest, GivesUpAfterAWhileAndGoesOnWithTheNext) {
  for (int i = 0; i < 1000; ++i) script_.answers.push_back(fail(ErrorKind::kUnavailable, "never"));
  SinkSettings settings = named("a");
  settings.give_up_after = std::chrono::minutes(10);
  start(settings);
  submit_notices("1");
  wait_for_ends(1);

  EXPECT_EQ(count(Delivery::kGaveUp), 1U);
  EXPECT_TRUE(worker_->has_ended(event("1")));
  EXPECT_LE(script_.at.back() - script_.at.front(), std::chrono::minutes(10));
  {
    const std::lock_guard lock(script_.mutex);
    script_.answers.clear();
  }
  submit_notices("2");
  wait_for_ends(2);
  EXPECT_EQ(count(Delivery::kSent), 1U);
}

TEST_F(SinkWorkerTest, DoesNotRepeatWhatWillNeverBeTaken) {
  script_.answers.push_back(fail(ErrorKind::kInvalid, "no"));
  start();
  submit_notices("1");
  wait_for_ends(1);

  EXPECT_THAT(asked(), SizeIs(1));
  EXPECT_EQ(count(Delivery::kRefused), 1U);
}

TEST_F(SinkWorkerTest, KeepsToItsRate) {
  SinkSettings settings = named("a");
  settings.per_minute = 6;  // one at once, then one in ten seconds
  start(settings);
  for (const char* id : {"1", "2", "3"}) submit_notices(id);
  wait_for_ends(3);

  EXPECT_GE(script_.at[2] - script_.at[0], seconds(19));
}

// The clock does not advance, so that the first notice keeps waiting for its second try.
TEST(SinkWorker, CountsWhatItHasNoRoomFor) {
  fakes::FakeClock clock(fakes::FakeClock::Mode::kManual);
  Log log(LogLevel::kError, LogFormat::kLogfmt);
  ScriptedSink::Script script;
  script.answers.push_back(fail(ErrorKind::kUnavailable, "not now"));
  SinkSettings settings;
  settings.name = "a";
  SinkWorker worker(settings, std::make_unique<ScriptedSink>(script, clock), clock, log,
                    [](const NotificationEvent&) {});
  int taken = 0;
  while (!worker.has_ended({.id = std::to_string(taken)}) && taken < 20'000) ++taken;

  EXPECT_EQ(taken, 10'000);
  EXPECT_EQ(worker.tally().ended.at(Delivery::kOverflow), 1U);
  EXPECT_EQ(worker.tally().waiting, 10'000U);
}

class NotifierTest : public ::testing::Test {
 protected:
  static SinkSettings webhook(const std::string& name, const std::string& url) {
    SinkSettings settings;
    settings.name = name;
    settings.kind = "webhook";
    settings.url = url;
    return settings;
  }
  bool are_notified(const std::vector<std::string>& sinks) {
    return notifier_.are_notified({.id = "1", .node_name = "gpu-01"}, sinks);
  }

  SystemClock clock_;
  Log log_{LogLevel::kError, LogFormat::kLogfmt};
  std::atomic<int> looked_at_{0};
  Receiver receiver_;
  http::CurlClient http_;
  aws::AwsClient aws_{http_, {}, clock_};
  Notifier notifier_{{.aws = aws_}, clock_, log_, [this](const std::string& node) {
                       if (node == "gpu-01") ++looked_at_;
                     }};
};

TEST_F(NotifierTest, ADeadSinkHoldsUpNoOther) {
  ASSERT_TRUE(notifier_.set_sinks(
      {webhook("dead", "http://127.0.0.1:1/"), webhook("well", receiver_.url())}));

  EXPECT_FALSE(are_notified({"dead", "well"}));
  ASSERT_TRUE(support::wait_until([&] { return looked_at_ >= 1; }, "a look at the node"));

  EXPECT_TRUE(are_notified({"well"}));
  EXPECT_FALSE(are_notified({"dead", "well"}));
  EXPECT_THAT(receiver_.requests(), SizeIs(1));
}

TEST_F(NotifierTest, SinksThatThePolicyHasNoMoreWantNothing) {
  EXPECT_TRUE(are_notified({"gone"}));
  ASSERT_TRUE(notifier_.set_sinks({webhook("dead", "http://127.0.0.1:1/")}));
  EXPECT_FALSE(are_notified({"dead"}));

  ASSERT_TRUE(notifier_.set_sinks({}));

  EXPECT_TRUE(are_notified({"dead"}));
  EXPECT_THAT(notifier_.tallies(), IsEmpty());
}

TEST_F(NotifierTest, SinksThatHaveNotChangedGoOn) {
  ASSERT_TRUE(notifier_.set_sinks({webhook("well", receiver_.url())}));
  (void)are_notified({"well"});
  ASSERT_TRUE(support::wait_until([&] { return are_notified({"well"}); }, "told"));

  ASSERT_TRUE(notifier_.set_sinks({webhook("well", receiver_.url()), webhook("new", "http://a/")}));
  SinkSettings missing = webhook("bad", "");
  missing.url_file = "/nowhere/url";
  EXPECT_FALSE(notifier_.set_sinks({missing}));

  EXPECT_TRUE(are_notified({"well"}));
  EXPECT_THAT(notifier_.tallies(), SizeIs(2));
  EXPECT_THAT(receiver_.requests(), SizeIs(1));
}

TEST(Notifier, EndsTheCallsToAwsOfSinksThatGo) {
  SystemClock clock;
  Log log(LogLevel::kError, LogFormat::kLogfmt);
  SilentClient silent;
  aws::AwsClient aws(silent,
                     {.variables = {{"AWS_ACCESS_KEY_ID", "AKIDEXAMPLE"},
                                    {"AWS_SECRET_ACCESS_KEY", "very-secret"},
                                    {"AWS_REGION", "eu-west-1"}}},
                     clock);
  Notifier notifier({.aws = aws}, clock, log, [](const std::string&) {});
  const std::vector<std::string> kinds = {"cloudwatch", "cloudwatch_logs", "lambda", "sns"};
  std::vector<SinkSettings> sinks;
  for (const std::string& kind : kinds) {
    SinkSettings& sink = sinks.emplace_back();
    sink.name = kind;
    sink.kind = kind;
    sink.target = "gpus";
    sink.timeout = seconds(60);
  }
  ASSERT_TRUE(notifier.set_sinks(sinks));
  EXPECT_FALSE(notifier.are_notified({.id = "1", .node_name = "gpu-01"}, kinds));
  ASSERT_TRUE(support::wait_until([&] { return silent.waiting() == 4; }, "their calls"));

  auto leaving = notifier.set_sinks({});
  ASSERT_TRUE(leaving);
  EXPECT_THAT(*leaving, SizeIs(4));
  leaving->clear();  // waits for them

  EXPECT_EQ(silent.waiting(), 0);
  EXPECT_EQ(silent.stopped(), 4) << "they waited for their time-out";
}

}  // namespace
}  // namespace gpuward::remediator
