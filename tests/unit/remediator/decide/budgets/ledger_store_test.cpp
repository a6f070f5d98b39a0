#include "remediator/decide/budgets/ledger_store.h"

#include <gmock/gmock.h>

#include <atomic>
#include <stdexcept>
#include <thread>

#include "remediator/decide/budgets/breaker.h"
#include "remediator/decide/budgets/ledger_text.h"
#include "tests/fakes/fake_clock.h"
#include "tests/fakes/fake_kube.h"
#include "tests/fakes/in_process_client.h"
#include "tests/support/wait.h"
#include "tests/unit/remediator/decide/budgets/fleets.h"

namespace gpuward::remediator {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::SizeIs;

constexpr const char* kLedger = "/api/v1/namespaces/default/configmaps/gpuward-ledger";

class AnonymousCredentials final : public kube::Credentials {
 public:
  Result<std::string> authorization() override { return std::string(); }
  void reject(const std::string&) override {}
};

kube::ApiOptions ledger_api_options() {
  kube::ApiOptions options;
  options.server = "http://fake";
  return options;
}

// One process: its own client and store.
struct LedgerUser {
  LedgerUser(fakes::FakeKube& kube, Clock& clock)
      : client(kube),
        api(ledger_api_options(), client, credentials, clock),
        store(api, {.ns = "default"}, clock) {}
  fakes::InProcessClient client;
  AnonymousCredentials credentials;
  kube::Api api;
  LedgerStore store;
};

// Calls `meanwhile` while the answer to the next GET is on its way.
class LateAnswers final : public http::Client {
 public:
  explicit LateAnswers(http::Client& inner) : inner_(inner) {}
  Result<http::ClientResponse> send(const http::ClientRequest& request) override {
    auto answer = inner_.send(request);
    if (request.method == "GET" && meanwhile) std::exchange(meanwhile, nullptr)();
    return answer;
  }
  Result<http::ClientResponse> stream(
      const http::ClientRequest& request, std::chrono::milliseconds idle, std::stop_token stop,
      const std::function<bool(std::string_view)>& on_bytes) override {
    return inner_.stream(request, idle, std::move(stop), on_bytes);
  }
  std::function<void()> meanwhile;

 private:
  http::Client& inner_;
};

class LedgerStoreTest : public ::testing::Test {
 protected:
  LedgerStoreTest() {
    EXPECT_TRUE(mine_.store.begin([] { return Ledger(); }));
    kube_.clear_requests();
  }
  // Asks for a slot and takes it in one change, as the reconciler does.
  LedgerStore::Change taking(int n, Impact impact = Impact::kDisrupt) {
    return [this, n, impact](Ledger& ledger) -> Status {
      const SlotRequest request = request_for(n, impact);
      const WallTime now = clock_.wall();
      if (auto refused = refuse_slot(ledger, fleet_, {}, request, now))
        return fail(ErrorKind::kBlocked, refused->message);
      ledger = with_slot(ledger, slot_for(ledger, fleet_, request, now));
      return {};
    };
  }
  static LedgerStore::Change giving_back(int n) {
    return [n](Ledger& ledger) -> Status {
      ledger = without_slot(ledger, remediation_of(n));
      return {};
    };
  }
  [[nodiscard]] std::size_t writes() const { return kube_.requests("PUT", kLedger).size(); }

