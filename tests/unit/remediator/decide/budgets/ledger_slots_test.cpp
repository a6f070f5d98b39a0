// The budgets as the reconciler asks for slots, over the real ledger in the fake API server.
#include "remediator/decide/budgets/ledger_slots.h"

#include "remediator/model/announced.h"
#include "remediator/model/step_call.h"
#include "tests/unit/remediator/act/cluster_fixture.h"

namespace gpuward::remediator {
namespace {

using std::chrono::hours;
using std::chrono::minutes;
using ::testing::HasSubstr;

constexpr const char* kLedgerOfSlots = "/api/v1/namespaces/default/configmaps/gpuward-ledger";

class LedgerSlotsTest : public ClusterTest {
 protected:
  LedgerSlotsTest() {
    Policy policy;
    policy.mode = Mode::kFull;
    policy_.set(policy);
    add_node("gpu-02");
    EXPECT_TRUE(slots_of(*replica_).keep());
  }
  LedgerSlots& slots_of(Replica& replica) {
    store_ = std::make_unique<LedgerStore>(api_, LedgerPlace{.ns = "default"}, clock_);
    slots_over_ =
        std::make_unique<LedgerSlots>(*store_, replica.store, replica.view, policy_, clock_);
    return *slots_over_;
  }
  Remediation opened(const std::string& name) {
    AlertSignal wanted = signal();
    wanted.node = name;
    EXPECT_TRUE(take({wanted}));
    for (const Remediation& one : remediations()) {
      if (one.node == name && one.open()) return one;
    }
    ADD_FAILURE() << "no remediation of " << name;
    return {};
  }
  // Adds the step to the record with the outcome of its call.
  void record(const Remediation& remediation, Step step, Call call) {
    Remediation one = *replica_->store.read(remediation.name);
    one.status.steps.push_back(
        {.step = step,
         .result = call == Call::kAccepted ? StepResult::kFailed : StepResult::kRunning,
         .severity = Severity::kReboot,
         .intent_at = clock_.wall(),
         .finished_at = {},
         .attempts = 1,
         .message = {},
         .facts = {{kCallFact, std::string(to_string(call))}}});
    ASSERT_TRUE(replica_->store.write_status(one));
  }
  std::optional<SlotRefusal> ask(const Remediation& remediation, Step step) {
    hear_nodes();
    hear_remediations();
    return ask_by_view(remediation, step);
  }
  void hear_nodes() { replica_->view.informers().note_heard(Informer::kNodes, clock_.steady()); }
  void hear_remediations() {
    replica_->view.informers().note_heard(Informer::kRemediations, clock_.steady());
  }
  // Asks with the view that the informers have built so far.
  std::optional<SlotRefusal> ask_by_view(const Remediation& remediation, Step step) {
    const auto answer = slots_over_->take(remediation, node(remediation.node), step);
    EXPECT_TRUE(answer) << answer.error().message;
    return answer ? *answer : std::nullopt;
  }

