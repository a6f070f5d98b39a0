#include "remediator/inbox/sources/silent_source.h"

#include <gmock/gmock.h>

#include "remediator/model/silent_alerts.h"
#include "tests/fakes/fake_clock.h"
#include "tests/unit/remediator/inbox/sources/source_fakes.h"

namespace gpuward::remediator {
namespace {

using std::chrono::hours;
using std::chrono::minutes;
using std::chrono::seconds;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

class ListedNodes final : public NodeSigns {
 public:
  std::vector<NodeSign> signs(WallTime) const override { return nodes; }
  bool is_current(Clock::Steady) const override { return current; }
  std::vector<NodeSign> nodes;
  bool current = true;
};

class SaidScrapes final : public ScrapeStates {
 public:
  Result<NodeScrapes> of(std::string_view, std::string_view) override { return answer; }
  Result<NodeScrapes> answer = NodeScrapes();
};

// Gives the same answer for each node, and counts the calls.
class CountedAnswer final : public LastKnown {
 public:
  CountedAnswer(Result<std::string> answer, int& asked)
      : answer_(std::move(answer)), asked_(asked) {}
  Result<std::string> of(const NodeSign&) override {
    ++asked_;
    return answer_;
  }

 private:
  Result<std::string> answer_;
  int& asked_;
};

class SilentSourceTest : public ::testing::Test {
 protected:
  SilentSourceTest() {
    clock_.advance(hours(48));
    rules_.is_on = true;
    force();
    for (int i = 0; i < 8; ++i) {
      NodeSign& node = nodes_.nodes.emplace_back();
      node.node = "gpu-" + std::to_string(i);
      node.ready = "True";
      node.since = node.created = clock_.wall() - hours(24);
    }
  }
  void force() {
    Policy policy;
    policy.silent = rules_;
    policy_.set(policy);
  }
  void turn(int node, const std::string& ready) {
    nodes_.nodes[static_cast<std::size_t>(node)].ready = ready;
    nodes_.nodes[static_cast<std::size_t>(node)].since = clock_.wall();
  }
  SourceFindings look() {
    auto found = SilentSource(policy_, nodes_, known_, &scrapes_, clock_).look();
    EXPECT_TRUE(found);
    return found ? *std::move(found) : SourceFindings();
  }
  // Looks once, and records the findings.
  std::vector<AlertSignal> take() {
    auto signals = look().signals;
    for (const AlertSignal& signal : signals) {
      std::erase_if(known_.all, [&](const AlertSignal& known) {
        return known.node == signal.node && known.fingerprint == signal.fingerprint;
      });
      if (signal.firing) known_.all.push_back(signal);
    }
    return signals;
  }
  fakes::FakeClock clock_;
  SilentRules rules_;
  CurrentPolicy policy_{Policy{}};
  ListedNodes nodes_;
  ListedEvidence known_;
  SaidScrapes scrapes_;
};

TEST_F(SilentSourceTest, FindsANodeThatIsSilentForItsTime) {
  for (const std::string ready : {"Unknown", "False", ""}) {
    turn(1, ready);
    clock_.advance(minutes(4));
    EXPECT_THAT(look().signals, IsEmpty());
    clock_.advance(minutes(1));

    const auto signals = look().signals;

    ASSERT_THAT(signals, SizeIs(1));
    EXPECT_EQ(signals[0].node, "gpu-1");
    EXPECT_EQ(signals[0].alertname, "GpuNodeSilent");
    EXPECT_EQ(signals[0].severity, Severity::kReboot);
    EXPECT_EQ(signals[0].error_class, "GPU_HEALTH_ERROR");
    EXPECT_TRUE(signals[0].foreign);
  }
}

TEST_F(SilentSourceTest, FindsNoNodeThatHasNoGpus) {
  nodes_.nodes[1].has_gpus = false;
  turn(1, "Unknown");
  clock_.advance(minutes(10));
  EXPECT_THAT(look().signals, IsEmpty());
  EXPECT_EQ(look().read, nodes_.nodes.size() - 1);
}

TEST_F(SilentSourceTest, FindsNothingIfThePolicyDoesNotSaySo) {
  turn(1, "Unknown");
  clock_.advance(minutes(10));
  rules_.is_on = false;
  force();
  EXPECT_THAT(look().signals, IsEmpty());
}

TEST_F(SilentSourceTest, TellsWhatWasKnownLastWithItsAgeAndSource) {
  turn(1, "Unknown");
  nodes_.nodes[1].heartbeat = clock_.wall() - seconds(40);
  scrapes_.answer->exporter = false;
  scrapes_.answer->others_down = 2;
  scrapes_.answer->seen_at = clock_.wall() - seconds(10);
  scrapes_.answer->severity = Severity::kReset;
  clock_.advance(minutes(5));

  EXPECT_THAT(look().signals.at(0).advice, AllOf(HasSubstr("Ready is Unknown since "),
                                                 HasSubstr("the kubelet last reported its status"),
                                                 HasSubstr("(310 s earlier) with severity reset"),
                                                 HasSubstr("0 of 2 other targets on the node")));
}

TEST_F(SilentSourceTest, TellsWhatOthersKnowOnceForEachSilence) {
  int asked = 0;
  std::vector<std::unique_ptr<LastKnown>> others;
  others.push_back(std::make_unique<CountedAnswer>("Loki: " + std::string(2000, 'x'), asked));
  SilentSource source(policy_, nodes_, known_, &scrapes_, clock_, std::move(others));
  turn(1, "Unknown");
  clock_.advance(minutes(5));

  const auto advice = source.look()->signals.at(0).advice;
  EXPECT_THAT(advice, HasSubstr("; Loki: xxx"));
  EXPECT_EQ(advice.size(), 1024U);
  EXPECT_EQ(source.look()->signals.at(0).advice, advice);
  EXPECT_EQ(asked, 1);

  turn(1, "True");
  EXPECT_THAT(source.look()->signals, IsEmpty());
  turn(1, "Unknown");
  clock_.advance(minutes(5));
  EXPECT_THAT(source.look()->signals, SizeIs(1));
  EXPECT_EQ(asked, 2);
}

TEST_F(SilentSourceTest, AsksNobodyOfASilenceThatIsRecorded) {
  int asked = 0;
  std::vector<std::unique_ptr<LastKnown>> others;
  others.push_back(std::make_unique<CountedAnswer>("Loki: x", asked));
  SilentSource source(policy_, nodes_, known_, &scrapes_, clock_, std::move(others));
  turn(1, "Unknown");
  nodes_.nodes[1].is_recorded = true;
  clock_.advance(minutes(5));

  EXPECT_THAT(source.look()->signals, SizeIs(1));
  EXPECT_EQ(asked, 0);
}

TEST_F(SilentSourceTest, DoesNotWaitAgainInALookForWhoDoesNotAnswer) {
  rules_.at_most = {4, 0};
  force();
  int asked = 0;
  std::vector<std::unique_ptr<LastKnown>> others;
  others.push_back(
      std::make_unique<CountedAnswer>(fail(ErrorKind::kTimeout, "reading Loki: no answer"), asked));
  SilentSource source(policy_, nodes_, known_, &scrapes_, clock_, std::move(others));
  for (int i = 0; i < 3; ++i) {
    turn(i, "Unknown");
    clock_.advance(minutes(2));
  }
  clock_.advance(minutes(5));

  const auto signals = source.look()->signals;

  ASSERT_THAT(signals, SizeIs(3));
  EXPECT_THAT(signals[0].advice, HasSubstr("; reading Loki: no answer"));
  EXPECT_EQ(asked, 1);
}

TEST_F(SilentSourceTest, TakesManySilentNodesForAPartitionAndNamesNone) {
  for (int i = 0; i < 3; ++i) {
    turn(i, "Unknown");
    clock_.advance(minutes(3));
  }
  clock_.advance(minutes(10));

  const auto found = look();

  EXPECT_THAT(found.signals, IsEmpty());
  EXPECT_EQ(found.nodes.at("share"), 3U);
  EXPECT_EQ(found.nodes.at("silent"), 0U);
}

TEST_F(SilentSourceTest, TakesSilenceThatBeganTogetherForAPartition) {
  rules_.at_most = {4, 0};
  force();
  turn(0, "Unknown");
  turn(1, "Unknown");
  clock_.advance(minutes(10));

  const auto found = look();

  EXPECT_THAT(found.signals, IsEmpty());
  EXPECT_EQ(found.nodes.at("together"), 2U);
}

TEST_F(SilentSourceTest, FindsNothingWhileTheApiServerIsNotHeard) {
  turn(1, "Unknown");
  clock_.advance(minutes(10));
  nodes_.current = false;

  const auto found = look();

  EXPECT_THAT(found.signals, IsEmpty());
  ASSERT_TRUE(found.complaint);
}

TEST_F(SilentSourceTest, LeavesThoseAloneThatGpuwardRestarts) {
  turn(1, "Unknown");
  clock_.advance(minutes(10));
  nodes_.nodes[1].is_restarting = true;
  EXPECT_THAT(look().signals, IsEmpty());
}

TEST_F(SilentSourceTest, EndsOnceTheNodeIsReadyForAWhile) {
  turn(1, "Unknown");
  clock_.advance(minutes(5));
  ASSERT_THAT(take(), SizeIs(1));
  turn(1, "True");
  clock_.advance(seconds(119));
  EXPECT_THAT(take(), IsEmpty());
  clock_.advance(seconds(1));

  const auto signals = take();

  ASSERT_THAT(signals, SizeIs(1));
  EXPECT_FALSE(signals[0].firing);
}

TEST_F(SilentSourceTest, EndsNothingByAnOldView) {
  turn(1, "Unknown");
  clock_.advance(minutes(5));
  ASSERT_THAT(take(), SizeIs(1));
  nodes_.nodes[1].ready = "True";
  nodes_.nodes[1].since = clock_.wall() - hours(24);
  EXPECT_THAT(take(), IsEmpty());
}

// The machine is not dead, and the repair of its kubelet is another matter.
TEST_F(SilentSourceTest, TellsAKubeletApartThatIsDownWhileItsExporterIsRead) {
  turn(1, "Unknown");
  scrapes_.answer->exporter = true;
  clock_.advance(minutes(5));

  auto signals = take();
  ASSERT_THAT(signals, SizeIs(1));
  EXPECT_EQ(signals[0].alertname, "GpuKubeletDown");
  EXPECT_EQ(signals[0].severity, Severity::kMonitor);

  scrapes_.answer->exporter = false;
  signals = take();
  ASSERT_THAT(signals, SizeIs(2));
  EXPECT_EQ(signals[0].alertname, "GpuNodeSilent");
  EXPECT_EQ(signals[1].alertname, "GpuKubeletDown");
  EXPECT_FALSE(signals[1].firing);
}

TEST_F(SilentSourceTest, CountsNodesThatFlap) {
  nodes_.nodes[1].recent = 3;
  EXPECT_EQ(look().nodes.at("flapping"), 1U);
}

}  // namespace
}  // namespace gpuward::remediator