  fakes::FakeClock clock_{fakes::FakeClock::Mode::kAutoAdvance};
  fakes::FakeKube kube_{clock_};
  Fleet fleet_ = fleet_of(10);  // one slot
  LedgerUser mine_{kube_, clock_}, yours_{kube_, clock_};
};

TEST_F(LedgerStoreTest, KeepsWhatWasChangedForTheNextProcess) {
  ASSERT_TRUE(mine_.store.change(taking(0)));
  const auto ledger = yours_.store.read();
  ASSERT_TRUE(ledger);
  EXPECT_THAT(ledger->slots, SizeIs(1));
  EXPECT_EQ(ledger->starts[0].at, clock_.wall());
}

TEST_F(LedgerStoreTest, KeepsTheWindowsOverARestart) {
  fleet_ = fleet_of(100);
  for (int n = 0; n < 2; ++n) {
    ASSERT_TRUE(mine_.store.change(taking(n, Impact::kTerminate)));
    ASSERT_TRUE(mine_.store.change(giving_back(n)));
  }
  LedgerUser restarted(kube_, clock_);
  const auto third = restarted.store.change(taking(2, Impact::kTerminate));
  ASSERT_FALSE(third);
  EXPECT_THAT(third.error().message, HasSubstr("2 of 2 allowed terminations"));
}

// `etcdctl snapshot restore` leaves the same UID, an older text and another version.
TEST_F(LedgerStoreTest, IsNotBelievedIfItHasGoneBackToABackup) {
  std::string said;
  LedgerStore store(mine_.api,
                    {.ns = "default", .on_went_back = [&](const std::string& why) { said = why; }},
                    clock_);
  ASSERT_TRUE(store.change(taking(0)));
  const Json backup = kube_.get(kLedger);
  ASSERT_TRUE(store.change(giving_back(0)));
  ASSERT_TRUE(store.change(taking(1)));
  kube_.patch(kLedger, {{"data", backup["data"]}});

  EXPECT_EQ(store.change(giving_back(1)).error().kind, ErrorKind::kGone);
  EXPECT_EQ(store.read().error().kind, ErrorKind::kGone);
  EXPECT_EQ(said, "the ledger was replaced by an older copy: its write count fell from 4 to 2");

  ASSERT_TRUE(store.note_restored(said, clock_.wall()));
  EXPECT_TRUE(store.read()->breaker.open);
  EXPECT_EQ(kube_.get(kLedger)["data"]["writes"], "5") << "more than anybody has seen";
  EXPECT_TRUE(store.change(giving_back(0)));
}

TEST_F(LedgerStoreTest, HasNotGoneBackIfItWasWrittenWhileAnAnswerWasOnItsWay) {
  LateAnswers late(mine_.client);
  kube::Api api(ledger_api_options(), late, mine_.credentials, clock_);
  std::string said;
  LedgerStore store(
      api, {.ns = "default", .on_went_back = [&](const std::string& why) { said = why; }}, clock_);
  ASSERT_TRUE(store.change(taking(0)));
  late.meanwhile = [&] { EXPECT_TRUE(store.change(giving_back(0))); };

  EXPECT_TRUE(store.read());
  EXPECT_EQ(said, "");
}

TEST_F(LedgerStoreTest, OpensNoBreakerThatAnOperatorHasClosedSinceARestoreWasNoticed) {
  const WallTime noticed = clock_.wall();
  ASSERT_TRUE(mine_.store.note_restored("versions", noticed));
  clock_.advance(std::chrono::seconds(60));
  ASSERT_TRUE(yours_.store.change([&](Ledger& ledger) -> Status {
    ledger = *close_breaker(std::move(ledger), "ann", clock_.wall());
    return {};
  }));

  EXPECT_TRUE(mine_.store.note_restored("versions", noticed));
  EXPECT_FALSE(yours_.store.read()->breaker.open);

  EXPECT_TRUE(mine_.store.note_restored("versions", clock_.wall() + std::chrono::seconds(1)));
  EXPECT_TRUE(yours_.store.read()->breaker.open);
}

// The ledger was deleted, or made after the backup that was restored.
TEST_F(LedgerStoreTest, IsMadeWithAnOpenBreakerIfOneWasSeenBefore) {
  ASSERT_TRUE(mine_.store.read());
  kube_.remove(kLedger);

  ASSERT_TRUE(mine_.store.begin([] { return Ledger(); }));

  EXPECT_TRUE(mine_.store.read()->breaker.open);
}

TEST_F(LedgerStoreTest, OfTheVersionBeforeOrMadeAnewHasNotGoneBack) {
  ASSERT_TRUE(mine_.store.change(taking(0)));
  kube_.remove(kLedger);
  ASSERT_TRUE(yours_.store.begin([] { return Ledger(); }));
  EXPECT_TRUE(mine_.store.read()) << "another ConfigMap";
  kube_.patch(kLedger, {{"data", {{"writes", nullptr}}}});
  LedgerUser started_now(kube_, clock_);
  EXPECT_TRUE(started_now.store.read()) << "nobody has counted yet";
  ASSERT_TRUE(started_now.store.change(taking(1)));
  EXPECT_EQ(kube_.get(kLedger)["data"]["writes"], "1");
}

// The other process writes first, after this one has read and before it writes.
TEST_F(LedgerStoreTest, GivesTheLastSlotToOneOfTwoThatRace) {
  bool is_raced = false;
  const auto lost = mine_.store.change([&](Ledger& ledger) {
    if (!std::exchange(is_raced, true)) {
      EXPECT_TRUE(yours_.store.change(taking(1)));
    }
    return taking(0)(ledger);
  });
  ASSERT_FALSE(lost);
  EXPECT_EQ(lost.error().kind, ErrorKind::kBlocked);
  const Ledger ledger = mine_.store.read().value();
  ASSERT_THAT(ledger.slots, SizeIs(1));
  EXPECT_EQ(ledger.slots[0].remediation, "r1");
  EXPECT_THAT(ledger.starts, SizeIs(1));
}

// The first leader is about to make the ledger. Nothing is lost, and there is nothing to report.
TEST(LedgerStoreFirst, IsNoLossIfNoLedgerWasEverSeen) {
  fakes::FakeClock clock(fakes::FakeClock::Mode::kAutoAdvance);
  fakes::FakeKube kube(clock);
  LedgerUser user(kube, clock);
  int made = 0;
  LedgerStore store(user.api, {.ns = "default", .on_made = [&] { ++made; }}, clock);
  const auto same = [](Ledger&) { return Status(); };
  EXPECT_EQ(store.change(same).error().kind, ErrorKind::kConflict);

  for (int i = 0; i < 2; ++i) ASSERT_TRUE(store.begin([] { return Ledger(); }));

  EXPECT_EQ(made, 1);
  EXPECT_TRUE(store.change(same));
  kube.remove(kLedger);
  EXPECT_EQ(store.change(same).error().kind, ErrorKind::kNotFound);
}

// Another thread of this process makes the ledger just after this one found none.
TEST(LedgerStoreFirst, IsNoLossIfItIsMadeMeanwhile) {
  fakes::FakeClock clock(fakes::FakeClock::Mode::kAutoAdvance);
  fakes::FakeKube kube(clock);
  LedgerUser user(kube, clock);
  kube.add_fault(
      {.kind = fakes::FaultKind::kDelay, .method = "GET", .path = kLedger, .on_hit = [&] {
         EXPECT_TRUE(user.store.begin([] { return Ledger(); }));
       }});

  const auto changed = user.store.change([](Ledger&) { return Status(); });

  EXPECT_TRUE(changed) << changed.error().message;
}

TEST_F(LedgerStoreTest, GivesUpAfterTenConflicts) {
  int tries = 0;
  const auto status = mine_.store.change([&](Ledger& ledger) {
    kube_.patch(kLedger, {{"metadata", {{"labels", {{"try", std::to_string(++tries)}}}}}});
    return taking(0)(ledger);
  });
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().kind, ErrorKind::kConflict);
  EXPECT_EQ(tries, 10);
}

