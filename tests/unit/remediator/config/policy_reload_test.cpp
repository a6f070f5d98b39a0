#include "remediator/config/policy_reload.h"

#include "core/aws/client.h"
#include "tests/support/temp_dir.h"
#include "tests/support/wait.h"
#include "tests/unit/remediator/act/drain/drain_cluster.h"
#include "tests/unit/remediator/notify/silent_client.h"

namespace gpuward::remediator {
namespace {

class PolicyReloadTest : public DrainCluster {
 protected:
  support::TempDir folder_;
  Flags flags_;
  SystemClock system_clock_;
  Log log_{LogLevel::kError, LogFormat::kLogfmt};
  SilentClient silent_;
  // The client has no keys, so that its call to find some cannot be stopped.
  aws::AwsClient aws_{silent_, {.variables = {{"AWS_REGION", "eu-west-1"}}}, system_clock_};
  CurrentPolicy current_{Policy{}};
  Triage triage_{{.services = {.aws = aws_, .clock = system_clock_},
                  .log = log_,
                  .known_of = [](const std::string&) { return std::vector<std::string>(); }}};
  Notifier notifier_{{.aws = aws_}, system_clock_, log_, [](const std::string&) {}};
  Evictor evictor_{api_, clock_, {}, Evictor::Sending::kInCalls};
};

TEST_F(PolicyReloadTest, DoesNotWaitForABusySinkThatGoes) {
  SinkSettings sink;
  sink.name = "busy";
  sink.kind = "sns";
  sink.target = "arn:aws:sns:eu-west-1:123456789012:gpus";
  ASSERT_TRUE(notifier_.set_sinks({sink}));
  EXPECT_FALSE(notifier_.are_notified({.id = "1", .node_name = "gpu-01"}, {"busy"}));
  ASSERT_TRUE(support::wait_until([&] { return silent_.waiting() == 1; }, "its call"));
  flags_.config_file = folder_.write("policy.yaml", "mode: cordon\n");
  int waiting = 0;
  Mode mode = Mode::kObserve;
  PolicyReload reload(flags_, std::nullopt,
                      {.policy = current_,
                       .triage = triage_,
                       .notifier = notifier_,
                       .evictor = evictor_,
                       .on_new =
                           [&] {
                             waiting = silent_.waiting();
                             mode = current_.get()->mode;
                             silent_.release();
                           },
                       .clock = system_clock_,
                       .log = log_});

  reload.reload();

  EXPECT_EQ(waiting, 1);
  EXPECT_EQ(mode, Mode::kCordon);
}

}  // namespace
}  // namespace gpuward::remediator
