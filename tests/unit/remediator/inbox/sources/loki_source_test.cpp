// The behaviour of LokiSource over time. tests/loki covers its requests, on a real Loki too.
#include "remediator/inbox/sources/loki_source.h"

#include <gmock/gmock.h>

#include "core/runtime/json.h"
#include "remediator/model/node_mark.h"
#include "tests/fakes/kube_objects.h"
#include "tests/unit/remediator/inbox/sources/loki_source_case.h"

namespace gpuward::remediator {
namespace {

using std::chrono::minutes;
using std::chrono::nanoseconds;
using std::chrono::seconds;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

class LokiSourceTest : public ::testing::Test, protected LokiSourceCase {
 protected:
  LokiSourceTest() { restart(); }
  void restart() { restart_on({.url = "http://loki"}, loki_); }
  void push_line(const fakes::FakeLoki::Labels& labels, std::int64_t at,
                 const std::string& text) override {
    loki_.push(labels, at, text);
  }

  void be_away_for(seconds time) {
    loki_.fail_with(Error{ErrorKind::kUnavailable, "connection refused"});
    for (const auto end = clock_.steady() + time; clock_.steady() < end;) {
      EXPECT_FALSE(source_->look());
      clock_.advance(seconds(5));
    }
    loki_.fail_with(std::nullopt);
  }

  fakes::FakeLoki loki_{clock_};
};

TEST_F(LokiSourceTest, GoesOnFromTheCursorOfTheProcessBefore) {
  EXPECT_THAT(look().signals, IsEmpty());
  clock_.advance(minutes(40));
  push(79, minutes(20));

  restart();

  EXPECT_THAT(look_until_done(), SizeIs(1));
}

TEST_F(LokiSourceTest, AsksForLessIfAnAnswerIsTooLarge) {
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

// After time-outs each request covers only one minute more than the source has read before.
TEST_F(LokiSourceTest, EndsNothingBeforeTheLastMinutesAreRead) {
  push(79, seconds(1));
  known_.all = look().signals;
  clock_.advance(seconds(750));
  (void)look_until_done();
  loki_.fail_with(Error{ErrorKind::kTimeout, "no answer"});
  for (int i = 0; i < 8; ++i) EXPECT_FALSE(source_->look());
  loki_.fail_with(std::nullopt);
  clock_.advance(seconds(175));
  push(79, seconds(5));

  const auto first = look();
  EXPECT_FALSE(first.has_more);
  EXPECT_THAT(first.signals, IsEmpty());
  EXPECT_THAT(look().signals, IsEmpty());
  const auto third = look();
  ASSERT_THAT(third.signals, SizeIs(1));
  EXPECT_TRUE(third.signals[0].firing);
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

TEST_F(LokiSourceTest, LeavesTheRestOfAnOutageToTheNextProcess) {
  (void)look();
  be_away_for(minutes(10));
  (void)look_until_done();
  clock_.advance(seconds(31));
  (void)look_until_done();
  push(79, minutes(5));

  restart();

  EXPECT_THAT(look_until_done(), SizeIs(1));
}

TEST_F(LokiSourceTest, ReadsAgainIfTheProcessBeforeSawTheOutage) {
  (void)look();
  clock_.advance(minutes(10));
  restart();
  (void)look_until_done();
  clock_.advance(seconds(20));
  push(79, minutes(5));

  clock_.advance(seconds(11));

  EXPECT_THAT(look_until_done(), SizeIs(1));
}

TEST_F(LokiSourceTest, ReadsAgainFromTheFirstOfTwoOutages) {
  (void)look();
  be_away_for(minutes(10));
  (void)look_until_done();
  clock_.advance(seconds(40));
  be_away_for(minutes(1));
  (void)look_until_done();
  clock_.advance(seconds(80));
  push(79, minutes(9));
  clock_.advance(seconds(11));

  EXPECT_THAT(look_until_done(), SizeIs(1));
}

// The overlap covers the lines that come late after it.
TEST_F(LokiSourceTest, ReadsNothingAgainAfterAShortFailure) {
  (void)look();
  be_away_for(seconds(20));
  (void)look_until_done();
  push(79, minutes(5));
  for (int i = 0; i < 30; ++i) {
    clock_.advance(seconds(5));
    EXPECT_THAT(look_until_done(), IsEmpty());
  }
}

TEST_F(LokiSourceTest, StopsReadingAgainAfterAWhile) {
  (void)look();
  be_away_for(minutes(10));
  (void)look_until_done();
  for (int i = 0; i < 20; ++i) {
    clock_.advance(seconds(5));
    (void)look_until_done();
  }
  push(79, minutes(5));
  clock_.advance(seconds(55));

  EXPECT_THAT(look_until_done(), IsEmpty());
}

TEST_F(LokiSourceTest, ReadsAgainIfItIsAskedSeldom) {
  (void)look();
  be_away_for(minutes(10));
  (void)look_until_done();
  push(79, minutes(5));
  clock_.advance(minutes(20));

  EXPECT_THAT(look_until_done(), SizeIs(1));
}

// Its sender may still have a line that repeats it.
TEST_F(LokiSourceTest, EndsNothingWhileLinesMayComeLateAfterAnOutage) {
  push(79, seconds(1));
  known_.all = look().signals;
  for (int i = 0; i < 14 * 12; ++i) {
    clock_.advance(seconds(5));
    (void)look_until_done();
  }
  be_away_for(minutes(4));

  EXPECT_THAT(look_until_done(), IsEmpty());
  clock_.advance(seconds(20));
  push(79, minutes(2));
  clock_.advance(seconds(11));
  const auto again = look_until_done();

  ASSERT_THAT(again, SizeIs(1));
  EXPECT_TRUE(again[0].firing);
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

TEST_F(KonduktorsWriter, MatterToNobodyIfItIsNotWritten) {
  policy_.set(Policy{});
  kube_.create("/api/v1/nodes", node("gpu-02"));

  EXPECT_THAT(look().signals, SizeIs(1));
}

}  // namespace
}  // namespace gpuward::remediator