TEST_F(LedgerStoreTest, StopsBetweenConflictsWhenItIsTold) {
  std::stop_source stop;
  int tries = 0;
  const auto status = mine_.store.change(
      [&](Ledger& ledger) {
        kube_.patch(kLedger, {{"metadata", {{"labels", {{"try", std::to_string(++tries)}}}}}});
        stop.request_stop();
        return taking(0)(ledger);
      },
      stop.get_token());
  EXPECT_EQ(status.error().kind, ErrorKind::kCancelled);
  EXPECT_EQ(tries, 1);
}

TEST_F(LedgerStoreTest, TakesASlotOnceAlthoughTheAnswerWasLost) {
  kube_.add_fault({.kind = fakes::FaultKind::kDropAfter, .method = "PUT"});
  ASSERT_TRUE(mine_.store.change(taking(0)));
  const Ledger ledger = mine_.store.read().value();
  EXPECT_THAT(ledger.slots, SizeIs(1));
  EXPECT_THAT(ledger.starts, SizeIs(1));
}

TEST_F(LedgerStoreTest, WritesNothingIfNothingChanges) {
  ASSERT_TRUE(mine_.store.change([](Ledger&) { return Status(); }));
  EXPECT_FALSE(
      mine_.store.change([](Ledger&) -> Status { return fail(ErrorKind::kBlocked, "no"); }));
  EXPECT_EQ(writes(), 0U);
}

