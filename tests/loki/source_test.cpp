// LokiSource on the fake and on a real Loki: its queries and how it continues.
#include <gmock/gmock.h>

#include "core/runtime/json.h"
#include "exporter/publish/loki_pusher.h"
#include "tests/loki/target.h"
#include "tests/unit/remediator/inbox/sources/loki_source_case.h"

namespace gpuward::remediator {
namespace {

using std::chrono::hours;
using std::chrono::minutes;
using std::chrono::nanoseconds;
using std::chrono::seconds;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

constexpr const char* kHead = "[ 1.1] NVRM: The NVIDIA GPU 0000:4e:00.0";
constexpr const char* kTail = "[ 1.3] NVRM: fallen off the bus and is not responding to commands.";

class LokiSourceContract : public ::testing::TestWithParam<const char*>, protected LokiSourceCase {
 protected:
  // A real Loki has the machine's time.
  LokiSourceContract() { clock_.jump_wall(std::chrono::system_clock::now() - clock_.wall()); }
  void SetUp() override { start(); }
  void start(const loki::Limits& limits = {}) {
    target_ = loki::start_target(GetParam(), clock_, limits);
    restart(loki::kTenant);
  }
  void restart(const std::string& tenant) {
    restart_on({.url = target_->url(), .tenant = tenant}, target_->client());
  }
  void push_line(const fakes::FakeLoki::Labels& labels, std::int64_t at,
                 const std::string& text) override {
    target_->push(labels, at, text);
  }
  std::size_t found_in(int looks) {
    std::size_t found = 0;
    for (int i = 0; i < looks; ++i) {
      const auto findings = source_->look();
      if (!findings) continue;
      found += findings->signals.size();
      EXPECT_TRUE(source_->settle());
    }
    return found;
  }

  std::unique_ptr<loki::Target> target_;
};
GPUWARD_ON_LOKI(LokiSourceContract, loki::both_kinds());

TEST_P(LokiSourceContract, FindsWhatWasJustSaidAndNotTwice) {
  push(79, seconds(1));

  EXPECT_THAT(look().signals, SizeIs(1));
  EXPECT_THAT(look().signals, IsEmpty());
  clock_.advance(seconds(5));
  EXPECT_THAT(look().signals, IsEmpty());
}

// No further DaemonSet that ships dmesg is needed.
TEST_P(LokiSourceContract, FindsWhatTheExporterHasSentThere) {
  const std::string body = exporter::loki_push_body(
      "gpu-07",
      {{.text = "NVRM: Xid (PCI:0000:4e:00): 79, pid=1, name=x, y", .at = clock_.wall()}});
  const Json stream = (*parse_json(body))["streams"][0];
  push_line(stream["stream"], std::stoll(stream["values"][0][0].get<std::string>()),
            stream["values"][0][1]);

  const auto signals = look().signals;

  ASSERT_THAT(signals, SizeIs(1));
  EXPECT_EQ(signals[0].node, "gpu-07");
}

TEST_P(LokiSourceContract, TakesLinesThatComeLateWithinTheOverlap) {
  (void)look();
  clock_.advance(seconds(50));
  (void)look();

  push(79, seconds(100));
  push(48, minutes(5));

  EXPECT_THAT(look().signals, SizeIs(1));
}

TEST_P(LokiSourceContract, GoesOnBehindAnAnswerThatTheLimitHasCut) {
  (void)look();
  for (int i = 0; i < 2'500; ++i) push(79, nanoseconds(2'500 - i), "gpu-" + std::to_string(i));