  std::unique_ptr<LedgerStore> store_;
  std::unique_ptr<LedgerSlots> slots_over_;
};

TEST_F(LedgerSlotsTest, GiveNoneToADrillWhileARealFaultWaits) {
  const Remediation real = opened("gpu-01");
  AlertSignal injected = signal();
  injected.node = "gpu-02";
  injected.drill = true;
  ASSERT_TRUE(take({injected}));
  const Remediation drill = remediations().back();
  ASSERT_TRUE(drill.is_drill());
  Remediation waiting = *replica_->store.read(real.name);
  waiting.status.phase = Phase::kWaiting;
  waiting.status.rule = "budget.pool";
  ASSERT_TRUE(replica_->store.write_status(waiting));
  catch_up(*replica_);

  const auto refused = ask(drill, Step::kCordon);

  ASSERT_TRUE(refused);
  EXPECT_EQ(refused->guard, "budget.drill");
  EXPECT_FALSE(ask(drill, Step::kDrain)) << "what has begun gives its place back the sooner";
}

TEST_F(LedgerSlotsTest, GiveTheLastSlotOfAPoolToOneOnly) {
  const Remediation first = opened("gpu-01");
  const Remediation second = opened("gpu-02");

  EXPECT_FALSE(ask(first, Step::kDrain));
  const auto refusal = ask(second, Step::kDrain);

  ASSERT_TRUE(refusal);
  EXPECT_THAT(refusal->guard, HasSubstr("budget."));
  EXPECT_FALSE(ask(first, Step::kReboot));  // it keeps the slot that it has
}

// The Remediation has the steps of the announced maintenance.
TEST_F(LedgerSlotsTest, GrantTheTaintOfAMaintenanceIfItsCordonHasToWait) {
  Policy policy;
  policy.mode = Mode::kFull;
  policy.maintenance[AnnouncementKind::kReboot].steps = {planned(Step::kTaint),
                                                         planned(Step::kCordon)};
  policy.budgets.cordoned = {.nodes = 0, .percent = 0};
  policy_.set(policy);
  AlertSignal announced = signal(Severity::kMonitor);
  announced.alertname = alertname_of(AnnouncementKind::kReboot);
  announced.fingerprint = std::string(kAnnouncementOrigin) + "ab";
  ASSERT_TRUE(take({announced}));

  const auto refusal = ask(remediations().front(), Step::kCordon);

  ASSERT_TRUE(refusal);
  EXPECT_EQ(refusal->guard, "budget.cordon");
  EXPECT_TRUE(refusal->has_taint);
}

TEST_F(LedgerSlotsTest, GiveASlotAgainThatIsGivenBack) {
  const Remediation first = opened("gpu-01");
  const Remediation second = opened("gpu-02");
  ASSERT_FALSE(ask(first, Step::kDrain));

  ASSERT_TRUE(slots_over_->give_back(first));

  EXPECT_FALSE(ask(second, Step::kDrain));
}

TEST_F(LedgerSlotsTest, TakeNoMachineTwiceInAWeekForTheSameRemedy) {
  const Remediation first = opened("gpu-01");
  ASSERT_FALSE(ask(first, Step::kReboot));
  EXPECT_FALSE(ask(first, Step::kReboot));  // the same Remediation asks again after a crash
  record(first, Step::kReboot, Call::kAccepted);
  Remediation again = first;
  again.name += "0";
  clock_.advance(hours(24 * 6));

  EXPECT_FALSE(slots_over_->worn_out(again, node("gpu-01"), Step::kDrain).value());
  const auto lasts = slots_over_->worn_out(again, node("gpu-01"), Step::kReboot);
  const auto refusal = ask(again, Step::kReboot);

  ASSERT_TRUE(refusal);
  EXPECT_TRUE(refusal->is_worn_out);
  ASSERT_TRUE(lasts && *lasts);
  EXPECT_EQ((*lasts)->message, refusal->message);
  clock_.advance(hours(24 * 2));
  EXPECT_FALSE(slots_over_->worn_out(again, node("gpu-01"), Step::kReboot).value());
  ASSERT_TRUE(slots_over_->give_back(first));
  EXPECT_FALSE(ask(again, Step::kReboot));
}

// Simulated, seed 8719: the first was deleted, and the next one took the first one's restart for
// its own.
TEST_F(LedgerSlotsTest, TakeARestartFromBeforeTheRemediationForAnothersThatHadItsName) {
  Remediation first = opened("gpu-01");
  first.created = clock_.wall();
  ASSERT_FALSE(ask(first, Step::kReboot));
  clock_.advance(minutes(20));
  Remediation again = first;
  again.created = clock_.wall();
  clock_.advance(hours(1));

  const auto refusal = ask(again, Step::kReboot);

  ASSERT_TRUE(refusal);
  EXPECT_TRUE(refusal->is_worn_out);
  EXPECT_FALSE(ask(first, Step::kReboot)) << "its own";
}

// Simulated, seed 29989: the clock went back, the record of the restart was not written, and the
// Remediation was escalated for its own restart.
TEST_F(LedgerSlotsTest, TakeARestartForTheirOwnIfTheClockIsBehindTheApiServers) {
  Remediation own = opened("gpu-01");
  own.created = clock_.wall() + minutes(12);
  ASSERT_FALSE(ask(own, Step::kReboot));

  EXPECT_FALSE(ask(own, Step::kReboot));
}

// The GPUs identify a lemon, even if they move to another machine.
TEST_F(LedgerSlotsTest, TakeNoGpuTwiceInAWeekForTheSameRemedyWhereverItIs) {
  Remediation first = opened("gpu-01"), second = opened("gpu-02"), third = second;
  first.status.gpus = {"1650", "1651"};
  second.status.gpus = {"1652", "1651"};
  third.status.gpus = {"1653"};
  ASSERT_FALSE(ask(first, Step::kReboot));
  record(first, Step::kReboot, Call::kAccepted);
  ASSERT_TRUE(slots_over_->give_back(first));

  const auto refusal = ask(second, Step::kReboot);

  ASSERT_TRUE(refusal);
  EXPECT_TRUE(refusal->is_worn_out);
  EXPECT_THAT(refusal->message, HasSubstr("or one of its GPUs"));
  EXPECT_FALSE(ask(third, Step::kReboot));
}

// A call that was refused, withdrawn or never made because the process died does not count as a
// treatment.
TEST_F(LedgerSlotsTest, CountNothingAgainstAMachineThatWasNotAccepted) {
  const Remediation first = opened("gpu-01");
  ASSERT_FALSE(ask(first, Step::kReboot));
  ASSERT_TRUE(slots_over_->give_back(first));
  Remediation again = first;
  again.name += "0";
  EXPECT_FALSE(ask(again, Step::kReboot)) << "its record knows nothing of a restart";
  ASSERT_TRUE(slots_over_->give_back(again));

  record(first, Step::kReboot, Call::kNone);

  EXPECT_FALSE(ask(again, Step::kReboot));
}

TEST_F(LedgerSlotsTest, WaitForARestartOfWhichNobodyKnowsWhetherItComes) {
  const Remediation first = opened("gpu-01");
  ASSERT_FALSE(ask(first, Step::kReboot));
  record(first, Step::kReboot, Call::kUnknown);
  ASSERT_TRUE(slots_over_->give_back(first));
  Remediation again = first;
  again.name += "0";

  const auto refusal = ask(again, Step::kReboot);

  ASSERT_TRUE(refusal);
  EXPECT_FALSE(refusal->is_worn_out);
  EXPECT_THAT(refusal->message, HasSubstr("may still be running"));
  EXPECT_TRUE(slots_over_->worn_out(again, node("gpu-01"), Step::kReboot).value())
      << "nobody is asked to approve it yet";
  clock_.advance(minutes(11));
  EXPECT_FALSE(ask(again, Step::kReboot));
}

// A reboot follows a reset that did not last. Each of the two counts separately.
TEST_F(LedgerSlotsTest, CountResetsAndRebootsOfAMachineApart) {
  const Remediation first = opened("gpu-01");
  ASSERT_FALSE(ask(first, Step::kGpuReset));
  record(first, Step::kGpuReset, Call::kAccepted);
  ASSERT_TRUE(slots_over_->give_back(first));
  Remediation again = first;
  again.name += "0";

  const auto refusal = ask(again, Step::kGpuReset);

  ASSERT_TRUE(refusal);
  EXPECT_TRUE(refusal->is_worn_out);
  EXPECT_FALSE(ask(again, Step::kReboot));
}

TEST_F(LedgerSlotsTest, LeaveATreatedMachineAloneForTheCooldown) {
  Policy policy = *policy_.get();
  policy.cooldown = hours(1);
  policy_.set(policy);
  const Remediation first = opened("gpu-01");
  ASSERT_FALSE(ask(first, Step::kGpuReset));
  EXPECT_FALSE(ask(first, Step::kReboot));  // its own next step does not wait
  ASSERT_TRUE(slots_over_->give_back(first));
  Remediation again = first;
  again.name += "0";
  clock_.advance(minutes(59));

  const auto refusal = ask(again, Step::kDrain);

  ASSERT_TRUE(refusal);
  EXPECT_EQ(refusal->guard, "cooldown");
  EXPECT_FALSE(refusal->is_worn_out);
  EXPECT_FALSE(ask(again, Step::kCordon));
  clock_.advance(minutes(1));
  EXPECT_FALSE(ask(again, Step::kDrain));
}

TEST_F(LedgerSlotsTest, KeepTheBufferBetweenDrainsThatConditionsAskFor) {
  Policy policy;
  policy.mode = Mode::kFull;
  policy.min_drain_interval = minutes(10);
  auto& budgets = policy.budgets;
  budgets.cordoned = budgets.cluster.at_once = budgets.pool.at_once = {5, 0};
  budgets.zone.at_once = {5, 0};
  policy_.set(policy);
  const Remediation first = opened("gpu-01");
  Remediation second = opened("gpu-02");
  second.alerts[0].fingerprint = "condition.0123456789";
  ASSERT_FALSE(ask(first, Step::kDrain));

  const auto refusal = ask(second, Step::kDrain);
  ASSERT_TRUE(refusal);
  EXPECT_EQ(refusal->guard, "min_drain_interval");
  clock_.advance(minutes(10));

  EXPECT_FALSE(ask(second, Step::kDrain));
}

TEST_F(LedgerSlotsTest, RememberAMachineThatHasAnotherNameNow) {
  ASSERT_FALSE(ask(opened("gpu-01"), Step::kReboot));
  record(remediations()[0], Step::kReboot, Call::kAccepted);
  ASSERT_TRUE(slots_over_->give_back(remediations()[0]));
  Remediation other = opened("gpu-02");
  kube::Node renamed = node("gpu-02");
  renamed.provider_id = node("gpu-01").provider_id;

  const auto answer = slots_over_->take(other, renamed, Step::kReboot);

  ASSERT_TRUE(answer && *answer);
  EXPECT_TRUE((*answer)->is_worn_out);
}

TEST_F(LedgerSlotsTest, OpenTheBreakerIfTooManyArrive) {
  Policy policy = *policy_.get();
  policy.budgets.breaker = {{1, 0}, minutes(10)};
  policy_.set(policy);
  const Remediation first = opened("gpu-01");
  const Remediation second = opened("gpu-02");
  ASSERT_TRUE(slots_over_->arrived(first));
  ASSERT_FALSE(ask(first, Step::kCordon));

  ASSERT_TRUE(slots_over_->arrived(second));

  EXPECT_TRUE(slots_over_->spending()->breaker.open);
  EXPECT_EQ(ask(first, Step::kDrain)->guard, "budget.breaker");
  EXPECT_EQ(ask(second, Step::kCordon)->guard, "budget.breaker");
}

TEST_F(LedgerSlotsTest, FreeTheSlotOfARemediationThatIsClosed) {
  const Remediation first = opened("gpu-01");
  const Remediation second = opened("gpu-02");
  ASSERT_FALSE(ask(first, Step::kDrain));
  Remediation closed = *replica_->store.read(first.name);
  closed.status.phase = Phase::kReleased;
  ASSERT_TRUE(replica_->store.write_status(closed));

  ASSERT_TRUE(slots_over_->keep());

  EXPECT_FALSE(ask(second, Step::kDrain));
}

TEST_F(LedgerSlotsTest, GiveNothingIfTheLedgerIsGone) {
  const Remediation first = opened("gpu-01");
  hear_nodes();
  hear_remediations();
  kube_.remove(kLedgerOfSlots);

  EXPECT_FALSE(slots_over_->take(first, node(), Step::kDrain));
}

// A watch may be dead, and the fleet may have changed meanwhile.
TEST_F(LedgerSlotsTest, GiveNothingByAViewThatIsOlderThan30Seconds) {
  const Remediation first = opened("gpu-01");
  hear_nodes();
  clock_.advance(std::chrono::seconds(31));
  hear_remediations();

  const auto refusal = ask_by_view(first, Step::kDrain);
  ASSERT_TRUE(refusal);
  EXPECT_EQ(refusal->guard, "guard.view");
  EXPECT_THAT(refusal->message, HasSubstr("on Nodes and Remediations for more than 30 s"));
  EXPECT_EQ(ask_by_view(first, Step::kCordon)->guard, "guard.view");

  hear_nodes();
  EXPECT_FALSE(ask_by_view(first, Step::kDrain));
}

TEST_F(LedgerSlotsTest, RebuildALostLedgerFromWhatTheRemediationsRecord) {
  Remediation first = opened("gpu-01");
  first.status.steps.push_back({.step = Step::kReboot,
                                .result = StepResult::kRunning,
                                .severity = Severity::kReboot,
                                .intent_at = clock_.wall(),
                                .finished_at = {},
                                .attempts = 1,
                                .message = {}});
  ASSERT_TRUE(replica_->store.write_status(first));
  kube_.remove(kLedgerOfSlots);

  ASSERT_TRUE(slots_over_->keep());

  const auto ledger = store_->read();
  ASSERT_TRUE(ledger);
  EXPECT_TRUE(ledger->find(first.name));
  EXPECT_TRUE(ledger->breaker.open);
  EXPECT_EQ(ledger->attempts.size(), 1U);
}

TEST_F(LedgerSlotsTest, DeleteRemediationsThatWereClosedLongAgoAndNoOthers) {
  Remediation old = opened("gpu-01");
  (void)opened("gpu-02");
  clock_.advance(minutes(1));
  AlertSignal ended = signal(Severity::kReboot, false);
  ASSERT_TRUE(take({ended}));
  old = *replica_->store.read(old.name);
  old.status.phase = Phase::kReleased;
  old.status.closed_at = clock_.wall();
  ASSERT_TRUE(replica_->store.write_status(old));
  ASSERT_TRUE(slots_over_->keep());
  EXPECT_EQ(remediations().size(), 2U);
  clock_.advance(hours(24 * 31));

  ASSERT_TRUE(slots_over_->keep());
  catch_up(*replica_);
  ASSERT_TRUE(reconcile());  // the replica deletes its own record

  ASSERT_EQ(remediations().size(), 1U);
  EXPECT_EQ(remediations()[0].node, "gpu-02");
}

TEST_F(LedgerSlotsTest, CostNothingForStepsThatHarmNobody) {
  const Remediation first = opened("gpu-01");
  kube_.clear_requests();

  EXPECT_FALSE(ask(first, Step::kVerify));

  EXPECT_EQ(writes(), 0U);
}

}  // namespace
}  // namespace gpuward::remediator