TEST_F(LedgerStoreTest, ReadsPastTheCacheOfTheServer) {
  ASSERT_TRUE(mine_.store.change(taking(0)));
  for (const auto& request : kube_.requests("GET", kLedger))
    EXPECT_THAT(request.query, Not(HasSubstr("resourceVersion")));
}

TEST_F(LedgerStoreTest, DoesNotReadAgainWhatItHasJustWritten) {
  fleet_ = fleet_of(100);
  for (int n = 0; n < 3; ++n) ASSERT_TRUE(mine_.store.change(taking(n)));
  EXPECT_THAT(kube_.requests("GET", kLedger), SizeIs(1));
  EXPECT_EQ(writes(), 3U);
  EXPECT_THAT(mine_.store.last()->slots, SizeIs(3));
}

TEST_F(LedgerStoreTest, GrantsNothingOnWhatItWroteBeforeSomebodyElse) {
  ASSERT_TRUE(mine_.store.change(taking(0)));
  ASSERT_TRUE(mine_.store.change(giving_back(0)));
  ASSERT_TRUE(yours_.store.change(taking(1)));
  EXPECT_EQ(mine_.store.change(taking(2)).error().kind, ErrorKind::kBlocked);
}

TEST_F(LedgerStoreTest, RefusesNothingOnWhatItWroteBeforeSomebodyElse) {
  ASSERT_TRUE(mine_.store.change(taking(0)));
  ASSERT_TRUE(yours_.store.change(giving_back(0)));
  EXPECT_TRUE(mine_.store.change(taking(1)));
}

TEST_F(LedgerStoreTest, MakesNoLedgerOfWhatItWroteBeforeItWasGone) {
  ASSERT_TRUE(mine_.store.change(taking(0)));
  kube_.remove(kLedger);
  EXPECT_EQ(mine_.store.change(taking(1)).error().kind, ErrorKind::kNotFound);
  EXPECT_FALSE(kube_.has(kLedger));
}

TEST_F(LedgerStoreTest, GivesNoSlotIfTheLedgerCannotBeRead) {
  for (const char* text : {"", "{}", "gpuward-ledger 1\n", "gpuward-ledger 2\n"}) {
    kube_.patch(kLedger, {{"data", {{"ledger", text}}}});
    bool is_asked = false;
    const auto status = mine_.store.change([&](Ledger&) {
      is_asked = true;
      return Status();
    });
    ASSERT_FALSE(status) << text;
    EXPECT_EQ(status.error().kind, ErrorKind::kInvalid) << text;
    EXPECT_FALSE(is_asked);
    EXPECT_FALSE(mine_.store.begin([] { return Ledger(); }));
  }
  kube_.patch(kLedger, {{"data", nullptr}});
  EXPECT_FALSE(mine_.store.read());
  EXPECT_EQ(writes(), 0U);
}

