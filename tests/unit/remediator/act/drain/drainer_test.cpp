// Whole drains against the fake API server.
#include "remediator/act/drain/drainer.h"

#include "tests/unit/remediator/act/drain/drain_cluster.h"

namespace gpuward::remediator {
namespace {

using fakes::FaultKind;
using std::chrono::hours;
using std::chrono::milliseconds;
using std::chrono::minutes;
using std::chrono::seconds;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

class DrainerTest : public DrainCluster {
 protected:
  DrainerTest() {
    order_.node = "gpu-01";
    order_.node_uid = add_node("gpu-01");
    order_.started_at = clock_.wall() + seconds(1);  // pods of this second are older
    order_.permit = permit_;
    order_.taints = {{"node.kubernetes.io/unschedulable", "", "NoSchedule", {}}};
  }
  DrainProgress look() {
    order_.elapsed = std::chrono::floor<milliseconds>(clock_.steady() - begun_);
    const auto progress = drainer_->advance(order_);
    EXPECT_TRUE(progress) << progress.error().message;
    return progress.value_or(DrainProgress{});
  }
  // Calls look() as often as the reconciler would, until `time` has passed or the drain is over. If
  // `ends_pods`, a kubelet ends the terminating pods.
  DrainProgress look_for(milliseconds time, bool ends_pods = true) {
    const auto end = clock_.steady() + time;
    DrainProgress progress = look();
    while (progress.verdict == DrainState::kGoingOn && clock_.steady() < end) {
      if (ends_pods) kube_.end_terminating_pods();
      clock_.advance(progress.look_again);
      progress = look();
    }
    return progress;
  }
  void restart() { drainer_ = std::make_unique<Drainer>(api_, evictor_, clock_); }

