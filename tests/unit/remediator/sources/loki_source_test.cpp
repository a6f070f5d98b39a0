#include "remediator/sources/loki_source.h"

#include <gmock/gmock.h>

#include "core/runtime/json.h"
#include "exporter/publish/loki_pusher.h"
#include "remediator/model/node_mark.h"
#include "tests/fakes/fake_clock.h"
#include "tests/fakes/fake_kube.h"
#include "tests/fakes/fake_loki.h"
#include "tests/fakes/in_process_client.h"
#include "tests/fakes/kube_objects.h"
#include "tests/unit/remediator/sources/source_fakes.h"

namespace gpuward::remediator {
namespace {

using std::chrono::hours;
using std::chrono::minutes;
using std::chrono::nanoseconds;
using std::chrono::seconds;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

class NobodysCredentials final : public kube::Credentials {
 public:
  Result<std::string> authorization() override { return std::string(); }
  void reject(const std::string&) override {}
};

kube::ApiOptions one_request() {
  kube::ApiOptions options;
  options.server = "http://fake";
  options.retry_deadline = std::chrono::milliseconds(0);
  return options;
}

constexpr const char* kHead = "[ 1.1] NVRM: The NVIDIA GPU 0000:4e:00.0";
constexpr const char* kTail = "[ 1.3] NVRM: fallen off the bus and is not responding to commands.";

class LokiSourceTest : public ::testing::Test {
 protected:
  LokiSourceTest() : policy_(Policy{}) {
    kube_.create("/api/v1/namespaces", {{"metadata", {{"name", "gpuward"}}}});
    restart();
  }
  void restart() {
    source_ = std::make_unique<LokiSource>(
        LokiSettings{
            .place = {.url = "http://loki"}, .namespaces = {"train"}, .state_namespace = "gpuward"},
        loki_, api_, policy_, known_, clock_);
  }
  std::int64_t now() const { return nanoseconds(clock_.wall().time_since_epoch()).count(); }
  void push(int xid, nanoseconds ago = {}, const std::string& node = "gpu-01") {
    loki_.push({{"k8s_daemonset_name", "dmesg"}, {"k8s_node_name", node}}, now() - ago.count(),
               "NVRM: Xid (PCI:0000:4e:00): " + std::to_string(xid) + ", pid=1, name=x, y");
  }
  void push_kernel(const std::string& text, nanoseconds ago, const std::string& node = "gpu-01") {
    loki_.push({{"k8s_daemonset_name", "dmesg"}, {"k8s_node_name", node}}, now() - ago.count(),
               text);
  }
  // One look whose signals become durable.
  SourceFindings look() {
    auto found = source_->look();
    EXPECT_TRUE(found.has_value()) << (found ? "" : found.error().message);
    const auto settled = source_->settle();
    EXPECT_TRUE(settled.has_value()) << (settled ? "" : settled.error().message);
    return found ? *found : SourceFindings();
  }
  std::vector<AlertSignal> look_until_done() {
    std::vector<AlertSignal> signals;
    for (int i = 0; i < 200; ++i) {
      const auto found = look();
      signals.insert(signals.end(), found.signals.begin(), found.signals.end());
      if (!found.has_more) return signals;
    }
    ADD_FAILURE() << "it has always more";
    return signals;
  }

  fakes::FakeClock clock_;
  fakes::FakeKube kube_{clock_};
  fakes::InProcessClient http_{kube_};
  NobodysCredentials credentials_;
  kube::Api api_{one_request(), http_, credentials_, clock_};
  fakes::FakeLoki loki_{clock_};
  CurrentPolicy policy_;
  ListedEvidence known_;
  std::unique_ptr<LokiSource> source_;
};

TEST_F(LokiSourceTest, FindsWhatWasJustSaidAndNotTwice) {
  push(79, seconds(1));

  EXPECT_THAT(look().signals, SizeIs(1));
  EXPECT_THAT(look().signals, IsEmpty());
  clock_.advance(seconds(5));
  EXPECT_THAT(look().signals, IsEmpty());
}

// Nobody needs another DaemonSet that ships dmesg.
TEST_F(LokiSourceTest, FindsWhatTheExporterHasSentThere) {
  const std::string body = exporter::loki_push_body(
      "gpu-07",
      {{.text = "NVRM: Xid (PCI:0000:4e:00): 79, pid=1, name=x, y", .at = clock_.wall()}});
  const Json stream = (*parse_json(body))["streams"][0];
  loki_.push(stream["stream"], std::stoll(stream["values"][0][0].get<std::string>()),
             stream["values"][0][1]);

  const auto signals = look().signals;

  ASSERT_THAT(signals, SizeIs(1));
  EXPECT_EQ(signals[0].node, "gpu-07");
}

TEST_F(LokiSourceTest, GoesOnFromTheCursorOfTheProcessBefore) {
  EXPECT_THAT(look().signals, IsEmpty());
  clock_.advance(minutes(40));
  push(79, minutes(20));

  restart();

  EXPECT_THAT(look_until_done(), SizeIs(1));
}

TEST_F(LokiSourceTest, TakesLinesThatComeLateWithinTheOverlap) {
  (void)look();
  clock_.advance(seconds(50));
  (void)look();

  push(79, seconds(100));
  push(48, minutes(5));

  EXPECT_THAT(look().signals, SizeIs(1));
}

TEST_F(LokiSourceTest, GoesOnBehindAnAnswerThatTheLimitHasCut) {
  (void)look();
  for (int i = 0; i < 2'500; ++i) push(79, nanoseconds(2'500 - i), "gpu-" + std::to_string(i));