TEST_F(LedgerStoreTest, GivesNoSlotIfTheLedgerIsGone) {
  kube_.remove(kLedger);
  EXPECT_EQ(mine_.store.change(taking(0)).error().kind, ErrorKind::kNotFound);
  EXPECT_EQ(mine_.store.read().error().kind, ErrorKind::kNotFound);
  EXPECT_FALSE(kube_.has(kLedger));
}

TEST_F(LedgerStoreTest, IsMadeOnceAndKeptByThoseWhoComeLater) {
  ASSERT_TRUE(mine_.store.change(taking(0)));
  bool is_asked = false;
  ASSERT_TRUE(yours_.store.begin([&] {
    is_asked = true;
    return Ledger();
  }));
  EXPECT_FALSE(is_asked);
  EXPECT_THAT(yours_.store.read()->slots, SizeIs(1));
}

TEST_F(LedgerStoreTest, IsMadeByTheQuickerOfTwo) {
  kube_.remove(kLedger);
  ASSERT_TRUE(mine_.store.begin([&] {
    EXPECT_TRUE(yours_.store.begin([] {
      Ledger first;
      first.breaker.why = "theirs";
      return first;
    }));
    return Ledger();
  }));
  EXPECT_EQ(mine_.store.read()->breaker.why, "theirs");
}

TEST_F(LedgerStoreTest, IsNotMadeIfNobodyCanSayWhatWasSpent) {
  kube_.remove(kLedger);
  const auto status = mine_.store.begin(
      []() -> Result<Ledger> { return fail(ErrorKind::kUnavailable, "no list"); });
  EXPECT_EQ(status.error().kind, ErrorKind::kUnavailable);
  EXPECT_FALSE(kube_.has(kLedger));
}

TEST_F(LedgerStoreTest, SaysWhatItMayNotDo) {
  const std::size_t forbidden =
      kube_.add_fault({.kind = fakes::FaultKind::kForbidden, .method = "PUT"});
  const auto status = mine_.store.change(taking(0));
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().kind, ErrorKind::kForbidden);
  EXPECT_EQ(kube_.fault_hits(forbidden), 1U);
}

TEST_F(LedgerStoreTest, OutlivesAChangeThatThrows) {
  const auto status =
      mine_.store.change([](Ledger&) -> Status { throw std::runtime_error("broken"); });
  EXPECT_EQ(status.error().kind, ErrorKind::kInternal);
  EXPECT_TRUE(mine_.store.change(taking(0)));
}

TEST_F(LedgerStoreTest, OneChangeThatThrowsSpoilsNoOtherOfItsBatch) {
  fleet_ = fleet_of(100);
  Status broken, good;
  {
    std::atomic<bool> has_begun{false};
    const std::jthread first([&] {
      EXPECT_TRUE(mine_.store.change([&](Ledger&) -> Status {
        has_begun = true;
        EXPECT_TRUE(
            support::wait_until([&] { return mine_.store.waiting() == 2; }, "two that wait"));
        return {};
      }));
    });
    ASSERT_TRUE(support::wait_until([&] { return has_begun.load(); }, "one"));
    const std::jthread second([&] { good = mine_.store.change(taking(1)); });
    const std::jthread third([&] {
      broken = mine_.store.change([&](Ledger& ledger) -> Status {
        ledger.slots.clear();
        throw std::runtime_error("broken");
      });
    });
  }
  EXPECT_EQ(broken.error().kind, ErrorKind::kInternal);
  EXPECT_TRUE(good);
  EXPECT_THAT(mine_.store.read()->slots, SizeIs(1));
}