  Evictor evictor_{api_, clock_, {}, Evictor::Sending::kInCalls};
  std::unique_ptr<Drainer> drainer_ = std::make_unique<Drainer>(api_, evictor_, clock_);
  DrainRequest order_;
  Clock::Steady begun_ = clock_.steady();
};

Json job_pod(const std::string& jobset) {
  return {{"metadata", {{"labels", {{"jobset.sigs.k8s.io/jobset-name", jobset}}}}}};
}

Json gpu_pod() {
  return {
      {"spec",
       {{"containers", Json::array({{{"name", "main"},
                                     {"image", "registry.example/work:1"},
                                     {"resources", {{"limits", {{"nvidia.com/gpu", "1"}}}}}}})}}}};
}

TEST_F(DrainerTest, EmptiesTheNodeAndEndsAtTheLookAfterTheLastPodIsGone) {
  add_pod("a");
  add_pod("b");
  add_pod("elsewhere", "gpu-02");
  EXPECT_EQ(look().verdict, DrainState::kGoingOn);
  const DrainProgress terminating = look();
  EXPECT_EQ(terminating.verdict, DrainState::kGoingOn);
  EXPECT_EQ(terminating.summary, "2 pods left: 2 terminating: default/a, default/b");
  EXPECT_LE(terminating.look_again, seconds(2));
  kube_.end_terminating_pods();
  EXPECT_EQ(look().verdict, DrainState::kDone);
  EXPECT_TRUE(kube_.has(path_of("elsewhere")));
  EXPECT_EQ(drainer_->remembered(), 0U);
}

TEST_F(DrainerTest, Row13TheExactSetOfAllKinds) {
  add_pod("web");
  add_pod("agent", "gpu-01",
          {{"metadata",
            {{"ownerReferences", Json::array({{{"apiVersion", "apps/v1"},
                                               {"kind", "DaemonSet"},
                                               {"name", "ds"},
                                               {"uid", "u"},
                                               {"controller", true}}})}}}});
  add_pod(
      "static", "gpu-01",
      {{"metadata",
        {{"ownerReferences", nullptr}, {"annotations", {{"kubernetes.io/config.mirror", "x"}}}}}});
  add_pod("done", "gpu-01", {{"metadata", {{"ownerReferences", nullptr}}}});
  kube_.patch_status(path_of("done"), {{"status", {{"phase", "Succeeded"}}}});
  EXPECT_EQ(look_for(minutes(1)).verdict, DrainState::kDone);
  EXPECT_FALSE(kube_.has(path_of("web")));
  EXPECT_FALSE(kube_.has(path_of("done")));
  EXPECT_TRUE(kube_.has(path_of("agent")));
  EXPECT_TRUE(kube_.has(path_of("static")));
}

TEST_F(DrainerTest, ABudgetBlocksAndThenLetsGo) {
  add_pod("web");
  add_budget("web-pdb", "web", 0);
  const DrainProgress blocked = look_for(minutes(1));
  EXPECT_EQ(blocked.verdict, DrainState::kGoingOn);
  EXPECT_EQ(blocked.summary, "1 pod left: 1 blocked by disruption budget web-pdb: default/web");
  EXPECT_LE(evictions(), 13U);  // every 5 s, at the next look
  EXPECT_GE(evictions(), 8U);
  allow("web-pdb", 1);
  EXPECT_EQ(look_for(seconds(10)).verdict, DrainState::kDone);
}

// A real incident: for half an hour the drain tried only the GPU pod.
TEST_F(DrainerTest, ABlockedGpuPodKeepsNoOtherPodFromBeingEvicted) {
  add_pod("train", "gpu-01", gpu_pod());
  add_budget("train-pdb", "train", 0);
  for (const char* name : {"web-1", "web-2", "web-3"}) add_pod(name);
  add_pod("dns", "gpu-01", {{"spec", {{"priorityClassName", "system-cluster-critical"}}}});
  const DrainProgress progress = look_for(seconds(10));
  EXPECT_EQ(progress.verdict, DrainState::kGoingOn);
  EXPECT_EQ(progress.summary,
            "1 pod left: 1 blocked by disruption budget train-pdb: default/train");
  for (const char* name : {"web-1", "web-2", "web-3", "dns"})
    EXPECT_FALSE(kube_.has(path_of(name)));
  EXPECT_TRUE(kube_.has(path_of("train")));
}

TEST_F(DrainerTest, IsToldAsHeldOnceAndNotAtOnce) {
  add_pod("web");
  add_budget("web-pdb", "web", 0);
  int told = 0;
  for (int i = 0; i < 60; ++i) {
    const bool is_notified = look().is_newly_held;
    EXPECT_TRUE(!is_notified || i >= 30) << i;
    told += is_notified ? 1 : 0;
    clock_.advance(seconds(1));
  }
  EXPECT_EQ(told, 1);
}

TEST_F(DrainerTest, Row9TwoBudgetsAreToldAndTriedOncePerTenSeconds) {
  add_pod("web");
  add_budget("one", "web", 1);
  add_budget("two", "web", 1);
  const DrainProgress progress = look_for(minutes(1));
  EXPECT_THAT(progress.summary, HasSubstr("1 with more than one disruption budget: default/web"));
  EXPECT_THAT(progress.left, ElementsAre("default/web"));
  EXPECT_LE(evictions(), 7U);
  EXPECT_GE(evictions(), 5U);
}

TEST_F(DrainerTest, Row10ABudgetThatBlocksForEverEndsInAFailureWithNames) {
  add_pod("web");
  add_pod("api");
  add_budget("web-pdb", "web", 0);
  const DrainProgress progress = look_for(hours(1));
  EXPECT_EQ(progress.verdict, DrainState::kFailed);
  EXPECT_THAT(progress.left, ElementsAre("default/web"));
  EXPECT_EQ(clock_.steady(), begun_ + minutes(30));
  EXPECT_TRUE(kube_.has(path_of("web")));
  EXPECT_EQ(deletions(), 0U);
}

TEST_F(DrainerTest, DeletesAfterTheDeadlineByPolicyOnlyAndUnderTheUid) {
  const std::string uid = add_pod("web");
  add_budget("web-pdb", "web", 0);
  order_.settings.deadline = minutes(2);
  order_.settings.on_deadline = OnDeadline::kDelete;
  const DrainProgress progress = look_for(minutes(3));
  EXPECT_EQ(progress.verdict, DrainState::kDone);
  const auto sent = kube_.requests("DELETE", kPodsPath);
  ASSERT_THAT(sent, SizeIs(1));
  EXPECT_THAT(sent[0].body, HasSubstr(uid));
  EXPECT_THAT(sent[0].body, HasSubstr("\"gracePeriodSeconds\":30"));
}

TEST_F(DrainerTest, Row11AnOverloadSlowsAllDownAndABudgetDoesNot) {
  for (const char* name : {"a", "b", "c"}) add_pod(name);
  kube_.add_fault({.kind = FaultKind::kOverloaded, .method = "POST", .retry_after = seconds(3)});
  static_cast<void>(look());
  EXPECT_EQ(evictions(), 1U);
  clock_.advance(milliseconds(2'900));
  static_cast<void>(evictor_.collect("another node"));
  EXPECT_EQ(evictions(), 1U);
  clock_.advance(milliseconds(200));
  static_cast<void>(look());
  EXPECT_GE(evictions(), 3U);
}

// A removal may wait for minutes for the rate that all drains share.
TEST_F(DrainerTest, SendsNoRemovalThatWaitsOnceItsOwnerForbidsIt) {
  for (const char* name : {"a", "b", "c"}) add_pod(name);
  evictor_.set_rate({.per_second = 0.1, .burst = 1});
  static_cast<void>(look());
  ASSERT_EQ(evictions(), 1U);
  for (const char* name : {"b", "c"})
    kube_.patch(path_of(name),
                {{"metadata", {{"annotations", {{"gpuward.dev/do-not-drain", "yes"}}}}}});
  static_cast<void>(look());

  clock_.advance(minutes(1));
  static_cast<void>(look_for(minutes(1)));

  EXPECT_EQ(evictions(), 1U);
  EXPECT_TRUE(kube_.has(path_of("b")));
  EXPECT_TRUE(kube_.has(path_of("c")));
}

// Each look requests the removal again.
TEST_F(DrainerTest, SendsARemovalThatWaitsForMinutesAlsoAfterTheDeadline) {
  for (const char* name : {"a", "b"}) add_pod(name);
  evictor_.set_rate({.per_second = 0.005, .burst = 1});
  order_.settings.deadline = seconds(60);
  order_.settings.on_deadline = OnDeadline::kDelete;

  EXPECT_EQ(look_for(minutes(5)).verdict, DrainState::kDone);

  EXPECT_FALSE(kube_.has(path_of("b")));
}

TEST_F(DrainerTest, Row12APodThatCameInTheMeantimeIsJudgedByItself) {
  add_pod("web");
  add_budget("web-pdb", "web", 0);
  static_cast<void>(look());
  kube_.remove(path_of("web"));
  add_pod("web", "gpu-02");
  allow("web-pdb", 1);
  clock_.advance(seconds(6));
  EXPECT_EQ(look().verdict, DrainState::kDone);
  EXPECT_TRUE(kube_.has(path_of("web")));
}

TEST_F(DrainerTest, Row17OneBadPodAndNoEvictionIsSent) {
  add_pod("web");
  add_pod("shell", "gpu-01", {{"metadata", {{"ownerReferences", nullptr}}}});
  const DrainProgress progress = look();
  EXPECT_EQ(progress.verdict, DrainState::kFailed);
  EXPECT_THAT(progress.left, ElementsAre("default/shell"));
  EXPECT_EQ(evictions(), 0U);
}

TEST_F(DrainerTest, Row58TheStopSwitchEndsItInTheMiddle) {
  for (int i = 0; i < 20; ++i) add_pod("web-" + std::to_string(i));
  evictor_.set_rate({.per_second = 5, .burst = 5, .most_in_flight = 4});
  static_cast<void>(look());
  clock_.advance(seconds(1));
  static_cast<void>(look());
  EXPECT_EQ(evictions(), 10U);
  may_send_ = false;
  kube_.end_terminating_pods();
  const DrainProgress held = look_for(minutes(2));
  EXPECT_EQ(held.verdict, DrainState::kGoingOn);
  EXPECT_THAT(held.summary, HasSubstr("10 held back (the stop switch is on)"));
  EXPECT_EQ(evictions(), 10U);
  may_send_ = true;
  EXPECT_EQ(look_for(minutes(2)).verdict, DrainState::kDone);
}

TEST_F(DrainerTest, Row23TellsEachJobOnceAndSendsItsPodsTogether) {
  for (const char* name : {"w0", "w1", "w2"}) add_pod(name, "gpu-01", job_pod("train"));
  add_pod("web");
  const DrainProgress first = look();
  ASSERT_THAT(first.starting_jobs, SizeIs(1));
  EXPECT_EQ(first.starting_jobs[0].name, "JobSet default/train");
  EXPECT_EQ(first.starting_jobs[0].pods, 3U);
  EXPECT_EQ(evictions(), 3U);
  EXPECT_THAT(look().starting_jobs, IsEmpty());
  EXPECT_EQ(look_for(minutes(1)).verdict, DrainState::kDone);
}

TEST_F(DrainerTest, Row23AJobWhosePodIsTriedAgainIsNotToldAgain) {
  add_pod("w0", "gpu-01", job_pod("train"));
  add_budget("pdb", "w0", 0);
  EXPECT_THAT(look().starting_jobs, SizeIs(1));
  static_cast<void>(look());
  clock_.advance(seconds(6));
  EXPECT_THAT(look().starting_jobs, IsEmpty());
  EXPECT_EQ(evictions(), 2U);
}

TEST_F(DrainerTest, NothingIsSentAfterTheDrainHasFailed) {
  for (int i = 0; i < 5; ++i) add_pod("web-" + std::to_string(i));
  evictor_.set_rate({.per_second = 0.001, .burst = 1, .most_in_flight = 1});
  order_.settings.deadline = minutes(2);
  EXPECT_EQ(look_for(minutes(3)).verdict, DrainState::kFailed);
  const std::size_t before = evictions();
  evictor_.set_rate({});
  clock_.advance(hours(1));
  static_cast<void>(evictor_.collect("another node"));
  EXPECT_EQ(evictions(), before);
}

TEST_F(DrainerTest, AnotherDrainOfTheNodeHasADeadlineOfItsOwn) {
  add_pod("web");
  add_budget("web-pdb", "web", 0);
  order_.settings.deadline = minutes(3);
  static_cast<void>(look_for(minutes(2)));
  order_.started_at = clock_.wall();
  begun_ = clock_.steady();
  EXPECT_EQ(look_for(minutes(2)).verdict, DrainState::kGoingOn);
}

TEST_F(DrainerTest, TwoHundredPodsAreGoneAtTheRate) {
  for (int i = 0; i < 200; ++i) add_pod("web-" + std::to_string(i));
  const DrainProgress progress = look_for(minutes(10));
  EXPECT_EQ(progress.verdict, DrainState::kDone);
  EXPECT_EQ(evictions(), 200U);
  EXPECT_LE(clock_.steady() - begun_, seconds(10));  // 50 at once, then 50 a second
}

TEST_F(DrainerTest, ARestartGoesOnWithTheSameDeadline) {
  add_pod("web");
  add_budget("web-pdb", "web", 0);
  order_.settings.deadline = minutes(3);
  static_cast<void>(look_for(minutes(2)));
  restart();
  EXPECT_EQ(look().verdict, DrainState::kGoingOn);
  clock_.advance(minutes(2));
  EXPECT_EQ(look().verdict, DrainState::kFailed);
}

TEST_F(DrainerTest, AJumpOfTheWallClockBringsNoDeadline) {
  add_pod("web");
  add_budget("web-pdb", "web", 0);
  order_.settings.on_deadline = OnDeadline::kDelete;
  static_cast<void>(look());
  clock_.jump_wall(hours(3));
  static_cast<void>(look());
  clock_.advance(seconds(1));
  EXPECT_EQ(look().verdict, DrainState::kGoingOn);
  EXPECT_EQ(deletions(), 0U);
}

TEST_F(DrainerTest, AnotherNodeOfTheNameStartsAnew) {
  add_pod("web");
  add_budget("web-pdb", "web", 0);
  static_cast<void>(look());
  order_.node_uid = "another-uid";
  static_cast<void>(look());
  EXPECT_EQ(evictions(), 2U) << "what is known of the old node's pods counts no more";
}

// The list has the pods of any node with this name.
TEST_F(DrainerTest, IsNeitherDoneNorFailedByThePodsOfAnotherNode) {
  for (const bool is_there : {true, false}) {
    kube_.remove("/api/v1/nodes/gpu-01");
    if (is_there) static_cast<void>(add_node("gpu-01"));
    const auto empty = drainer_->advance(order_);
    ASSERT_FALSE(empty);
    EXPECT_EQ(empty.error().kind, ErrorKind::kConflict);
    EXPECT_THAT(empty.error().message, HasSubstr(is_there ? "a different node" : "gone"));
  }
  static_cast<void>(add_node("gpu-01"));
  add_pod("bare", "gpu-01", {{"metadata", {{"ownerReferences", nullptr}}}});
  EXPECT_FALSE(drainer_->advance(order_));
}

// The drainer reads the node after the list, so that it sends no pod of another node with this
// name.
TEST_F(DrainerTest, ReadsTheNodeOnceTheListIsComplete) {
  add_pod("web");
  ASSERT_EQ(look_for(minutes(1)).verdict, DrainState::kDone);

  std::vector<std::string> read;
  for (const auto& request : kube_.requests("GET", "/api/v1/")) read.push_back(request.path);
  ASSERT_THAT(read, SizeIs(::testing::Ge(2U)));
  EXPECT_EQ(read.back(), "/api/v1/nodes/gpu-01");
}

TEST_F(DrainerTest, EachEvictionIsBoundToTheUidOfItsPod) {
  const std::string first = add_pod("a"), second = add_pod("b");
  static_cast<void>(look());

  const auto sent = kube_.requests("POST", kPodsPath);
  ASSERT_THAT(sent, SizeIs(2));
  EXPECT_THAT(sent[0].body, HasSubstr("\"preconditions\":{\"uid\":\"" + first));
  EXPECT_THAT(sent[1].body, HasSubstr("\"preconditions\":{\"uid\":\"" + second));
}

TEST_F(DrainerTest, APodThatCannotBeListedIsNotGone) {
  add_pod("web");
  kube_.add_fault({.kind = FaultKind::kForbidden, .method = "GET", .times = 2});
  const auto progress = drainer_->advance(order_);
  ASSERT_FALSE(progress);
  EXPECT_THAT(progress.error().message, HasSubstr("pods of node gpu-01"));
  EXPECT_EQ(evictions(), 0U);
  EXPECT_EQ(look_for(minutes(1)).verdict, DrainState::kDone);
}

// A server's cache that has not changed since the first request to it.
class StandingCache final : public http::Client {
 public:
  explicit StandingCache(http::Client& behind) : behind_(behind) {}
  Result<http::ClientResponse> send(const http::ClientRequest& request) override {
    if (!request.url.contains("resourceVersionMatch=NotOlderThan")) return behind_.send(request);
    if (!request.url.contains("resourceVersion=0&")) asked_for_newer = true;
    if (!shown_) shown_ = behind_.send(request);
    return *shown_;
  }
  Result<http::ClientResponse> stream(const http::ClientRequest& request, milliseconds idle,
                                      std::stop_token stop,
                                      const std::function<bool(std::string_view)>& on) override {
    return behind_.stream(request, idle, stop, on);
  }
  bool asked_for_newer = false;

 private:
  http::Client& behind_;
  std::optional<Result<http::ClientResponse>> shown_;
};

class DrainByCache : public DrainerTest {
 protected:
  std::size_t lists_of_store() {
    return static_cast<std::size_t>(std::ranges::count_if(
        kube_.requests("GET", "/api/v1/pods"),
        [](const auto& request) { return !request.query.contains("resourceVersion"); }));
  }
  StandingCache standing_{http_};
  kube::Api cached_api_{options(), standing_, credentials_, clock_};
  Drainer by_standing_cache_{cached_api_, evictor_, clock_};
};

TEST_F(DrainByCache, AsksTheStoreForNothingIfItSeesItsOwnRemovals) {
  for (const char* name : {"a", "b", "c"}) add_pod(name);
  EXPECT_EQ(look_for(minutes(1)).verdict, DrainState::kDone);
  EXPECT_EQ(lists_of_store(), 0U);
  EXPECT_THAT(kube_.requests("GET", "/api/v1/pods"), SizeIs(::testing::Ge(2U)));
}

TEST_F(DrainByCache, IsNotOverByTheWordOfACacheThatMayBeOlderThanThePods) {
  EXPECT_EQ(by_standing_cache_.advance(order_)->verdict, DrainState::kDone);
  EXPECT_EQ(lists_of_store(), 1U);
  add_pod("a");
  const auto progress = by_standing_cache_.advance(order_);
  ASSERT_TRUE(progress);
  EXPECT_EQ(progress->verdict, DrainState::kGoingOn);
  EXPECT_EQ(evictions(), 1U);
}

TEST_F(DrainByCache, FailsByTheWordOfTheStoreOnly) {
  add_pod("bare", "gpu-01", {{"metadata", {{"ownerReferences", nullptr}}}});
  EXPECT_EQ(by_standing_cache_.advance(order_)->verdict, DrainState::kFailed);
  kube_.remove(path_of("bare"));
  EXPECT_EQ(by_standing_cache_.advance(order_)->verdict, DrainState::kDone);
}

TEST_F(DrainByCache, NeverGoesBackInTime) {
  add_pod("a");
  ASSERT_TRUE(by_standing_cache_.advance(order_));
  clock_.advance(seconds(2));
  ASSERT_TRUE(by_standing_cache_.advance(order_));
  EXPECT_TRUE(standing_.asked_for_newer);
}

TEST_F(DrainByCache, AsksTheStoreIfTheCacheDoesNotAnswer) {
  add_pod("a");
  kube_.add_fault({.kind = FaultKind::kForbidden, .method = "GET"});
  EXPECT_EQ(look_for(minutes(1)).verdict, DrainState::kDone);
  EXPECT_EQ(lists_of_store(), 1U);
}

TEST_F(DrainerTest, ForgetsNodesThatNobodyAsksAbout) {
  add_pod("web");
  add_budget("web-pdb", "web", 0);
  static_cast<void>(look());
  EXPECT_EQ(drainer_->remembered(), 1U);
  clock_.advance(minutes(10) + seconds(1));
  order_.node = "gpu-02";
  order_.node_uid = add_node("gpu-02");
  static_cast<void>(look());
  EXPECT_EQ(drainer_->remembered(), 0U) << "the one is old, the other is done";
}

TEST_F(DrainerTest, WhatIsCalledOffIsNotSent) {
  for (int i = 0; i < 5; ++i) add_pod("web-" + std::to_string(i));
  evictor_.set_rate({.per_second = 1, .burst = 1, .most_in_flight = 1});
  static_cast<void>(look());
  drainer_->forget("gpu-01");
  clock_.advance(minutes(1));
  static_cast<void>(evictor_.collect("gpu-01"));
  EXPECT_EQ(evictions(), 1U);
  EXPECT_EQ(drainer_->remembered(), 0U);
}

// The policy first deletes the pods, and then evicts them. No deletion that still waits may be
// sent.
TEST_F(DrainerTest, WhatIsToBeEvictedNowIsNotDeleted) {
  for (int i = 0; i < 3; ++i) add_pod("web-" + std::to_string(i));
  add_budget("web-pdb", "web", 0);
  evictor_.set_rate({.per_second = 0.1, .burst = 1, .most_in_flight = 1});
  order_.settings.namespaces = {{.name = "default", .mode = NamespaceMode::kDelete, .up_to = {}}};
  static_cast<void>(look());
  ASSERT_EQ(kube_.requests("DELETE", kPodsPath).size(), 1U);

  order_.settings.namespaces.clear();
  static_cast<void>(look_for(minutes(2)));

  EXPECT_EQ(kube_.requests("DELETE", kPodsPath).size(), 1U);
}

TEST_F(DrainerTest, TheSummaryIsTheSameWhileNothingChanges) {
  add_pod("web");
  add_budget("web-pdb", "web", 0);
  static_cast<void>(look());
  const std::string summary = look_for(seconds(2)).summary;
  for (int i = 0; i < 60; ++i) {
    clock_.advance(seconds(1));
    EXPECT_EQ(look().summary, summary);
  }
}

TEST_F(DrainerTest, IsLookedAtSeldomIfItWillBeToldOfItsAnswers) {
  evictor_.set_on_answered([](const std::string&) {});
  evictor_.set_rate({.per_second = 1, .burst = 1, .most_in_flight = 1});
  order_.settings.deadline = seconds(65);
  add_pod("a");
  add_pod("b");
  EXPECT_EQ(look().look_again, seconds(60));
  clock_.advance(milliseconds(500));
  EXPECT_EQ(look().look_again, seconds(60));
  // The next look is not after the deadline.
  evictor_.set_rate({.per_second = 0.001, .burst = 1, .most_in_flight = 1});
  clock_.advance(milliseconds(54'500));
  EXPECT_EQ(look().look_again, seconds(10));
}

TEST_F(DrainerTest, ManyDrainsAreEachLookedAtLessOften) {
  evictor_.set_rate({.per_second = 10'000, .burst = 1'000, .most_in_flight = 1});
  clock_.advance(seconds(1));
  add_pod("web");
  add_budget("web-pdb", "web", 0);
  for (int i = 0; i < 250; ++i) {
    const std::string name = "n" + std::to_string(i);
    add_pod(name, name);
    order_.node = name;
    static_cast<void>(look());
  }
  order_.node = "gpu-01";
  const milliseconds between = look().look_again;
  EXPECT_GE(between, milliseconds(5'000));
  EXPECT_LE(between, milliseconds(5'100));
  // The drain does not end while its own pods wait for the rate that all drains share.
  evictor_.set_rate({.per_second = 1, .burst = 1, .most_in_flight = 1});
  add_pod("b");
  add_pod("c");
  EXPECT_GE(look().look_again, milliseconds(20'000));
}

// ---- Pods that come while or after the node is drained

class Newcomers : public DrainerTest {
 protected:
  Newcomers() { clock_.advance(seconds(5)); }
  // Starts the drain after all pods that exist now.
  void begin_now() {
    clock_.advance(seconds(2));
    order_.started_at = clock_.wall();
    begun_ = clock_.steady();
    clock_.advance(seconds(2));
  }
  static Json tolerating(Json pod = Json::object()) {
    pod["spec"]["tolerations"] = Json::array({{{"operator", "Exists"}}});
    return pod;
  }
  Result<std::optional<DrainUndone>> undone() { return drainer_->undone(order_, accepted_until_); }
  std::optional<kube::WallTime> accepted_until_;
};

// The pod's Deployment replaces it at once.
TEST_F(Newcomers, OfATolerantOwnerAreLeftAndNamed) {
  add_pod("agent-0", "gpu-01", tolerating());
  begin_now();
  int made = 0;
  DrainProgress progress = look();
  for (int i = 0; i < 120 && progress.verdict == DrainState::kGoingOn; ++i) {
    kube_.end_terminating_pods();
    if (!kube_.has(path_of("agent-" + std::to_string(made))))
      add_pod("agent-" + std::to_string(++made), "gpu-01", tolerating());
    clock_.advance(seconds(1));
    progress = look();
  }
  EXPECT_EQ(progress.verdict, DrainState::kDone);
  EXPECT_THAT(progress.summary, HasSubstr("tolerate the node's taints (default/agent-1)"));
  EXPECT_EQ(evictions(), 1U);
}

// The limit holds over changes of the leader too.
TEST_F(Newcomers, WithGpusAreEvictedAFewTimesAndThenWaitedFor) {
  int made = 0;
  const auto come_back = [&] {
    if (!kube_.has(path_of("train-" + std::to_string(made))))
      add_pod("train-" + std::to_string(++made), "gpu-01", tolerating(gpu_pod()));
  };
  DrainProgress progress;
  for (int i = 0; i < 120; ++i) {
    come_back();
    progress = look();
    order_.again = progress.again;
    kube_.end_terminating_pods();
    if (i % 7 == 0) restart();
    clock_.advance(seconds(1));
  }
  EXPECT_EQ(progress.verdict, DrainState::kGoingOn);
  EXPECT_LE(evictions(), 3U);
  EXPECT_THAT(progress.summary, HasSubstr("not to be evicted (created after the drain began"));
  EXPECT_THAT(progress.left, SizeIs(1));
}

// The API server refuses the record each time.
TEST_F(Newcomers, AreCountedThoughTheRecordIsNotWritten) {
  for (int i = 0; i < 10; ++i) {
    add_pod("train-" + std::to_string(i), "gpu-01", tolerating(gpu_pod()));
    static_cast<void>(look());
    kube_.end_terminating_pods();
    clock_.advance(seconds(1));
  }
  EXPECT_LE(evictions(), 3U);
}

// The drain sent their removals, and the API server evicted no pod.
TEST_F(Newcomers, ThatABudgetHeldBackAreEvictedOnceItAllowsThat) {
  for (int i = 0; i < 3; ++i) {
    add_pod("train-" + std::to_string(i), "gpu-01", tolerating(gpu_pod()));
    add_budget("keep-" + std::to_string(i), "train-" + std::to_string(i), 0);
  }
  for (int i = 0; i < 60; ++i) {
    order_.again = look().again;
    clock_.advance(seconds(1));
  }
  EXPECT_THAT(order_.again, IsEmpty());
  restart();
  for (int i = 0; i < 3; ++i)
    kube_.remove("/apis/policy/v1/namespaces/default/poddisruptionbudgets/keep-" +
                 std::to_string(i));
  for (int i = 0; i < 60; ++i) {
    order_.again = look().again;
    kube_.end_terminating_pods();
    clock_.advance(seconds(1));
  }
  EXPECT_FALSE(kube_.has(path_of("train-0")));
  EXPECT_FALSE(kube_.has(path_of("train-2")));
}

// The API server refuses three pods of a job of eight at the first try.
TEST_F(Newcomers, OfAJobOfWhichSomeWereHeldBackAreEvictedOnceTheirBudgetAllowsThat) {
  for (int i = 0; i < 8; ++i) {
    const std::string name = "rank-" + std::to_string(i);
    Json pod = tolerating(gpu_pod());
    pod["metadata"]["labels"]["batch.kubernetes.io/job-name"] = "train";
    add_pod(name, "gpu-01", pod);
    if (i < 3) add_budget("keep-" + std::to_string(i), name, 0);
  }
  const auto pass = [&](int looks) {
    for (int i = 0; i < looks; ++i) {
      order_.again = look().again;
      kube_.end_terminating_pods();
      clock_.advance(seconds(1));
    }
  };
  pass(30);
  EXPECT_TRUE(kube_.has(path_of("rank-0")));
  EXPECT_FALSE(kube_.has(path_of("rank-7")));
  for (int i = 0; i < 3; ++i) allow("keep-" + std::to_string(i), 1);
  pass(30);
  EXPECT_FALSE(kube_.has(path_of("rank-0")));
  EXPECT_FALSE(kube_.has(path_of("rank-2")));
}

// The answers come at the look that ends the drain, which lists the pods twice.
TEST_F(Newcomers, ThatABudgetHoldsBackAtTheDeadlineHoldUpNoDrainThatProceeds) {
  order_.settings.on_deadline = OnDeadline::kProceed;
  clock_.advance(minutes(29));
  for (int i = 0; i < 3; ++i) {
    add_pod("train-" + std::to_string(i), "gpu-01", tolerating(gpu_pod()));
    add_budget("keep-" + std::to_string(i), "train-" + std::to_string(i), 0);
  }
  order_.again = look().again;
  ASSERT_THAT(order_.again, SizeIs(1));
  clock_.advance(minutes(2));
  EXPECT_EQ(look().verdict, DrainState::kDone);
}

TEST_F(Newcomers, ThatMayNotBeEvictedStopNoDrainOfTheOthers) {
  add_pod("web");
  begin_now();
  add_pod("node-debugger", "gpu-01", {{"metadata", {{"ownerReferences", nullptr}}}});
  const DrainProgress progress = look_for(minutes(1));
  EXPECT_EQ(progress.verdict, DrainState::kGoingOn);
  EXPECT_THAT(progress.left, ElementsAre("default/node-debugger"));
  EXPECT_THAT(progress.summary, HasSubstr("no controller would recreate it"));
  const DrainProgress late = look_for(minutes(31));
  EXPECT_EQ(late.verdict, DrainState::kFailed);
  EXPECT_TRUE(kube_.has(path_of("node-debugger")));
}

TEST_F(Newcomers, AfterTheDrainUndoIt) {
  add_pod("agent", "gpu-01", tolerating());
  ASSERT_TRUE(undone());
  EXPECT_FALSE(*undone()) << "it may stay, and nothing protects it";
  EXPECT_EQ(kube_.requests("POST", kPodsPath).size(), 2U);
  EXPECT_TRUE(kube_.has(path_of("agent"))) << "a dry run";

  add_pod("train", "gpu-01", tolerating(gpu_pod()));
  const auto came = undone();
  ASSERT_TRUE(came && *came);
  EXPECT_TRUE((*came)->can_be_drained);
  EXPECT_THAT((*came)->summary, HasSubstr("default/train"));
}

TEST_F(Newcomers, ThatABudgetProtectsMakeTheNextStepWait) {
  add_pod("agent", "gpu-01", tolerating());
  add_budget("keep", "agent", 0);

  const auto came = undone();

  ASSERT_TRUE(came && *came);
  EXPECT_FALSE((*came)->can_be_drained);
  EXPECT_THAT((*came)->summary, HasSubstr("default/agent"));
  EXPECT_TRUE(kube_.has(path_of("agent")));
}

TEST_F(Newcomers, DoNotCountOnceTheyHaveEnded) {
  add_pod("job", "gpu-01", gpu_pod());
  kube_.patch_status(path_of("job"), {{"status", {{"phase", "Succeeded"}}}});

  const auto came = undone();

  ASSERT_TRUE(came);
  EXPECT_FALSE(*came);
}

// The policy lets the plan continue without the pods that the deadline left, and only without
// those.
TEST_F(Newcomers, AreToldFromThoseThatTheDeadlineLeft) {
  add_pod("stuck");
  clock_.advance(seconds(1));
  accepted_until_ = clock_.wall();
  ASSERT_TRUE(undone());
  EXPECT_FALSE(*undone());

  kube_.patch(path_of("stuck"),
              {{"metadata", {{"annotations", {{"gpuward.dev/do-not-drain", "yes"}}}}}});
  const auto protects = undone();
  ASSERT_TRUE(protects && *protects) << "it asks to be spared since";
  kube_.patch(path_of("stuck"),
              {{"metadata", {{"annotations", {{"gpuward.dev/do-not-drain", nullptr}}}}}});

  clock_.advance(seconds(2));
  add_pod("late", "gpu-01", gpu_pod());
  const auto came = undone();
  ASSERT_TRUE(came && *came);
  EXPECT_THAT((*came)->summary, HasSubstr("default/late"));
}

}  // namespace
}  // namespace gpuward::remediator