  EXPECT_THAT(look_until_done(), SizeIs(2'500));
}

TEST_P(LokiSourceContract, IsNotHeldUpByMoreLinesOfOneTimeThanAnAnswerHolds) {
  (void)look();
  for (int i = 0; i < 1'200; ++i) push(79, seconds(2), "gpu-" + std::to_string(i));
  push(79, seconds(1), "gpu-last");

  const auto signals = look_until_done();

  EXPECT_GE(signals.size(), 1'001U);
  EXPECT_EQ(signals.back().node, "gpu-last");
}

TEST_P(LokiSourceContract, ReadsAgainWhatWasNotDurable) {
  push(79, seconds(1));
  const auto first = source_->look();
  ASSERT_TRUE(first.has_value() && first->signals.size() == 1);

  EXPECT_THAT(look().signals, SizeIs(1));
}

TEST_P(LokiSourceContract, PutsARecordOfThreeLinesTogetherEachNodesForItself) {
  push_kernel(kHead, seconds(9));
  push_kernel("[ 1.2] NVRM: (PCI ID: 10de:1b06) installed in this system has", seconds(8));
  push_kernel(kTail, seconds(7), "gpu-02");
  push_kernel(kTail, seconds(6));

  const auto signals = look().signals;

  ASSERT_THAT(signals, SizeIs(1));
  EXPECT_EQ(signals[0].node, "gpu-01");
  EXPECT_EQ(signals[0].alertname, "log xid 79");
}

TEST_P(LokiSourceContract, PutsARecordTogetherThatTwoLooksHaveSeen) {
  push_kernel(kHead, seconds(2));
  EXPECT_THAT(look().signals, IsEmpty());
  clock_.advance(seconds(5));
  push_kernel(kTail, seconds(2));

  const auto undone = source_->look();
  ASSERT_TRUE(undone.has_value());
  EXPECT_THAT(undone->signals, SizeIs(1));

  EXPECT_THAT(look().signals, SizeIs(1)) << "what was not durable is found again";
  EXPECT_THAT(look().signals, IsEmpty());
}

TEST_P(LokiSourceContract, ReadsThePodsOfTheNamespacesThatAreWatched) {
  const std::string bad = "RuntimeError: CUDA error: invalid device ordinal";
  push_line({{"k8s_namespace_name", "train"}, {"k8s_node_name", "gpu-03"}}, now() - 10, bad);
  push_line({{"k8s_namespace_name", "other"}, {"k8s_node_name", "gpu-04"}}, now() - 10, bad);

  const auto signals = look().signals;

  ASSERT_THAT(signals, SizeIs(1));
  EXPECT_EQ(signals[0].node, "gpu-03");
}

TEST_P(LokiSourceContract, SaysWhatLokiRefuses) {
  restart("");

  const auto found = source_->look();

  ASSERT_FALSE(found);
  EXPECT_THAT(found.error().message, HasSubstr("401: no org id"));
}

TEST_P(LokiSourceContract, LosesNothingWhileLokiIsAway) {
  (void)look();
  push(79);
  target_->go_away();
  for (int i = 0; i < 5; ++i) {
    clock_.advance(minutes(1));
    EXPECT_FALSE(source_->look());
  }

  target_->come_back();

  EXPECT_THAT(look_until_done(), SizeIs(1));
}

// gpuward-exporter does the same after its back-off.
TEST_P(LokiSourceContract, FindsWhatIsSentAgainAfterLokiCameBackAndNotTwice) {
  (void)look();
  push(48, seconds(1), "gpu-02");
  target_->go_away();
  for (int i = 0; i < 10; ++i) {
    clock_.advance(minutes(1));
    EXPECT_FALSE(source_->look());
  }
  target_->come_back();
  EXPECT_THAT(look_until_done(), SizeIs(1));
  std::vector<AlertSignal> signals;
  for (int second = 5; second <= 120; second += 5) {
    clock_.advance(seconds(5));
    if (second == 5 || second == 40 || second == 85)
      push(79, minutes(5) + seconds(second), "gpu-1" + std::to_string(second));
    const auto found = look_until_done();
    signals.insert(signals.end(), found.begin(), found.end());
  }

  EXPECT_THAT(signals, SizeIs(3));
}

TEST_P(LokiSourceContract, ReadsAllIfTheClockOfLokiDiffersFromOurs) {
  for (const seconds ahead : {hours(3), hours(-3)}) {
    clock_.jump_wall(-ahead);
    target_->set_ahead(ahead);
    (void)look();
    clock_.advance(seconds(5));
    push(79, -ahead, "gpu-" + std::to_string(ahead.count()));

    EXPECT_THAT(look_until_done(), SizeIs(1)) << ahead.count();
    clock_.jump_wall(ahead);
    target_->set_ahead(seconds(0));
  }
}

TEST_P(LokiSourceContract, AsksForFewerLinesIfLokiAllowsNoMore) {
  start({.lines = 400});
  (void)found_in(3);
  for (int i = 0; i < 900; ++i) push(79, nanoseconds(900 - i), "gpu-" + std::to_string(i));

  EXPECT_EQ(found_in(10), 900U);
}

TEST_P(LokiSourceContract, AsksForAShorterTimeIfLokiAllowsNoMore) {
  start({.range = minutes(10)});
  (void)found_in(5);
  push(79, seconds(1));

  EXPECT_EQ(found_in(2), 1U);
}

TEST_P(LokiSourceContract, ReadsEntriesOfSeveralLines) {
  push_kernel("NVRM: Xid (PCI:0000:4e:00): 79, pid=1, name=x, y\nwith more", seconds(1));
  push_line({{"k8s_namespace_name", "train"}, {"k8s_node_name", "gpu-03"}}, now() - 10,
            "Traceback:\n  x = y\nRuntimeError: CUDA error: invalid device ordinal\n");

  const auto signals = look().signals;

  ASSERT_THAT(signals, SizeIs(2));
  EXPECT_EQ(signals[1].node, "gpu-03");
}

}  // namespace
}  // namespace gpuward::remediator