TEST_F(LedgerStoreTest, GivesTheLastSlotToOneOfManyThreads) {
  std::atomic<int> given{0};
  {
    std::vector<std::jthread> threads;
    for (int n = 0; n < 10; ++n) {
      threads.emplace_back([&, n] {
        LedgerUser& user = n % 2 == 0 ? mine_ : yours_;
        if (user.store.change(taking(n))) ++given;
      });
    }
  }
  EXPECT_EQ(given, 1);
  EXPECT_THAT(mine_.store.read()->slots, SizeIs(1));
}

TEST_F(LedgerStoreTest, PutsWhatWaitsIntoOneWrite) {
  fleet_ = fleet_of(1000);
  std::vector<std::jthread> threads;
  const auto status = mine_.store.change([&](Ledger& ledger) {
    for (int n = 1; threads.size() < 8; ++n)
      threads.emplace_back([this, n] { EXPECT_TRUE(mine_.store.change(taking(n))); });
    while (mine_.store.waiting() < 8) std::this_thread::yield();
    return taking(0)(ledger);
  });
  threads.clear();
  EXPECT_TRUE(status);
  EXPECT_THAT(mine_.store.read()->slots, SizeIs(9));
  EXPECT_EQ(writes(), 2U);
}

TEST_F(LedgerStoreTest, KeepsTaintsInAKeyOfTheirOwn) {
  fleet_ = fleet_of(20);
  ASSERT_TRUE(mine_.store.change(taking(0, Impact::kTaint)));
  const Json data = kube_.get(kLedger)["data"];
  EXPECT_EQ(decode_ledger(string_at(data, "ledger")).value(), Ledger());
  EXPECT_THAT(yours_.store.read().value().taints, SizeIs(1));
  ASSERT_TRUE(mine_.store.change(giving_back(0)));
  EXPECT_FALSE(kube_.get(kLedger)["data"].contains("taints"));
}

// The version before reads and writes only the ledger's own text, and preserves the rest.
TEST_F(LedgerStoreTest, LosesNoTaintToTheVersionBefore) {
  fleet_ = fleet_of(20);
  ASSERT_TRUE(mine_.store.change(taking(0, Impact::kTaint)));
  ASSERT_TRUE(mine_.store.change(taking(1, Impact::kTaint)));
  auto map = mine_.api.get_config_map("default", "gpuward-ledger").value();
  Ledger theirs = decode_ledger(map.data["ledger"]).value();
  theirs = with_slot(theirs, slot_for(theirs, fleet_, request_for(1, Impact::kCordon), kToday));
  map.data["ledger"] = encode_ledger(theirs).value();
  ASSERT_TRUE(mine_.api.update_config_map(map));

  const Ledger after = mine_.store.read().value();

  ASSERT_THAT(after.taints, SizeIs(1));
  EXPECT_EQ(after.taints[0].remediation, "r0");
  ASSERT_THAT(after.slots, SizeIs(1));
  EXPECT_EQ(after.slots[0].impact, Impact::kCordon);
}

TEST_F(LedgerStoreTest, GivesNoSlotIfTheTaintsCannotBeRead) {
  for (const char* text : {"", "{}", "gpuward-taints 2\n", "gpuward-taints 1\n"}) {
    kube_.patch(kLedger, {{"data", {{"taints", text}}}});
    EXPECT_EQ(mine_.store.change(taking(0)).error().kind, ErrorKind::kInvalid) << text;
  }
  EXPECT_EQ(writes(), 0U);
}

TEST_F(LedgerStoreTest, GivesTheLastTaintOfABudgetToOneOnly) {
  ASSERT_TRUE(mine_.store.change(taking(0, Impact::kTaint)));
  ASSERT_TRUE(yours_.store.change(taking(1, Impact::kTaint)));
  EXPECT_EQ(mine_.store.change(taking(2, Impact::kTaint)).error().kind, ErrorKind::kBlocked);
}

}  // namespace
}  // namespace gpuward::remediator
