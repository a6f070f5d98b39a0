#include "remediator/tell/page/guard_watch.h"

#include <gmock/gmock.h>

#include <memory>

#include "tests/fakes/fake_clock.h"
#include "tests/fakes/fake_kube.h"
#include "tests/fakes/in_process_client.h"
#include "tests/fakes/remediation_definition.h"
#include "tests/support/wait.h"

namespace gpuward::remediator {
namespace {

using std::chrono::minutes;
using std::chrono::seconds;
using ::testing::HasSubstr;

class NoCredentials final : public kube::Credentials {
 public:
  Result<std::string> authorization() override { return std::string(); }
  void reject(const std::string&) override {}
};

kube::ApiOptions fake_server() {
  kube::ApiOptions options;
  options.server = "http://fake";
  options.retry_deadline = std::chrono::milliseconds(0);
  return options;
}

Policy in_mode(Mode mode) {
  Policy policy;
  policy.mode = mode;
  return policy;
}

class GuardWatchTest : public ::testing::Test {
 protected:
  GuardWatchTest() { kube_.create(kDefinitions, remediation_definition()); }
  void start(Mode mode, bool is_guarded) {
    policy_.set(in_mode(mode));
    kube_.guard_approvals(is_guarded);
    watch_ = std::make_unique<GuardWatch>(probe_, policy_, clock_, log_);
    sleeps();
  }
  // Waits until the watch has looked and sleeps until its next look.
  void sleeps() {
    ASSERT_TRUE(support::wait_until([&] { return clock_.sleepers() == 1; }, "a look"));
  }
  void comes_to_see(bool is_guarded) {
    ASSERT_TRUE(
        support::wait_until([&] { return watch_->guarded() == is_guarded; }, "the next look"));
  }

  fakes::FakeClock clock_;
  fakes::FakeKube kube_{clock_};
  fakes::InProcessClient http_{kube_};
  NoCredentials credentials_;
  kube::Api api_{fake_server(), http_, credentials_, clock_};
  CurrentPolicy policy_{Policy{}};
  GuardProbe probe_{api_, clock_};
  Log log_{LogLevel::kError, LogFormat::kLogfmt};
  std::unique_ptr<GuardWatch> watch_;
};

TEST_F(GuardWatchTest, IsReadyOnceApprovalsAreSeenToBeGuarded) {
  start(Mode::kFull, false);
  EXPECT_THAT(watch_->objection().value_or(""), HasSubstr("gpuward-approvals is not in force"));
  EXPECT_EQ(watch_->guarded(), false);

  kube_.guard_approvals(true);
  clock_.advance(seconds(3));

  comes_to_see(true);
  EXPECT_FALSE(watch_->objection());
}

// The metric shows the loss, and alerts still come in.
TEST_F(GuardWatchTest, StaysReadyIfTheGuardIsLostLater) {
  start(Mode::kFull, true);
  kube_.guard_approvals(false);

  clock_.advance(seconds(61));

  comes_to_see(false);
  EXPECT_FALSE(watch_->objection());
}

TEST_F(GuardWatchTest, HoldsBackNoLongerThanSixMinutes) {
  start(Mode::kFull, false);
  clock_.advance(minutes(5));
  EXPECT_TRUE(watch_->objection());
  clock_.advance(minutes(1));
  EXPECT_FALSE(watch_->objection());
  EXPECT_EQ(watch_->guarded(), false);
}

TEST_F(GuardWatchTest, LooksAtNothingIfNoStepNeedsAnApproval) {
  start(Mode::kCordon, false);

  EXPECT_FALSE(watch_->objection());
  EXPECT_FALSE(watch_->guarded());
  EXPECT_TRUE(kube_.requests("POST", "/apis/gpuward.dev").empty());

  policy_.set(in_mode(Mode::kFull));
  EXPECT_TRUE(watch_->objection());
}

}  // namespace
}  // namespace gpuward::remediator
