// The watch over the policy file, from its first look on.
#include "core/aws/client.h"
#include "remediator/config/load_policy.h"
#include "remediator/config/policy_reload.h"
#include "tests/support/temp_dir.h"
#include "tests/unit/core/kube/scripted_client.h"
#include "tests/unit/remediator/act/drain/drain_cluster.h"

namespace gpuward::remediator {
namespace {

class PolicyWatchTest : public DrainCluster {
 protected:
  PolicyWatchTest() { flags_.config_file = folder_.write("policy.yaml", "mode: taint\n"); }
  PolicyUsers users() {
    return {.policy = current_,
            .triage = triage_,
            .notifier = notifier_,
            .evictor = evictor_,
            .on_new = [this] { ++reloads_; },
            .clock = clock_,
            .log = log_};
  }

  support::TempDir folder_;
  Flags flags_;
  Log log_{LogLevel::kError, LogFormat::kLogfmt};
  kube::ScriptedClient aws_http_;
  aws::AwsClient aws_{aws_http_, {}, clock_};
  CurrentPolicy current_{Policy{}};
  Triage triage_{{.services = {.aws = aws_, .clock = clock_},
                  .log = log_,
                  .known_of = [](const std::string&) { return std::vector<std::string>(); }}};
  Notifier notifier_{{.aws = aws_}, clock_, log_, [](const std::string&) {}};
  Evictor evictor_{api_, clock_, {}, Evictor::Sending::kInCalls};
  int reloads_ = 0;
};

TEST_F(PolicyWatchTest, SeesAChangeOfTheFileDuringTheStart) {
  auto loaded = load_watched_policy(flags_);
  ASSERT_TRUE(loaded) << loaded.error().message;
  EXPECT_EQ(loaded->policy.mode, Mode::kTaint);
  current_.set(std::move(loaded->policy));
  folder_.write("policy.yaml", "mode: cordon\n");

  PolicyReload reload(flags_, std::move(loaded->watch), users());
  reload.reload_if_changed();

  EXPECT_EQ(current_.get()->mode, Mode::kCordon);
  reload.reload_if_changed();
  EXPECT_EQ(reloads_, 1);
}

TEST_F(PolicyWatchTest, ReadsNothingAgainIfTheFileHasNotChanged) {
  auto loaded = load_watched_policy(flags_);
  ASSERT_TRUE(loaded) << loaded.error().message;

  PolicyReload reload(flags_, std::move(loaded->watch), users());
  reload.reload_if_changed();

  EXPECT_EQ(reloads_, 0);
}

}  // namespace
}  // namespace gpuward::remediator
