#include "remediator/act/drain/evictor.h"

#include <condition_variable>
#include <mutex>
#include <stdexcept>

#include "tests/unit/remediator/act/drain/drain_cluster.h"

namespace gpuward::remediator {
namespace {

using fakes::FaultKind;
using std::chrono::milliseconds;
using std::chrono::seconds;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

constexpr const char* kSomeNode = "gpu-01";

Removal removal_of_pod(const std::string& name, const std::string& uid,
                       RemovalWay way = RemovalWay::kEvict) {
  Removal removal{.way = way, .pod = {"default", name, uid, std::nullopt}, .job = {}};
  removal.pod.once = true;
  return removal;
}

// Sends within submit() and collect(), on the test's own thread.
class EvictorInCalls : public DrainCluster {
 protected:
  Removal pod(const std::string& name) { return removal_of_pod(name, add_pod(name)); }
  // Returns the outcome as an answer; kNone if there is none yet.
  RemovalAnswer outcome() {
    const auto outcomes = evictor_.collect(kSomeNode);
    return outcomes.size() == 1 ? answer_of(outcomes[0].status) : RemovalAnswer::kNone;
  }
  Evictor evictor_{api_,
                   clock_,
                   {.per_second = 10, .burst = 2, .most_in_flight = 4},
                   Evictor::Sending::kInCalls};
};

TEST_F(EvictorInCalls, EvictsUnderTheUid) {
  const Removal removal = pod("web");
  ASSERT_TRUE(evictor_.submit(kSomeNode, removal, permit_));
  EXPECT_EQ(outcome(), RemovalAnswer::kAccepted);
  EXPECT_TRUE(api_.get_pod("default", "web")->meta.deleting);
  EXPECT_EQ(evictions(), 1U);
  EXPECT_EQ(outcome(), RemovalAnswer::kNone) << "each outcome once";
}

// A removal by name alone could hit the pod that has replaced it.
TEST_F(EvictorInCalls, SendsNothingForAPodWithoutAUid) {
  Removal removal = pod("web");
  removal.pod.uid.clear();
  ASSERT_TRUE(evictor_.submit(kSomeNode, removal, permit_));
  EXPECT_EQ(outcome(), RemovalAnswer::kFailed);
  EXPECT_EQ(evictions(), 0U);
}

// The API server may have asked for a pause of an hour, in which no look was possible.
TEST_F(EvictorInCalls, SendsNothingThatNoLookHasWantedForMinutes) {
  evictor_.set_rate({.per_second = 0.1, .burst = 1});
  const Removal first = pod("a"), second = pod("b"), third = pod("c");
  for (const Removal& one : {first, second, third})
    ASSERT_TRUE(evictor_.submit(kSomeNode, one, permit_));
  ASSERT_THAT(evictor_.collect(kSomeNode), SizeIs(1));
  EXPECT_THAT(evictor_.withdraw(kSomeNode,
                                [&](const Removal& one) { return one.pod.uid == second.pod.uid; }),
              ElementsAre(third.pod.uid));

  clock_.advance(seconds(181));

  EXPECT_EQ(outcome(), RemovalAnswer::kStopped);
  EXPECT_EQ(evictions(), 1U);
  EXPECT_FALSE(evictor_.has_unanswered(kSomeNode));
  ASSERT_TRUE(evictor_.submit(kSomeNode, second, permit_));
}

TEST_F(EvictorInCalls, TellsOnceWhenTheLastOfANodeIsAnswered) {
  std::vector<std::string> told;
  evictor_.set_on_answered([&](const std::string& node) { told.push_back(node); });
  for (const char* name : {"a", "b", "c", "d"})  // the burst is two
    ASSERT_TRUE(evictor_.submit(kSomeNode, pod(name), permit_));
  EXPECT_TRUE(evictor_.has_unanswered(kSomeNode));
  told.clear();
  clock_.advance(seconds(1));
  EXPECT_THAT(evictor_.collect(kSomeNode), SizeIs(4));
  EXPECT_FALSE(evictor_.has_unanswered(kSomeNode));
  EXPECT_THAT(told, ElementsAre(kSomeNode));
}

TEST_F(EvictorInCalls, TellsAlsoIfWhatWaitedIsDropped) {
  int told = 0;
  evictor_.set_on_answered([&](const std::string&) { ++told; });
  const Permit no = [] { return Status(fail(ErrorKind::kCancelled, "stop")); };
  ASSERT_TRUE(evictor_.submit(kSomeNode, pod("a"), no));
  EXPECT_EQ(told, 1);
  EXPECT_FALSE(evictor_.has_unanswered(kSomeNode));
}

TEST_F(EvictorInCalls, DeletesIfItIsToldTo) {
  Removal removal = pod("web");
  removal.way = RemovalWay::kDelete;
  removal.pod.grace_period_seconds = 1;
  ASSERT_TRUE(evictor_.submit(kSomeNode, removal, permit_));
  EXPECT_EQ(outcome(), RemovalAnswer::kAccepted);
  EXPECT_EQ(evictions(), 0U);
  EXPECT_EQ(deletions(), 1U);
}

TEST_F(EvictorInCalls, Row12AnotherPodOfTheNameIsLeftAlone) {
  Removal removal = pod("web");
  kube_.remove(path_of("web"));
  add_pod("web");
  ASSERT_TRUE(evictor_.submit(kSomeNode, removal, permit_));
  EXPECT_EQ(outcome(), RemovalAnswer::kGone);
  EXPECT_FALSE(api_.get_pod("default", "web")->meta.deleting);
}

TEST_F(EvictorInCalls, Row9AFailureInsideASuccessIsOne) {
  const Removal removal = pod("web");
  kube_.add_fault({.kind = FaultKind::kFailureInside, .method = "POST"});
  ASSERT_TRUE(evictor_.submit(kSomeNode, removal, permit_));
  EXPECT_NE(outcome(), RemovalAnswer::kAccepted);
  EXPECT_FALSE(api_.get_pod("default", "web")->meta.deleting);
}

TEST_F(EvictorInCalls, SendsNothingWithoutLeave) {
  may_send_ = false;
  ASSERT_TRUE(evictor_.submit(kSomeNode, pod("web"), permit_));
  EXPECT_EQ(outcome(), RemovalAnswer::kStopped);
  EXPECT_EQ(evictions(), 0U);
}

TEST_F(EvictorInCalls, APermitThatThrowsIsANo) {
  ASSERT_TRUE(evictor_.submit(kSomeNode, pod("web"),
                              []() -> Status { throw std::runtime_error("broken"); }));
  EXPECT_EQ(outcome(), RemovalAnswer::kFailed);
  EXPECT_EQ(evictions(), 0U);
}

TEST_F(EvictorInCalls, AsksBeforeEveryCallAndDropsTheRestAfterANo) {
  const auto once = [this]() -> Status {
    if (asked_++ == 0) return {};
    return fail(ErrorKind::kCancelled, "stopped");
  };
  const auto no = []() -> Status { return fail(ErrorKind::kCancelled, "stopped"); };
  for (const char* name : {"x", "y"})
    ASSERT_TRUE(evictor_.submit("gpu-02", pod(name), no));  // the burst
  for (const char* name : {"a", "b", "c", "d"})
    ASSERT_TRUE(evictor_.submit(kSomeNode, pod(name), once));
  clock_.advance(seconds(10));
  EXPECT_THAT(evictor_.collect(kSomeNode), SizeIs(4));
  EXPECT_EQ(evictions(), 1U);
  EXPECT_EQ(asked_, 2);
}

TEST_F(EvictorInCalls, ANoForOneNodeLeavesTheOthers) {
  const Removal here = pod("here");
  const Removal there = pod("there");
  const auto no = []() -> Status { return fail(ErrorKind::kCancelled, "stopped"); };
  ASSERT_TRUE(evictor_.submit(kSomeNode, here, no));
  ASSERT_TRUE(evictor_.submit("gpu-02", there, permit_));
  EXPECT_EQ(outcome(), RemovalAnswer::kStopped);
  EXPECT_THAT(evictor_.collect("gpu-02"), SizeIs(1));
  EXPECT_EQ(evictions(), 1U);
}

TEST_F(EvictorInCalls, KeepsTheRate) {
  for (int i = 0; i < 12; ++i)
    ASSERT_TRUE(evictor_.submit(kSomeNode, pod("web-" + std::to_string(i)), permit_));
  EXPECT_EQ(evictions(), 2U);  // the burst
  clock_.advance(milliseconds(501));
  EXPECT_THAT(evictor_.collect(kSomeNode), SizeIs(4));
  EXPECT_EQ(evictions(), 4U);  // the burst is the limit, however much time has passed
  evictor_.set_rate({.per_second = 1000, .burst = 100, .most_in_flight = 4});
  clock_.advance(seconds(1));
  EXPECT_THAT(evictor_.collect(kSomeNode), SizeIs(8));
}

TEST_F(EvictorInCalls, TakesAPodOnceWhileItWaits) {
  ASSERT_TRUE(evictor_.submit(kSomeNode, pod("a"), permit_));
  ASSERT_TRUE(evictor_.submit(kSomeNode, pod("b"), permit_));
  const Removal waits = pod("c");
  ASSERT_TRUE(evictor_.submit(kSomeNode, waits, permit_));
  EXPECT_FALSE(evictor_.submit(kSomeNode, waits, permit_));
  clock_.advance(seconds(1));
  EXPECT_THAT(evictor_.collect(kSomeNode), SizeIs(3));
  EXPECT_TRUE(evictor_.submit(kSomeNode, waits, permit_));
}

TEST_F(EvictorInCalls, Row11AnOverloadPausesAllAndABudgetNobody) {
  const Removal first = pod("first");
  const Removal second = pod("second");
  kube_.add_fault({.kind = FaultKind::kOverloaded, .method = "POST", .retry_after = seconds(3)});
  ASSERT_TRUE(evictor_.submit(kSomeNode, first, permit_));
  EXPECT_EQ(outcome(), RemovalAnswer::kOverloaded);
  ASSERT_TRUE(evictor_.submit("gpu-02", second, permit_));
  clock_.advance(milliseconds(2'999));
  EXPECT_THAT(evictor_.collect("gpu-02"), IsEmpty());
  EXPECT_EQ(evictions(), 1U);
  clock_.advance(milliseconds(1));
  EXPECT_THAT(evictor_.collect("gpu-02"), SizeIs(1));
  add_budget("pdb", "first", 0);
  ASSERT_TRUE(evictor_.submit(kSomeNode, first, permit_));
  EXPECT_EQ(outcome(), RemovalAnswer::kBlocked);
  clock_.advance(seconds(1));
  ASSERT_TRUE(evictor_.submit(kSomeNode, pod("third"), permit_));
  EXPECT_EQ(outcome(), RemovalAnswer::kAccepted);
}

TEST_F(EvictorInCalls, ForgetsWhatWaitsForANode) {
  ASSERT_TRUE(evictor_.submit(kSomeNode, pod("a"), permit_));
  ASSERT_TRUE(evictor_.submit(kSomeNode, pod("b"), permit_));
  const Removal waits = pod("c");
  ASSERT_TRUE(evictor_.submit(kSomeNode, waits, permit_));
  evictor_.forget(kSomeNode);
  clock_.advance(seconds(1));
  EXPECT_THAT(evictor_.collect(kSomeNode), IsEmpty());
  EXPECT_EQ(evictions(), 2U);
  EXPECT_TRUE(evictor_.submit(kSomeNode, waits, permit_)) << "not under way any more";
}

// A gate in front of the API server: the test decides when calls return.
class GatedClient final : public http::Client {
 public:
  explicit GatedClient(http::Client& behind) : behind_(behind) {}
  Result<http::ClientResponse> send(const http::ClientRequest& request) override {
    {
      std::unique_lock lock(mutex_);
      ++inside_;
      most_ = std::max(most_, inside_);
      changed_.notify_all();
      changed_.wait(lock, [this] { return is_open_; });
    }
    auto answer = behind_.send(request);
    const std::lock_guard lock(mutex_);
    --inside_;
    changed_.notify_all();
    return answer;
  }
  Result<http::ClientResponse> stream(const http::ClientRequest&, milliseconds, std::stop_token,
                                      const std::function<bool(std::string_view)>&) override {
    return fail(ErrorKind::kInternal, "no streams here");
  }
  void await(int inside) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return inside_ == inside; });
  }
  void open() {
    const std::lock_guard lock(mutex_);
    is_open_ = true;
    changed_.notify_all();
  }
  void close() {
    const std::lock_guard lock(mutex_);
    is_open_ = false;
    most_ = 0;
  }
  int most() {
    const std::lock_guard lock(mutex_);
    return most_;
  }

