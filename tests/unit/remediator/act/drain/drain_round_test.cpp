// Tests when a drain sends which removals, and when it is over: rows 9, 10, 14, 17, 20, 21, 24 and
// 25.
#include "remediator/act/drain/drain_round.h"

#include "tests/unit/remediator/act/drain/drain_pods.h"

namespace gpuward::remediator {
namespace {

using std::chrono::milliseconds;
using std::chrono::minutes;
using std::chrono::seconds;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;

constexpr milliseconds kSomeDeadline = minutes(30);

class DrainRounds : public ::testing::Test {
 protected:
  DrainRound round_at(milliseconds elapsed) {
    DrainScene scene = scene_at(elapsed);
    scene.own_pod = "default/self";
    scene.node_is_unreachable = node_is_unreachable_;
    return make_round(plan_drain(pods_, settings_, scene), tries_, settings_, scene);
  }
  void answer(const std::string& name, const Status& status, milliseconds elapsed) {
    record_answer(tries_["uid-" + name], status, elapsed);
  }
  static std::vector<std::string> sent(const DrainRound& round) {
    std::vector<std::string> names;
    for (const Removal& removal : round.send) names.push_back(removal.pod.pod);
    return names;
  }

  std::vector<kube::Pod> pods_;
  DrainSettings settings_;
  RemovalTries tries_;
  bool node_is_unreachable_ = false;
};

Status blocked_by(const std::string& budget) {
  return fail(ErrorKind::kBlocked, "HTTP 429: Cannot evict. The disruption budget " + budget +
                                       " needs 1 healthy pods and has 1 currently");
}

TEST_F(DrainRounds, AnEmptyNodeIsDrained) {
  const DrainRound round = round_at(seconds(0));
  EXPECT_EQ(round.verdict, DrainState::kDone);
  EXPECT_EQ(round.summary, "drained");
}

TEST_F(DrainRounds, SaysWhatStays) {
  pods_ = {owned_by(replica("a"), "apps/v1", "DaemonSet"),
           owned_by(replica("b"), "apps/v1", "DaemonSet"), owned_by(replica("c"), "v1", "Node")};
  const DrainRound round = round_at(seconds(0));
  EXPECT_EQ(round.verdict, DrainState::kDone);
  EXPECT_EQ(round.summary, "drained; 3 pods stay: 2 of DaemonSets, 1 of the node's static pods");

  pods_.resize(1);
  EXPECT_EQ(round_at(seconds(0)).summary, "drained; 1 pod stays: 1 of DaemonSets");
}

TEST_F(DrainRounds, Row12SendsTheUidAlong) {
  pods_ = {replica("web")};
  const DrainRound round = round_at(seconds(0));
  ASSERT_THAT(round.send, SizeIs(1));
  EXPECT_EQ(round.send[0].way, RemovalWay::kEvict);
  EXPECT_EQ(round.send[0].pod.uid, "uid-web");
  EXPECT_TRUE(round.send[0].pod.once);
  EXPECT_FALSE(round.send[0].pod.grace_period_seconds);
  EXPECT_EQ(round.summary, "1 pod left: 1 to be evicted: default/web");
}

TEST_F(DrainRounds, Row17OneRefusedPodAndNothingIsSent) {
  pods_ = {replica("web"), naked("shell")};
  const DrainRound round = round_at(seconds(0));
  EXPECT_EQ(round.verdict, DrainState::kFailed);
  EXPECT_THAT(round.send, IsEmpty());
  EXPECT_THAT(round.left, ElementsAre("default/shell"));
  EXPECT_EQ(round.summary,
            "no pod was evicted, because of 1 pod that cannot be evicted: default/shell (no "
            "controller would recreate it)");
}

TEST_F(DrainRounds, AGracePeriodOnlyShortens) {
  pods_ = {replica("long"), replica("short")};
  pods_[0].grace_seconds = 3600;
  pods_[1].grace_seconds = 10;
  settings_.grace_period = seconds(60);
  const DrainRound round = round_at(seconds(0));
  ASSERT_THAT(sent(round), ElementsAre("long", "short"));
  EXPECT_EQ(round.send[0].pod.grace_period_seconds, 60);
  EXPECT_FALSE(round.send[1].pod.grace_period_seconds);
}

TEST_F(DrainRounds, Row21NothingEndsWithAGraceOfZero) {
  pods_ = {replica("web")};
  pods_[0].grace_seconds = 0;
  EXPECT_EQ(round_at(seconds(0)).send.at(0).pod.grace_period_seconds, 1);
  settings_.on_deadline = OnDeadline::kDelete;
  EXPECT_EQ(round_at(kSomeDeadline).send.at(0).pod.grace_period_seconds, 1);
}

TEST_F(DrainRounds, ABlockedPodIsTriedAgainAfterFiveSeconds) {
  pods_ = {replica("web")};
  answer("web", blocked_by("web-pdb"), seconds(1));
  EXPECT_THAT(round_at(seconds(6) - milliseconds(1)).send, IsEmpty());
  EXPECT_THAT(round_at(seconds(6)).send, SizeIs(1));
}

TEST_F(DrainRounds, NamesTheBudgetThatBlocks) {
  pods_ = {replica("web"), terminating(replica("x"), seconds(30))};
  answer("web", blocked_by("web-pdb"), seconds(1));
  EXPECT_EQ(round_at(seconds(2)).summary,
            "2 pods left: 1 blocked by disruption budget web-pdb: default/web; "
            "1 terminating: default/x");
}

TEST_F(DrainRounds, TheSummaryStaysWhileNothingChanges) {
  pods_ = {replica("web"), annotated(replica("p"), "karpenter.sh/do-not-disrupt", "true")};
  answer("web", blocked_by("web-pdb"), seconds(1));
  const std::string summary = round_at(seconds(2)).summary;
  EXPECT_EQ(round_at(minutes(20)).summary, summary);
}

TEST_F(DrainRounds, NamesTenAtMost) {
  for (int i = 0; i < 13; ++i) {
    const std::string name = "web-" + std::to_string(i);
    pods_.push_back(replica(name));
    answer(name, blocked_by("web-pdb"), seconds(1));
  }
  const DrainRound round = round_at(seconds(2));
  EXPECT_THAT(round.summary, HasSubstr("13 blocked by disruption budget web-pdb: default/web-0, "));
  EXPECT_THAT(round.summary, HasSubstr(", default/web-6 and 3 more"));
  EXPECT_THAT(round.left, SizeIs(13));
}

TEST_F(DrainRounds, Row9MoreThanOneBudgetIsTriedOncePerTenSeconds) {
  pods_ = {replica("web")};
  answer("web", fail(ErrorKind::kRefused, "more than one PodDisruptionBudget"), seconds(1));
  const DrainRound round = round_at(seconds(11) - milliseconds(1));
  EXPECT_THAT(round.send, IsEmpty());
  EXPECT_EQ(round.verdict, DrainState::kGoingOn);
  EXPECT_EQ(round.summary, "1 pod left: 1 with more than one disruption budget: default/web");
  EXPECT_THAT(round_at(seconds(11)).send, SizeIs(1));
}

TEST_F(DrainRounds, AForbiddenEvictionIsTriedAgainAfterFiveSecondsUnlessThePodTerminates) {
  pods_ = {replica("web")};
  answer("web", fail(ErrorKind::kForbidden, "the namespace is being terminated"), seconds(1));
  EXPECT_THAT(round_at(seconds(5)).send, IsEmpty());
  EXPECT_THAT(round_at(seconds(6)).send, SizeIs(1));
  EXPECT_THAT(round_at(seconds(6)).summary, HasSubstr("the namespace is being terminated"));
  pods_ = {terminating(replica("web"), seconds(30))};
  EXPECT_THAT(round_at(seconds(6)).send, IsEmpty());
}

TEST_F(DrainRounds, OtherErrorsBackOff) {
  pods_ = {replica("web")};
  const auto failed_at = [&](milliseconds when) {
    answer("web", fail(ErrorKind::kUnavailable, "HTTP 503"), when);
    return tries_["uid-web"].next - when;
  };
  EXPECT_EQ(failed_at(seconds(0)), seconds(1));
  EXPECT_EQ(failed_at(seconds(1)), seconds(2));
  for (int i = 0; i < 60; ++i) static_cast<void>(failed_at(minutes(1)));
  EXPECT_EQ(failed_at(minutes(2)), seconds(30));
  answer("web", blocked_by("x"), minutes(3));
  EXPECT_EQ(failed_at(minutes(4)), seconds(1));
}

TEST_F(DrainRounds, TheSameFailureAgainDoesNotChangeTheSummary) {
  pods_ = {replica("web")};
  answer("web", fail(ErrorKind::kTimeout, "timed out after 30001 ms"), seconds(0));
  answer("web", fail(ErrorKind::kTimeout, "timed out after 30002 ms"), seconds(1));
  EXPECT_EQ(round_at(seconds(2)).summary,
            "1 pod left: 1 not evicted (timed out after 30001 ms): default/web");
  answer("web", fail(ErrorKind::kForbidden, "no"), seconds(2));
  EXPECT_EQ(round_at(seconds(2)).summary, "1 pod left: 1 not evicted (no): default/web");
  answer("web", blocked_by("pdb"), seconds(3));
  answer("web", blocked_by("other"), seconds(4));
  EXPECT_THAT(round_at(seconds(4)).summary, HasSubstr("budget other: "));
}

TEST_F(DrainRounds, Row11AnOverloadIsNoFaultOfThePod) {
  pods_ = {replica("web")};
  answer("web", std::unexpected(Error{ErrorKind::kOverloaded, "429", seconds(3)}), seconds(0));
  EXPECT_THAT(round_at(milliseconds(2'999)).send, IsEmpty());
  EXPECT_THAT(round_at(seconds(3)).send, SizeIs(1));
  EXPECT_EQ(round_at(seconds(1)).summary, "1 pod left: 1 to be evicted: default/web");
}

TEST_F(DrainRounds, NothingIsSentTwiceWhileItIsUnderWay) {
  pods_ = {replica("web")};
  tries_["uid-web"].is_in_flight = true;
  EXPECT_THAT(round_at(minutes(5)).send, IsEmpty());
}

TEST_F(DrainRounds, WaveAfterWave) {
  kube::Pod critical = replica("dns");
  critical.priority = 2'000'000'000;
  pods_ = {gpu_replica("train"), replica("web"), critical, replica("self")};
  EXPECT_THAT(sent(round_at(seconds(0))), ElementsAre("train"));
  pods_[0] = terminating(gpu_replica("train"), seconds(30));
  EXPECT_THAT(sent(round_at(seconds(1))), IsEmpty());
  pods_.erase(pods_.begin());
  EXPECT_THAT(sent(round_at(seconds(2))), ElementsAre("web"));
  pods_.erase(pods_.begin());
  EXPECT_THAT(sent(round_at(seconds(3))), ElementsAre("dns"));
  pods_.erase(pods_.begin());
  EXPECT_THAT(sent(round_at(seconds(4))), ElementsAre("self"));
}

class HeldUpWaves : public DrainRounds {
 protected:
  HeldUpWaves() {
    kube::Pod critical = replica("dns");
    critical.priority_class = "system-cluster-critical";
    pods_ = {gpu_replica("train"), replica("web"), critical, replica("self")};
  }
  void take_off(const std::string& name) {
    std::erase_if(pods_, [&](const kube::Pod& pod) { return pod.meta.name == name; });
  }
  // Each wave leaves although "train" stays. gpuward's own pod stays too.
  void expect_all_waves_but_self() {
    EXPECT_THAT(sent(round_at(seconds(2))), ElementsAre("web"));
    take_off("web");
    EXPECT_THAT(sent(round_at(seconds(3))), ElementsAre("dns"));
    take_off("dns");
    EXPECT_THAT(sent(round_at(seconds(4))), IsEmpty());
  }
};

TEST_F(HeldUpWaves, APodThatIsBlockedHoldsUpNoLaterWave) {
  EXPECT_THAT(sent(round_at(seconds(0))), ElementsAre("train"));
  answer("train", blocked_by("train-pdb"), seconds(1));
  expect_all_waves_but_self();
}

TEST_F(HeldUpWaves, NorWhileItIsTriedAgain) {
  answer("train", blocked_by("train-pdb"), seconds(1));
  tries_["uid-train"].is_in_flight = true;
  expect_all_waves_but_self();
}

TEST_F(HeldUpWaves, NorDoesAPodWithTwoBudgets) {
  answer("train", fail(ErrorKind::kRefused, "more than one PodDisruptionBudget"), seconds(1));
  expect_all_waves_but_self();
}

TEST_F(HeldUpWaves, NorDoesAPodThatTheServerFailsToEvict) {
  answer("train", fail(ErrorKind::kForbidden, "no"), seconds(1));
  expect_all_waves_but_self();
}

TEST_F(HeldUpWaves, NorDoesAPodThatMayFinishFirst) {
  pods_[0] =
      annotated(std::move(pods_[0]), "cluster-autoscaler.kubernetes.io/safe-to-evict", "false");
  expect_all_waves_but_self();
}

TEST_F(HeldUpWaves, APodThatWaitsForTheServerOrForLeaveHoldsUpLaterWaves) {
  answer("train", std::unexpected(Error{ErrorKind::kOverloaded, "429", seconds(9)}), seconds(0));
  EXPECT_THAT(sent(round_at(seconds(2))), IsEmpty());
  answer("train", fail(ErrorKind::kCancelled, "the stop switch is on"), seconds(2));
  EXPECT_THAT(sent(round_at(seconds(3))), ElementsAre("train"));
}

TEST_F(HeldUpWaves, AnAcceptedEvictionHoldsUpLaterWavesForHalfOfTheDeadline) {
  pods_[0] = terminating(gpu_replica("train"), minutes(60) / seconds(1) * seconds(1));
  EXPECT_THAT(sent(round_at(kSomeDeadline / 2 - milliseconds(1))), IsEmpty());
  EXPECT_THAT(sent(round_at(kSomeDeadline / 2)), ElementsAre("web", "dns"));
}

TEST_F(HeldUpWaves, EveryPodIsNamedWithWhatItWaitsFor) {
  answer("train", blocked_by("train-pdb"), seconds(1));
  pods_.push_back(
      annotated(gpu_replica("own"), "cluster-autoscaler.kubernetes.io/safe-to-evict", "false"));
  pods_.push_back(terminating(gpu_replica("stuck"), seconds(1)));
  EXPECT_EQ(round_at(seconds(2)).summary,
            "6 pods left: 1 blocked by disruption budget train-pdb: default/train; 1 allowed to "
            "finish (protected by cluster-autoscaler.kubernetes.io/safe-to-evict): default/own; "
            "1 terminating past their grace period: default/stuck; "
            "1 to be evicted: default/web; 1 to be evicted after the others: default/dns; "
            "1 the remediator itself, which is evicted last: default/self");
}

TEST_F(HeldUpWaves, TenAreNamedThoseFirstThatNeedSomebody) {
  for (int i = 10; i < 30; ++i) pods_.push_back(replica("web-" + std::to_string(i)));
  answer("train", blocked_by("train-pdb"), seconds(1));
  EXPECT_EQ(round_at(seconds(2)).summary,
            "24 pods left: 1 blocked by disruption budget train-pdb: default/train; "
            "21 to be evicted: default/web, default/web-10, default/web-11, default/web-12, "
            "default/web-13, default/web-14, default/web-15, default/web-16, default/web-17 "
            "and 12 more; 1 to be evicted after the others; "
            "1 the remediator itself, which is evicted last");
}

TEST_F(HeldUpWaves, IsHeldIfNoPodIsOnItsWay) {
  answer("train", blocked_by("train-pdb"), seconds(1));
  EXPECT_FALSE(round_at(seconds(2)).is_held);
  take_off("web");
  take_off("dns");
  EXPECT_TRUE(round_at(seconds(4)).is_held);
  pods_[0] = terminating(gpu_replica("train"), seconds(30));
  EXPECT_FALSE(round_at(seconds(5)).is_held);
}

TEST_F(DrainRounds, Row20AGraceThatIsOverHoldsUpNoLaterWave) {
  pods_ = {terminating(gpu_replica("train"), seconds(30)), replica("web"), replica("self")};
  EXPECT_THAT(sent(round_at(seconds(30) - milliseconds(1))), IsEmpty());
  EXPECT_THAT(sent(round_at(seconds(30))), ElementsAre("web"));
}

TEST_F(DrainRounds, Row14DoesNotEndItselfWhileAnotherPodIsLeft) {
  pods_ = {terminating(gpu_replica("train"), seconds(30)), replica("self")};
  EXPECT_THAT(sent(round_at(minutes(2))), IsEmpty());
  settings_.on_deadline = OnDeadline::kDelete;
  EXPECT_THAT(sent(round_at(kSomeDeadline)), IsEmpty());
}

TEST_F(DrainRounds, Row10HoldsAtTheDeadlineAndNamesWhatIsLeft) {
  pods_ = {replica("web"), replica("api")};
  answer("web", blocked_by("web-pdb"), kSomeDeadline - seconds(5));
  EXPECT_EQ(round_at(kSomeDeadline - milliseconds(1)).verdict, DrainState::kGoingOn);
  const DrainRound round = round_at(kSomeDeadline);
  EXPECT_EQ(round.verdict, DrainState::kFailed);
  EXPECT_THAT(round.send, IsEmpty());
  EXPECT_THAT(round.left, ElementsAre("default/api", "default/web"));
  EXPECT_THAT(round.summary, HasSubstr("not drained in time: 2 pods left"));
}

TEST_F(DrainRounds, Row25ProceedsOnlyIfThePolicySaysSo) {
  pods_ = {replica("web")};
  settings_.on_deadline = OnDeadline::kProceed;
  const DrainRound round = round_at(kSomeDeadline);
  EXPECT_EQ(round.verdict, DrainState::kDone);
  EXPECT_THAT(round.left, ElementsAre("default/web"));
  EXPECT_THAT(round.summary, HasSubstr("continuing after the deadline with 1 pod left"));
}

TEST_F(DrainRounds, DeletesAtTheDeadlineIfThePolicySaysSo) {
  pods_ = {gpu_replica("train"), replica("web")};
  settings_.on_deadline = OnDeadline::kDelete;
  answer("train", blocked_by("pdb"), kSomeDeadline - milliseconds(1));
  const DrainRound round = round_at(kSomeDeadline);
  EXPECT_EQ(round.verdict, DrainState::kGoingOn);
  ASSERT_THAT(sent(round), ElementsAre("train", "web"));  // no budget, no waves
  for (const Removal& removal : round.send) {
    EXPECT_EQ(removal.way, RemovalWay::kDelete);
    EXPECT_EQ(removal.pod.grace_period_seconds, 30);
    EXPECT_THAT(removal.pod.uid, Not(IsEmpty()));
  }
}

TEST_F(DrainRounds, ADeletionIsRepeatedNotRushed) {
  pods_ = {replica("web")};
  settings_.on_deadline = OnDeadline::kDelete;
  tries_["uid-web"].way = RemovalWay::kDelete;
  answer("web", fail(ErrorKind::kUnavailable, "HTTP 503"), kSomeDeadline);
  EXPECT_THAT(round_at(kSomeDeadline + milliseconds(999)).send, IsEmpty());
  EXPECT_THAT(round_at(kSomeDeadline + seconds(1)).send, SizeIs(1));
}

TEST_F(DrainRounds, Row25ADrainThatDeletesEndsToo) {
  pods_ = {replica("web")};
  settings_.on_deadline = OnDeadline::kDelete;
  EXPECT_EQ(round_at(kSomeDeadline + minutes(5) - seconds(1)).verdict, DrainState::kGoingOn);
  EXPECT_EQ(round_at(kSomeDeadline + minutes(5)).verdict, DrainState::kFailed);
  pods_ = {terminating(replica("web"), kSomeDeadline / seconds(1) * seconds(1) + seconds(30))};
  EXPECT_EQ(round_at(kSomeDeadline + seconds(89)).verdict, DrainState::kGoingOn);
  const DrainRound stuck = round_at(kSomeDeadline + seconds(90));
  EXPECT_EQ(stuck.verdict, DrainState::kFailed);
  EXPECT_THAT(stuck.left, ElementsAre("default/web"));
}

TEST_F(DrainRounds, Row24AProtectedPodIsNeitherDeletedNorLeftBehind) {
  pods_ = {annotated(replica("p"), "gpuward.dev/do-not-drain", "true"), replica("web")};
  EXPECT_THAT(sent(round_at(seconds(0))), ElementsAre("web"));
  for (const OnDeadline what : {OnDeadline::kDelete, OnDeadline::kProceed}) {
    settings_.on_deadline = what;
    settings_.overrides_do_not_disrupt = false;
    const DrainRound round = round_at(kSomeDeadline);
    EXPECT_EQ(round.verdict, DrainState::kFailed);
    EXPECT_THAT(round.send, IsEmpty());
    EXPECT_THAT(round.left, ElementsAre("default/p"));
    settings_.overrides_do_not_disrupt = true;
    EXPECT_NE(round_at(kSomeDeadline).verdict, DrainState::kFailed);
  }
}

TEST_F(DrainRounds, Row24TheOverrideCountsFromTheDeadlineOnly) {
  pods_ = {annotated(replica("p"), "gpuward.dev/do-not-drain", "true")};
  settings_.overrides_do_not_disrupt = true;
  settings_.on_deadline = OnDeadline::kDelete;
  EXPECT_THAT(round_at(kSomeDeadline - seconds(1)).send, IsEmpty());
  EXPECT_THAT(round_at(kSomeDeadline).send, SizeIs(1));
}

TEST_F(DrainRounds, LooksAgainWithinTwoSecondsAndNotPastTheDeadline) {
  pods_ = {terminating(replica("web"), seconds(30))};
  EXPECT_EQ(round_at(seconds(1)).look_again, seconds(1));
  pods_ = {annotated(replica("p"), "gpuward.dev/do-not-drain", "true")};
  EXPECT_EQ(round_at(seconds(1)).look_again, milliseconds(1'500));
  EXPECT_EQ(round_at(kSomeDeadline - milliseconds(200)).look_again, milliseconds(200));
}

TEST_F(DrainRounds, SaysWhyNothingIsSent) {
  pods_ = {replica("web")};
  answer("web", fail(ErrorKind::kCancelled, "the stop switch is on"), seconds(1));
  EXPECT_EQ(round_at(seconds(1)).summary,
            "1 pod left: 1 held back (the stop switch is on): default/web");
  EXPECT_THAT(round_at(seconds(2)).send, SizeIs(1));
}

}  // namespace
}  // namespace gpuward::remediator
