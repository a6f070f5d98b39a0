// Candidates for one lease on the fake API server: stepped by the test, so that "at any time" is
// every step, and as threads on a clock that the test advances.
#include "core/kube/leader.h"

#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <mutex>
#include <random>
#include <vector>

#include "tests/fakes/fake_clock.h"
#include "tests/fakes/fake_kube.h"
#include "tests/fakes/in_process_client.h"
#include "tests/support/wait.h"
#include "tests/unit/core/kube/api_fixture.h"

namespace gpuward::kube {
namespace {

using fakes::Fault;
using fakes::FaultKind;
using std::chrono::milliseconds;
using std::chrono::seconds;
using support::wait_until;

constexpr const char* kLeasePath = "/apis/coordination.k8s.io/v1/namespaces/default/leases/leader";
constexpr const char* kLeases = "/apis/coordination.k8s.io/v1/namespaces/default/leases";

ApiOptions one_try_each() {
  ApiOptions options;
  options.server = "http://fake";
  options.retry_deadline = milliseconds(0);
  return options;
}

LeaderOptions named(const std::string& identity) {
  return {.ns = "default", .name = "leader", .identity = identity, .jitter_seed = 5};
}

// The parts that all candidates share, and a clock that only the test advances.
class Electorate : public ::testing::Test {
 protected:
  void meet(FaultKind kind, const std::string& method, int times = 1) {
    Fault fault;
    fault.kind = kind;
    fault.method = method;
    fault.path = std::string(kLeases) + ".*";
    fault.times = times;
    kube.add_fault(fault);
  }
  std::string holder() {
    if (!kube.has(kLeasePath)) return "";
    return kube.get(kLeasePath)["spec"].value("holderIdentity", "");
  }

  fakes::FakeClock clock;
  fakes::FakeKube kube{clock};
  fakes::InProcessClient http{kube};
  RenewableCredentials credentials;
};

class CandidatesTest : public Electorate {
 protected:
  struct One {
    One(CandidatesTest& test, const std::string& name)
        : api(one_try_each(), test.http, test.credentials, test.clock),
          candidate(named(name), api, test.clock) {}
    Api api;
    LeaderCandidate candidate;
    Clock::Steady due{};
  };
  One& add(const std::string& name) {
    all.push_back(std::make_unique<One>(*this, name));
    return *all.back();
  }
  std::size_t leaders() {
    std::size_t count = 0;
    for (const auto& one : all) count += one->candidate.is_leader() ? 1 : 0;
    return count;
  }
  // Runs a round and then its pause, as the thread does.
  void run_if_due(One& one) {
    if (clock.steady() < one.due) return;
    (void)one.candidate.try_to_lead();
    one.due = clock.steady() + one.candidate.pause();
  }
  void run(seconds duration) {
    for (const auto end = clock.steady() + duration; clock.steady() < end;) {
      for (const auto& one : all) run_if_due(*one);
      EXPECT_LE(leaders(), 1U);
      clock.advance(milliseconds(250));
      EXPECT_LE(leaders(), 1U);
    }
  }