 private:
  http::Client& behind_;
  std::mutex mutex_;
  std::condition_variable changed_;
  int inside_ = 0, most_ = 0;
  bool is_open_ = false;
};

class EvictorByThreads : public DrainCluster {
 protected:
  // Collects until there are `wanted` outcomes. The time-out of the test case ends an endless wait.
  std::size_t collect(std::size_t wanted) {
    std::size_t collected = 0;
    while (collected < wanted) collected += evictor_->collect(kSomeNode).size();
    return collected;
  }
  void start(const EvictionRate& rate) {
    evictor_ = std::make_unique<Evictor>(slow_, clock_, rate);
  }

  GatedClient gate_{http_};
  kube::Api slow_{options(), gate_, credentials_, clock_};
  std::unique_ptr<Evictor> evictor_;
};

TEST_F(EvictorByThreads, HasSoManyCallsInFlightAndNoMore) {
  start({.per_second = 1000, .burst = 100, .most_in_flight = 3});
  for (int i = 0; i < 10; ++i) {
    const std::string name = "web-" + std::to_string(i);
    ASSERT_TRUE(evictor_->submit(kSomeNode, removal_of_pod(name, add_pod(name)), permit_));
  }
  gate_.await(3);
  gate_.open();
  EXPECT_EQ(collect(10), 10U);
  EXPECT_EQ(gate_.most(), 3);
  EXPECT_EQ(evictions(), 10U);
}

TEST_F(EvictorByThreads, FewerMayBeInFlightFromOneMomentToTheNext) {
  start({.per_second = 1000, .burst = 100, .most_in_flight = 3});
  const auto submit = [&](const std::string& name) {
    ASSERT_TRUE(evictor_->submit(kSomeNode, removal_of_pod(name, add_pod(name)), permit_));
  };
  for (const char* name : {"a", "b", "c"}) submit(name);
  gate_.await(3);
  gate_.open();
  EXPECT_EQ(collect(3), 3U);
  gate_.close();
  evictor_->set_rate({.per_second = 1000, .burst = 100, .most_in_flight = 1});
  for (const char* name : {"d", "e", "f"}) submit(name);
  gate_.await(1);
  gate_.open();
  EXPECT_EQ(collect(3), 3U);
  EXPECT_EQ(gate_.most(), 1);
}

TEST_F(EvictorByThreads, WaitsForTheRateOnTheClock) {
  gate_.open();
  start({.per_second = 10, .burst = 1, .most_in_flight = 4});
  for (const char* name : {"a", "b"})
    ASSERT_TRUE(evictor_->submit(kSomeNode, removal_of_pod(name, add_pod(name)), permit_));
  EXPECT_EQ(collect(1), 1U);
  while (clock_.sleepers() == 0) std::this_thread::yield();
  EXPECT_EQ(evictions(), 1U);
  clock_.advance(milliseconds(101));
  EXPECT_EQ(collect(1), 1U);
  EXPECT_EQ(evictions(), 2U);
}

TEST_F(EvictorByThreads, EndsWithWorkLeft) {
  gate_.open();
  start({.per_second = 0.1, .burst = 1, .most_in_flight = 4});
  for (int i = 0; i < 5; ++i) {
    const std::string name = "web-" + std::to_string(i);
    ASSERT_TRUE(evictor_->submit(kSomeNode, removal_of_pod(name, add_pod(name)), permit_));
  }
  EXPECT_EQ(collect(1), 1U);
  evictor_.reset();
  EXPECT_EQ(evictions(), 1U);
}

}  // namespace
}  // namespace gpuward::remediator
