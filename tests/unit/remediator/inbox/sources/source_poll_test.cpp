#include "remediator/inbox/sources/source_poll.h"

#include <gmock/gmock.h>

#include <atomic>

#include "tests/fakes/fake_clock.h"
#include "tests/support/wait.h"
#include "tests/unit/remediator/inbox/sources/source_fakes.h"

namespace gpuward::remediator {
namespace {

using std::chrono::seconds;

// The state of the source that the test can see. The source itself belongs to the poll.
struct Seen {
  std::atomic<int> looks{0}, settled{0};
  std::atomic<bool> fails{false};
};

class ScriptedSource final : public Source {
 public:
  explicit ScriptedSource(Seen& seen) : seen_(seen) {}
  std::string_view name() const override { return "scripted"; }
  std::chrono::milliseconds every() const override { return seconds(30); }
  Result<SourceFindings> look() override {
    ++seen_.looks;
    if (seen_.fails) return fail(ErrorKind::kUnavailable, "nobody there");
    return SourceFindings{.signals = {a_signal("gpu-01", "ab")}, .read = 3};
  }
  Status settle() override {
    ++seen_.settled;
    return {};
  }

 private:
  Seen& seen_;
};

class SourcePollTest : public ::testing::Test {
 protected:
  void start() {
    poll_ = std::make_unique<SourcePoll>(
        std::make_unique<ScriptedSource>(seen_),
        SourcePollParts{.intake = intake_,
                        .clock = clock_,
                        .leads = [this] { return leads_.load(); },
                        .on_error = [this](const Error&) { ++errors_; },
                        .log = log_});
  }
  template <typename Condition>
  bool comes_true(Condition condition) {
    return support::wait_until(
        [&] {
          clock_.advance(seconds(31));
          return condition();
        },
        "the next poll");
  }
  fakes::FakeClock clock_;
  Log log_{LogLevel::kError, LogFormat::kLogfmt};
  KeepingIntake intake_;
  Seen seen_;
  std::atomic<bool> leads_{true};
  std::atomic<int> errors_{0};
  std::unique_ptr<SourcePoll> poll_;
};

TEST_F(SourcePollTest, HandsOverWhatASourceFindsAndCountsIt) {
  start();

  EXPECT_TRUE(comes_true([&] { return poll_->counts().last_success.has_value(); }));

  EXPECT_EQ(intake_.signals()[0].node, "gpu-01");
  EXPECT_GE(poll_->counts().read, 3U);
  EXPECT_GE(poll_->counts().findings, 1U);
  EXPECT_GE(seen_.settled, 1);
  EXPECT_EQ(poll_->counts().name, "scripted");
  EXPECT_TRUE(comes_true([&] { return seen_.looks > 1; })) << "again and again";
}

TEST_F(SourcePollTest, DoesNotSettleWhatIsNotDurable) {
  intake_.refuse(true);
  start();

  EXPECT_TRUE(comes_true([&] { return errors_ > 0; }));
  EXPECT_EQ(seen_.settled, 0);
  intake_.refuse(false);

  EXPECT_TRUE(comes_true([&] { return seen_.settled > 0; }));
}

TEST_F(SourcePollTest, GoesOnAfterAnErrorAndCountsIt) {
  seen_.fails = true;
  start();
  EXPECT_TRUE(comes_true([&] { return errors_ > 0; }));
  EXPECT_FALSE(poll_->counts().last_success.has_value());

  seen_.fails = false;

  EXPECT_TRUE(comes_true([&] { return poll_->counts().last_success.has_value(); }));
  EXPECT_GE(poll_->counts().errors, 1U);
}

TEST_F(SourcePollTest, AsksOnlyWhileThisReplicaLeads) {
  leads_ = false;
  start();
  for (int i = 0; i < 20; ++i) clock_.advance(seconds(31));
  EXPECT_EQ(seen_.looks, 0);

  leads_ = true;

  EXPECT_TRUE(comes_true([&] { return seen_.looks > 0; }));
}

}  // namespace
}  // namespace gpuward::remediator