  EXPECT_THAT(look_until_done(), SizeIs(2'500));
}

TEST_F(LokiSourceTest, IsNotHeldUpByMoreLinesOfOneTimeThanAnAnswerHolds) {
  (void)look();
  for (int i = 0; i < 1'200; ++i) push(79, seconds(2), "gpu-" + std::to_string(i));
  push(79, seconds(1), "gpu-last");

  const auto signals = look_until_done();

  EXPECT_GE(signals.size(), 1'001U);
  EXPECT_EQ(signals.back().node, "gpu-last");
}

TEST_F(LokiSourceTest, AsksForLessWhereAnAnswerIsTooLarge) {
  (void)look();
  loki_.cap(400);
  for (int i = 0; i < 900; ++i) push(79, nanoseconds(900 - i), "gpu-" + std::to_string(i));
  std::size_t found = 0;

  for (int i = 0; i < 40; ++i) {
    const auto findings = source_->look();
    if (!findings) continue;
    found += findings->signals.size();
    ASSERT_TRUE(source_->settle());
  }

  EXPECT_EQ(found, 900U);
}

class LokiSourceClocks : public LokiSourceTest, public ::testing::WithParamInterface<int> {};

TEST_P(LokiSourceClocks, MayDifferFromOurs) {
  const seconds ahead = hours(GetParam());
  loki_.set_ahead(ahead);
  (void)look();
  clock_.advance(seconds(5));
  push(79, -ahead);

  EXPECT_THAT(look_until_done(), SizeIs(1));
}
INSTANTIATE_TEST_SUITE_P(ByHours, LokiSourceClocks, ::testing::Values(3, -3, 0));

TEST_F(LokiSourceTest, ReadsAgainWhatWasNotDurable) {
  push(79, seconds(1));
  const auto first = source_->look();
  ASSERT_TRUE(first.has_value() && first->signals.size() == 1);

  EXPECT_THAT(look().signals, SizeIs(1));
}

TEST_F(LokiSourceTest, PutsARecordOfThreeLinesTogetherEachNodesForItself) {
  push_kernel(kHead, seconds(9));
  push_kernel("[ 1.2] NVRM: (PCI ID: 10de:1b06) installed in this system has", seconds(8));
  push_kernel(kTail, seconds(7), "gpu-02");
  push_kernel(kTail, seconds(6));

  const auto signals = look().signals;

  ASSERT_THAT(signals, SizeIs(1));
  EXPECT_EQ(signals[0].node, "gpu-01");
  EXPECT_EQ(signals[0].alertname, "log xid 79");
}

TEST_F(LokiSourceTest, PutsARecordTogetherThatTwoLooksHaveSeen) {
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

TEST_F(LokiSourceTest, LosesNothingWhileLokiIsAway) {
  (void)look();
  loki_.fail_with(Error{ErrorKind::kTimeout, "no answer"});
  push(79);
  for (int i = 0; i < 5; ++i) {
    clock_.advance(minutes(1));
    EXPECT_FALSE(source_->look());
  }

  loki_.fail_with(std::nullopt);

  EXPECT_THAT(look_until_done(), SizeIs(1));
}

TEST_F(LokiSourceTest, EndsAFindingThatWasQuietForAWhile) {
  push(79, seconds(1));
  known_.all = look().signals;
  clock_.advance(minutes(10));
  push(79, seconds(1));
  (void)look_until_done();
  clock_.advance(minutes(10));
  EXPECT_THAT(look_until_done(), IsEmpty());

  clock_.advance(minutes(6));
  const auto ended = look_until_done();

  ASSERT_THAT(ended, SizeIs(1));
  EXPECT_FALSE(ended[0].firing);
}

TEST_F(LokiSourceTest, EndsNothingThatTheProcessBeforeMayHaveHeardAgain) {
  push(79, seconds(1));
  known_.all = look().signals;
  clock_.advance(minutes(10));
  push(79, seconds(1));
  (void)look_until_done();
  clock_.advance(minutes(3));
  (void)look_until_done();

  restart();

  clock_.advance(minutes(5));
  EXPECT_THAT(look_until_done(), IsEmpty()) << "the last line is 8 minutes old";
  clock_.advance(minutes(15));
  EXPECT_THAT(look_until_done(), SizeIs(1));
}

TEST_F(LokiSourceTest, LosesNothingBeforeItsCursorWasEverWritten) {
  fakes::Fault fault;
  fault.kind = fakes::FaultKind::kInternalError;
  ASSERT_TRUE(source_->look());
  kube_.add_fault(fault);
  ASSERT_FALSE(source_->settle());
  kube_.clear_faults();
  clock_.advance(minutes(10));
  push(79, minutes(5));

  EXPECT_THAT(look_until_done(), SizeIs(1));
}

TEST_F(LokiSourceTest, ReadsThePodsOfTheNamespacesThatAreWatched) {
  const std::string bad = "RuntimeError: CUDA error: invalid device ordinal";
  loki_.push({{"k8s_namespace_name", "train"}, {"k8s_node_name", "gpu-03"}}, now() - 10, bad);
  loki_.push({{"k8s_namespace_name", "other"}, {"k8s_node_name", "gpu-04"}}, now() - 10, bad);

  const auto signals = look().signals;

  ASSERT_THAT(signals, SizeIs(1));
  EXPECT_EQ(signals[0].node, "gpu-03");
}

TEST_F(LokiSourceTest, WritesItsCursorNowAndThenAndGivesWayToAnother) {
  for (int i = 0; i < 12; ++i) {
    (void)look();
    clock_.advance(seconds(5));
  }
  const std::string path = "/api/v1/namespaces/gpuward/configmaps";
  EXPECT_LE(kube_.requests("PUT", path).size() + kube_.requests("POST", path).size(), 2U);
  kube_.patch(path + "/gpuward-log-cursor", {{"data", {{"kernel", std::to_string(now())}}}});
  clock_.advance(seconds(31));

  ASSERT_TRUE(source_->look());
  const auto settled = source_->settle();

  ASSERT_FALSE(settled);
  EXPECT_EQ(settled.error().kind, ErrorKind::kConflict);
  (void)look();
}

class KonduktorsWriter : public LokiSourceTest {
 protected:
  KonduktorsWriter() {
    Policy policy;
    policy.loki.konduktor_taint = true;
    policy_.set(policy);
    OwnerAnnotation mark;
    mark.name = "rem-1";
    mark.konduktor = true;
    Json ours = node("gpu-01");
    ours["metadata"]["annotations"][std::string(kAnnotation)] = to_annotation(mark);
    kube_.create("/api/v1/nodes", ours);
    push(79, seconds(1));
  }
  static Json node(const std::string& name) {
    Json node = fakes::ready_node(name);
    node["spec"]["taints"] = Json::array(
        {{{"key", "trainy.konduktor.ai/faulty"}, {"value", "true"}, {"effect", "NoSchedule"}}});
    return node;
  }
};

TEST_F(KonduktorsWriter, MayBeUsAlone) { EXPECT_THAT(look().signals, SizeIs(1)); }

TEST_F(KonduktorsWriter, IsNotBegunBesideAnother) {
  kube_.create("/api/v1/nodes", node("gpu-02"));

  const auto found = source_->look();

  ASSERT_FALSE(found);
  EXPECT_EQ(found.error().kind, ErrorKind::kRefused);
  EXPECT_THAT(found.error().message, AllOf(HasSubstr("gpu-02"), HasSubstr("reset --taint")));
  EXPECT_FALSE(source_->look());
  EXPECT_THAT(kube_.requests("GET", "/api/v1/nodes"), SizeIs(1)) << "not at every look";

  kube_.remove("/api/v1/nodes/gpu-02");
  clock_.advance(seconds(60));
  EXPECT_TRUE(source_->look());
}

TEST_F(KonduktorsWriter, MatterToNobodyWhereItIsNotWritten) {
  policy_.set(Policy{});
  kube_.create("/api/v1/nodes", node("gpu-02"));

  EXPECT_THAT(look().signals, SizeIs(1));
}

TEST_F(LokiSourceTest, SaysWhatLokiRefuses) {
  loki_.require_tenant("gpus");

  const auto found = source_->look();

  ASSERT_FALSE(found);
  EXPECT_THAT(found.error().message, HasSubstr("401: no org id"));
}

}  // namespace
}  // namespace gpuward::remediator