  std::vector<std::unique_ptr<One>> all;
};

TEST_F(CandidatesTest, OfTwoTheFirstLeadsAndStays) {
  One& first = add("a");
  One& second = add("b");
  run(seconds(60));
  EXPECT_TRUE(first.candidate.is_leader());
  EXPECT_FALSE(second.candidate.is_leader());
  EXPECT_EQ(second.candidate.holder(), "a");
  EXPECT_EQ(kube.get(kLeasePath)["spec"]["leaseTransitions"], 0);
}

TEST_F(CandidatesTest, TheOtherTakesOverWhenTheLeaseOfADeadOneIsOver) {
  add("a");
  One& second = add("b");
  run(seconds(20));
  all.erase(all.begin());  // like kill -9
  run(seconds(12));
  EXPECT_FALSE(second.candidate.is_leader());
  run(seconds(9));
  EXPECT_TRUE(second.candidate.is_leader());
  EXPECT_EQ(kube.get(kLeasePath)["spec"]["leaseTransitions"], 1);
}

TEST_F(CandidatesTest, OneThatWasPausedDoesNotLeadWhenItWakesAndYieldsWhenItLooks) {
  One& first = add("a");
  One& second = add("b");
  run(seconds(20));
  first.due = clock.steady() + seconds(40);  // SIGSTOP
  run(seconds(30));
  EXPECT_FALSE(first.candidate.is_leader());
  EXPECT_TRUE(second.candidate.is_leader());
  EXPECT_TRUE(first.candidate.try_to_lead());
  EXPECT_FALSE(first.candidate.is_leader());
  run(seconds(60));
  EXPECT_TRUE(second.candidate.is_leader());
}

TEST_F(CandidatesTest, AJumpOfTheSteadyClockEndsItAtOnceAndARenewalBringsItBack) {
  One& only = add("a");
  run(seconds(4));
  EXPECT_TRUE(only.candidate.is_leader());
  clock.advance(seconds(11));
  EXPECT_FALSE(only.candidate.is_leader());
  EXPECT_TRUE(only.candidate.try_to_lead());
  EXPECT_TRUE(only.candidate.is_leader());
}

TEST_F(CandidatesTest, JumpsOfTheWallClockChangeNothing) {
  One& first = add("a");
  add("b");
  run(seconds(10));
  clock.jump_wall(std::chrono::hours(-5));
  run(seconds(30));
  clock.jump_wall(std::chrono::hours(20));
  run(seconds(30));
  EXPECT_TRUE(first.candidate.is_leader());
}

TEST_F(CandidatesTest, OneGivesTheLeaseBackAndTheOtherNeedNotWaitForItsEnd) {
  One& first = add("a");
  One& second = add("b");
  run(seconds(20));
  EXPECT_TRUE(first.candidate.give_back());
  EXPECT_FALSE(first.candidate.is_leader());
  EXPECT_EQ(holder(), "");
  all.erase(all.begin());
  run(seconds(5));
  EXPECT_TRUE(second.candidate.is_leader());
}

TEST_F(CandidatesTest, GivingBackTheLeaseOfAnotherDoesNothing) {
  add("a");
  One& second = add("b");
  run(seconds(10));
  EXPECT_TRUE(second.candidate.give_back());
  EXPECT_EQ(holder(), "a");
}

TEST_F(CandidatesTest, AnAnswerThatWasLostCostsNothing) {
  One& first = add("a");
  add("b");
  run(seconds(10));
  meet(FaultKind::kDropAfter, "PUT", 2);
  run(seconds(30));
  EXPECT_TRUE(first.candidate.is_leader());
  EXPECT_EQ(kube.get(kLeasePath)["spec"]["leaseTransitions"], 0);
}

TEST_F(CandidatesTest, WithoutTheLeaseApiNobodyLeadsAfterTheDeadlineAndSomebodyDoesAfterwards) {
  One& first = add("a");
  add("b");
  run(seconds(10));
  meet(FaultKind::kUnavailable, ".*", -1);
  run(seconds(7));
  EXPECT_TRUE(first.candidate.is_leader());
  run(seconds(4));
  EXPECT_EQ(leaders(), 0U);
  EXPECT_FALSE(first.candidate.try_to_lead());
  run(seconds(60));
  EXPECT_EQ(leaders(), 0U);
  kube.clear_faults();
  run(seconds(25));
  EXPECT_EQ(leaders(), 1U);
}

TEST_F(CandidatesTest, OfThoseThatCreateItTogetherOneLeads) {
  for (const char* name : {"a", "b", "c"}) add(name);
  // All of them find no lease before any of them creates one.
  std::vector<LeaderState> states;
  for (const char* name : {"a", "b", "c"}) states.emplace_back("default", "leader", name);
  const LeaseMoment now{clock.steady(), clock.steady(), clock.wall()};
  std::size_t led = 0;
  for (std::size_t i = 0; i < states.size(); ++i) {
    const auto create =
        states[i].take(LeaseRequest{}, fail(ErrorKind::kNotFound, "none"), now).value();
    (void)states[i].take(create, all[i]->api.create_lease(create.lease), now);
    led += clock.steady() < states[i].leads_until() ? 1 : 0;
  }
  EXPECT_EQ(led, 1U);
  EXPECT_EQ(holder(), "a");
}

TEST_F(CandidatesTest, ALeaseThatSomebodyDeletedIsMadeAgain) {
  add("a");
  add("b");
  run(seconds(10));
  kube.remove(kLeasePath);
  run(seconds(10));
  EXPECT_EQ(leaders(), 1U);
  EXPECT_EQ(holder(), "a");
}

TEST_F(CandidatesTest, ALeaseThatCannotBeCreatedIsSaid) {
  One& only = add("a");
  meet(FaultKind::kForbidden, "POST");
  const auto tried = only.candidate.try_to_lead();
  ASSERT_FALSE(tried);
  EXPECT_EQ(tried.error().kind, ErrorKind::kForbidden);
  EXPECT_FALSE(only.candidate.is_leader());
}

// Three candidates that die, sleep and come back, on a server that fails, from many seeds. run()
// checks at each step that at most one leads.
TEST_F(CandidatesTest, NeverDoTwoLeadWhateverGoesWrong) {
  constexpr std::array kFaults{FaultKind::kDropBefore, FaultKind::kDropAfter, FaultKind::kConflict,
                               FaultKind::kUnavailable, FaultKind::kOverloaded};
  std::mt19937 random(11);
  for (int i = 0; i < 3; ++i) add("start-" + std::to_string(i));
  std::size_t led = 0;
  for (int turn = 0; turn < 1'500; ++turn) {
    const std::size_t one = random() % all.size();
    switch (random() % 5) {
      case 0:
        meet(kFaults.at(random() % kFaults.size()), ".*", static_cast<int>(random() % 12));
        break;
      case 1:
        all.erase(all.begin() + static_cast<std::ptrdiff_t>(one));
        add("turn-" + std::to_string(turn));
        break;
      case 2:
        all[one]->due = clock.steady() + seconds(random() % 60);
        break;
      case 3:
        clock.jump_wall(seconds(static_cast<int>(random() % 2'000) - 1'000));
        break;
      default:
        if (all[one]->candidate.is_leader()) (void)all[one]->candidate.give_back();
        all.erase(all.begin() + static_cast<std::ptrdiff_t>(one));
        add("turn-" + std::to_string(turn));
    }
    run(seconds(random() % 12));
    led += leaders();
    ASSERT_FALSE(HasFailure()) << "in turn " << turn;
  }
  EXPECT_GT(led, 500U);
}

// An election with its own Api, and the changes that it reported.
struct Replica {
  Replica(const std::string& name, fakes::InProcessClient& http, Credentials& credentials,
          Clock& clock)
      : api(one_try_each(), http, credentials, clock),
        election(named(name), api, clock,
                 {.on_change =
                      [this](const LeaderChange& change) {
                        const std::lock_guard lock(mutex);
                        told.push_back(change);
                      },
                  .on_error = [this](const Error&) { ++errors; }}) {}
  std::vector<LeaderChange> changes() {
    const std::lock_guard lock(mutex);
    return told;
  }
  bool told_last(bool leads) {
    const auto all = changes();
    return !all.empty() && all.back().leads == leads;
  }

  std::mutex mutex;
  std::vector<LeaderChange> told;
  std::atomic<int> errors{0};
  Api api;
  LeaderElection election;
};

class ElectionTest : public Electorate {
 protected:
  std::unique_ptr<Replica> start(const std::string& name) {
    return std::make_unique<Replica>(name, http, credentials, clock);
  }
  // Advances the clock in small steps until the condition holds.
  template <typename Condition>
  ::testing::AssertionResult happens(const Condition& condition, const std::string& what) {
    return wait_until(
        [&] {
          if (condition()) return true;
          clock.advance(milliseconds(500));
          return false;
        },
        what);
  }
};

TEST_F(ElectionTest, SaysWhenItLeadsAndGivesTheLeaseBackAtItsEnd) {
  const auto only = start("a");
  ASSERT_TRUE(wait_until([&] { return only->told_last(true); }, "leads"));
  EXPECT_TRUE(only->election.is_leader());
  EXPECT_EQ(only->changes()[0].holder, "a");
  only->election.release();
  EXPECT_FALSE(only->election.is_leader());
  EXPECT_TRUE(only->told_last(false));
  EXPECT_EQ(holder(), "");
  only->election.release();
  EXPECT_EQ(only->changes().size(), 2U);
}

TEST_F(ElectionTest, RenewsEveryTwoSeconds) {
  const auto only = start("a");
  ASSERT_TRUE(wait_until([&] { return clock.sleepers() == 1; }, "asleep"));
  for (int i = 0; i < 10; ++i) {
    const auto puts = kube.requests("PUT", kLeasePath).size();
    clock.advance(seconds(2));
    ASSERT_TRUE(
        wait_until([&] { return kube.requests("PUT", kLeasePath).size() > puts; }, "renewal"));
    ASSERT_TRUE(wait_until([&] { return clock.sleepers() == 1; }, "asleep"));
    EXPECT_TRUE(only->election.is_leader());
  }
  EXPECT_EQ(only->changes().size(), 1U);
}

TEST_F(ElectionTest, TheOtherReplicaTakesOverFromOneThatEnds) {
  auto first = start("a");
  ASSERT_TRUE(wait_until([&] { return first->election.is_leader(); }, "leads"));
  const auto second = start("b");
  ASSERT_TRUE(wait_until([&] { return clock.sleepers() == 2; }, "asleep"));
  EXPECT_FALSE(second->election.is_leader());
  first.reset();
  EXPECT_TRUE(happens([&] { return second->told_last(true); }, "takes over"));
  EXPECT_EQ(holder(), "b");
}

TEST_F(ElectionTest, SaysThatItLostTheLeadWhenTheLeaseApiIsDownAndComesBack) {
  const auto only = start("a");
  ASSERT_TRUE(wait_until([&] { return only->told_last(true); }, "leads"));
  meet(FaultKind::kInternalError, ".*", -1);
  EXPECT_TRUE(happens([&] { return only->told_last(false); }, "lost"));
  EXPECT_FALSE(only->election.is_leader());
  EXPECT_GT(only->errors, 0);
  kube.clear_faults();
  EXPECT_TRUE(happens([&] { return only->told_last(true); }, "leads again"));
}

TEST_F(ElectionTest, AnEndWithoutTheApiServerIsAnEnd) {
  auto only = start("a");
  ASSERT_TRUE(wait_until([&] { return only->election.is_leader(); }, "leads"));
  meet(FaultKind::kUnavailable, ".*", -1);
  only->election.release();
  EXPECT_FALSE(only->election.is_leader());
  EXPECT_EQ(only->errors, 1);
  EXPECT_EQ(holder(), "a");
}

TEST(LeaderIdentity, IsAnotherOneEachTime) {
  const std::string one = make_leader_identity();
  EXPECT_NE(one, make_leader_identity());
  EXPECT_GT(one.size(), 17U);
  EXPECT_EQ(one[one.size() - 17], '_');
}

}  // namespace
}  // namespace gpuward::kube
