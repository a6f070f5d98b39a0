// Tests of what follows once the machine of a Remediation is gone: its end, or the wait for a
// replacement.
#include "remediator/decide/replacement.h"

#include "remediator/act/actions/terminate_action.h"
#include "remediator/act/actions/verify_action.h"
#include "remediator/cluster/known_replacements.h"
#include "tests/unit/remediator/act/actions/intended_step.h"
#include "tests/unit/remediator/act/cluster_fixture.h"

namespace gpuward::remediator {
namespace {

using fakes::FaultKind;
using std::chrono::milliseconds;
using std::chrono::minutes;
using std::chrono::seconds;
using ::testing::HasSubstr;

std::vector<PlannedStep> end_with_wait() {
  std::vector<PlannedStep> plan;
  for (const Step step : {Step::kTaint, Step::kCordon, Step::kDrain, Step::kTerminate})
    plan.push_back(planned(step));
  plan.back().before.approval = false;
  plan.push_back(planned(Step::kVerify));
  return plan;
}

Policy waiting_policy() {
  Policy policy;
  policy.mode = Mode::kFull;
  policy.steps[Severity::kIsolate] = end_with_wait();
  policy.budgets.keys.pool = {"pool"};
  return policy;
}

// --- The decision alone

class AfterTheEnd : public ::testing::Test {
 protected:
  AfterTheEnd() {
    remediation.name = "gpu-01-ab-1";
    remediation.node = "gpu-01";
    remediation.severity = Severity::kIsolate;
    StepRecord end = intended_step(Step::kTerminate, Severity::kIsolate, WallTime(minutes(1)), {});
    end.result = StepResult::kDone;
    remediation.status.steps = {end};
  }
  void waits(StepResult result, Facts facts = {}) {
    StepRecord wait =
        intended_step(Step::kVerify, Severity::kIsolate, WallTime(minutes(9)), std::move(facts));
    wait.result = result;
    wait.message = "not done in time: waiting for a replacement";
    remediation.status.steps.push_back(wait);
  }
  Decision decision() { return decide_after_the_end(policy, remediation); }

  Policy policy = waiting_policy();
  Remediation remediation;
};

TEST_F(AfterTheEnd, IsOverIfThePolicyWaitsForNothing) {
  policy.steps[Severity::kIsolate].pop_back();

  EXPECT_EQ(decision().verdict, Verdict::kClose);
  EXPECT_EQ(decision().phase, Phase::kReplaced);
  EXPECT_EQ(decision().message, "the machine is gone for good");
}

TEST_F(AfterTheEnd, WaitsForAReplacementIfThePolicySaysSo) {
  EXPECT_EQ(decision().verdict, Verdict::kBegin);
  EXPECT_EQ(decision().phase, Phase::kVerifying);
  EXPECT_EQ(decision().step->step, Step::kVerify);
  waits(StepResult::kRunning);
  EXPECT_EQ(decision().verdict, Verdict::kWatch);
}

// The mode does not matter: the wait changes nothing, and gpuward finishes what it has begun.
TEST_F(AfterTheEnd, GoesOnWaitingWhateverBecomesOfThePolicy) {
  waits(StepResult::kRunning);
  policy.mode = Mode::kObserve;
  policy.steps[Severity::kIsolate].pop_back();

  EXPECT_EQ(decision().verdict, Verdict::kWatch);
  EXPECT_EQ(decision().step->timeout, planned(Step::kVerify).timeout);
}

TEST_F(AfterTheEnd, WaitsAsThePoolHasItUnderWhichTheMachineWasEnded) {
  policy.steps[Severity::kIsolate].pop_back();
  PoolPolicy pool;
  pool.name = "a100";
  pool.steps[Severity::kIsolate] = end_with_wait();
  policy.pools = {pool};
  remediation.status.steps[0].pool = "a100";

  EXPECT_EQ(decision().verdict, Verdict::kBegin);
}

// That verification was of the machine that is gone.
TEST_F(AfterTheEnd, IsNotMisledByAVerificationOfBeforeTheEnd) {
  waits(StepResult::kFailed);
  remediation.status.steps.back().intent_at = WallTime(seconds(30));
  EXPECT_EQ(decision().verdict, Verdict::kBegin);

  policy.steps[Severity::kIsolate].pop_back();

  EXPECT_EQ(decision().phase, Phase::kReplaced);
}

TEST_F(AfterTheEnd, SaysByWhichNodeItWasReplaced) {
  waits(StepResult::kDone, {{kReplacementFact, "gpu-07"}});

  EXPECT_EQ(decision().phase, Phase::kReplaced);
  EXPECT_EQ(decision().message, "replaced by node gpu-07");
}

TEST_F(AfterTheEnd, IsAHumansAffairIfNoneHasJoined) {
  waits(StepResult::kFailed);

  EXPECT_EQ(decision().verdict, Verdict::kHold);
  EXPECT_EQ(decision().phase, Phase::kHeld);
  EXPECT_THAT(decision().message,
              HasSubstr("the machine is gone and no replacement has joined within 45m"));
  EXPECT_THAT(decision().message,
              HasSubstr("the node counts as missing capacity and keeps its budget slot until an "
                        "operator runs gpuwardctl cancel gpu-01"));
  remediation.wish.cancel = true;
  EXPECT_EQ(decision().verdict, Verdict::kClose);
  EXPECT_EQ(decision().phase, Phase::kCancelled);
}

TEST_F(AfterTheEnd, EndsWithTheRemediationAndRestsIfAHumanSaysPause) {
  waits(StepResult::kRunning);
  remediation.wish.pause = true;
  EXPECT_EQ(decision().verdict, Verdict::kPause);
  remediation.deleting = true;
  EXPECT_EQ(decision().phase, Phase::kCancelled);
}

// --- With the steps themselves, on a cluster in memory

class GoneMachine final : public CloudProvider {
 public:
  bool can(MachineAction, const Machine&) const override { return true; }
  Status reboot(const Machine&, const Permit&) override {
    return fail(ErrorKind::kInternal, "not asked for");
  }
  Status terminate(const Machine&, const Permit& permit) override { return permit(); }
  Result<MachineFate> fate(const Machine&) override { return Fate::kGone; }
};

// The exporter of each node reports its own boot, and severity isolate if the node is in `bad`.
class AllReports final : public HealthReports {
 public:
  explicit AllReports(Clock& clock) : clock_(clock) {}
  Result<HealthReport> latest(std::string_view node) override {
    const Severity severity =
        bad.contains(std::string(node)) ? Severity::kIsolate : Severity::kNone;
    return HealthReport{.measured_at = clock_.wall(),
                        .severity = severity,
                        .confirmed_severity = severity,
                        .boot_id = "boot-" + std::string(node),
                        .sees_kernel_log = true,
                        .observed_at = {{severity, clock_.wall()}}};
  }
  std::set<std::string> bad;

 private:
  Clock& clock_;
};

// Like ClusterTest, but terminate and verify are the real steps.
class ReplacementTest : public ClusterTest {
 protected:
  ReplacementTest() {
    kube_.patch("/api/v1/nodes/gpu-01", {{"metadata", {{"labels", {{"pool", "a"}}}}}});
    join("gpu-02");
    clock_.advance(minutes(15));  // the startup grace is over
    policy_.set(waiting_policy());
    steps_[Step::kDrain].progress =
        StepProgress{.result = StepResult::kDone, .message = "done", .facts = {}, .look_again = {}};
    reports.bad = {"gpu-01", "gpu-02"};
    begin_process();
  }
  // Starts a process with its own steps. State that was only in memory is lost.
  void begin_process() {
    verify_.reset();
    known_.reset();
    replica_ = std::make_unique<Replica>(
        api_, clock_, policy_, &reports, nullptr, slots_, [this](Step step) { return own(step); },
        [this] { return permit_; }, nullptr);
    known_ = std::make_unique<KnownReplacements>(replica_->view, replica_->store);
    verify_ = std::make_unique<VerifyAction>(&reports, policy_, *known_);
    catch_up(*replica_);
  }
  StepAction* own(Step step) {
    if (step == Step::kTerminate) return &end_;
    if (step == Step::kVerify) return verify_.get();
    return &steps_[step];
  }
  void join(const std::string& name, const std::string& instance = "") {
    Json node = fakes::ready_node(name);
    node["metadata"]["labels"]["pool"] = "a";
    if (!instance.empty()) node["spec"]["providerID"] = "aws:///eu-west-1a/" + instance;
    kube_.create("/api/v1/nodes", node);
    if (replica_) catch_up(*replica_);
  }
  // Brings the node to the point where its machine and its Node are gone and gpuward waits for a
  // replacement.
  void end_machine_of(const std::string& name) {
    AlertSignal bad = signal(Severity::kIsolate);
    bad.node = name;
    bad.fingerprint = "ab-" + name;
    ASSERT_TRUE(take({bad}));
    for (int i = 0; i < 3; ++i) ASSERT_TRUE(reconcile(1, name));
    ASSERT_EQ(of(name).status.phase, Phase::kTerminating);
    kube_.remove("/api/v1/nodes/" + name);
    for (int i = 0; i < 2; ++i) ASSERT_TRUE(reconcile(1, name));
    ASSERT_EQ(of(name).status.phase, Phase::kVerifying);
  }
  Remediation of(const std::string& name) {
    for (const Remediation& one : remediations()) {
      if (one.node == name && one.node_uid != uid_of_name(name)) return one;
    }
    for (const Remediation& one : remediations()) {
      if (one.node == name) return one;
    }
    return {};
  }
  std::string uid_of_name(const std::string& name) {
    const auto node = api_.get_node(name);
    return node ? node->meta.uid : "";
  }
  void pass(minutes time, const std::string& name = "gpu-01") {
    for (const auto end = clock_.steady() + time; clock_.steady() < end;) {
      clock_.advance(seconds(30));
      ASSERT_TRUE(reconcile(10, name));
    }
  }
  std::string counted(const std::string& name) {
    const Remediation remediation = of(name);
    const StepRecord* wait = remediation.status.find(Step::kVerify);
    const auto fact = wait->facts.find(kReplacementFact);
    return fact == wait->facts.end() ? "" : fact->second;
  }
  void annotate(const std::string& name, const char* key) {
    kube_.patch(remediation_collection() + "/" + of(name).name,
                {{"metadata", {{"annotations", {{key, "true"}}}}}});
  }

  AllReports reports{clock_};
  GoneMachine machines;
  TerminateAction end_{api_, machines, policy_};
  std::unique_ptr<KnownReplacements> known_;
  std::unique_ptr<VerifyAction> verify_;
};

TEST_F(ReplacementTest, IsAnotherNodeThatHasJoinedAndLooksWell) {
  end_machine_of("gpu-01");
  pass(minutes(2));
  EXPECT_EQ(of("gpu-01").status.message, "waiting for a replacement in pool a");
  EXPECT_TRUE(slots_.given_back.empty());
  join("gpu-07");

  pass(minutes(11));

  EXPECT_EQ(of("gpu-01").status.phase, Phase::kReplaced);
  EXPECT_EQ(of("gpu-01").status.message, "replaced by node gpu-07");
  EXPECT_EQ(slots_.given_back.size(), 1U);
  EXPECT_TRUE(of("gpu-01").status.reached.contains(Milestone::kRecovered));
  EXPECT_FALSE(our_taint_on(node("gpu-07"))) << "it is only looked at";
}

TEST_F(ReplacementTest, MayHaveTheNameOfTheOldOne) {
  end_machine_of("gpu-01");
  reports.bad.erase("gpu-01");
  join("gpu-01", "i-new");

  pass(minutes(11));

  EXPECT_EQ(of("gpu-01").status.message, "replaced by node gpu-01");
  EXPECT_EQ(of("gpu-01").status.phase, Phase::kReplaced);
}

TEST_F(ReplacementTest, IsNoNodeThatWasThereBefore) {
  join("gpu-06");
  clock_.advance(minutes(1));
  end_machine_of("gpu-01");

  pass(minutes(20));

  EXPECT_EQ(of("gpu-01").status.phase, Phase::kVerifying);
}

TEST_F(ReplacementTest, DoesNotCountIfItIsBadItself) {
  end_machine_of("gpu-01");
  join("gpu-07");
  pass(minutes(1));
  ASSERT_EQ(counted("gpu-01"), "gpu-07");
  AlertSignal bad = signal(Severity::kReset);
  bad.node = "gpu-07";
  bad.fingerprint = "cd";
  ASSERT_TRUE(take({bad}));

  pass(minutes(12));

  EXPECT_EQ(of("gpu-01").status.phase, Phase::kVerifying);
  EXPECT_EQ(counted("gpu-01"), "");
  EXPECT_THAT(of("gpu-01").status.message, HasSubstr("it has a remediation of its own"));
}

TEST_F(ReplacementTest, CountsForOneOfTwoThatHaveLostTheirMachines) {
  end_machine_of("gpu-01");
  end_machine_of("gpu-02");
  join("gpu-07");
  pass(minutes(6), "gpu-02");
  pass(minutes(6), "gpu-01");
  pass(minutes(6), "gpu-02");

  EXPECT_EQ(of("gpu-02").status.message, "replaced by node gpu-07");
  EXPECT_EQ(of("gpu-01").status.phase, Phase::kVerifying);
  EXPECT_THAT(of("gpu-01").status.message,
              HasSubstr("it already counts as the replacement for " + of("gpu-02").name));
  join("gpu-08");
  pass(minutes(11), "gpu-01");
  EXPECT_EQ(of("gpu-01").status.message, "replaced by node gpu-08");
}

// Another process wrote its claim, and this one's caches have not seen it yet.
TEST_F(ReplacementTest, IsNotTakenByWhoeverHasNotHeardOfAnothersClaim) {
  end_machine_of("gpu-01");
  end_machine_of("gpu-02");
  join("gpu-07");
  ASSERT_TRUE(replica_->reconciler.reconcile("gpu-01"));
  Replica& first = *replica_;
  const Remediation unheard = of("gpu-02");
  auto stale = std::make_unique<Replica>(
      api_, clock_, policy_, &reports, nullptr, slots_, [this](Step step) { return own(step); },
      [this] { return permit_; }, nullptr);
  catch_up(*stale);
  // gpu-01's claim is not in that view yet.
  Remediation blank = of("gpu-01");
  blank.status.steps.pop_back();
  stale->view.put_remediation(blank);
  KnownReplacements old_news(stale->view, stale->store);
  VerifyAction late(&reports, policy_, old_news);
  const StepRecord* wait = unheard.status.find(Step::kVerify);
  const PlannedStep step = planned(Step::kVerify);
  const kube::Node gone;
  const auto ask = [&](const Facts& facts) {
    return *late.watch({.remediation = unheard,
                        .node = gone,
                        .step = step,
                        .facts = facts,
                        .permit = [] { return Status(); },
                        .now = clock_.wall(),
                        .ran = std::chrono::floor<milliseconds>(clock_.wall() - *wait->intent_at)});
  };
  const auto claimed = ask(wait->facts);
  ASSERT_EQ(claimed.facts.at(kReplacementFact), "gpu-07") << "it does not know better";
  for (int i = 0; i < 9; ++i) {
    clock_.advance(minutes(1));
    ASSERT_TRUE(first.reconciler.reconcile("gpu-01"));
  }
  clock_.advance(seconds(119));

  EXPECT_EQ(ask(claimed.facts).result, StepResult::kRunning);
  ASSERT_TRUE(first.reconciler.reconcile("gpu-01"));
  EXPECT_TRUE(of("gpu-01").status.has_done(Step::kVerify));
}

TEST_F(ReplacementTest, IsHeldForAHumanIfNoneJoinsAndCancelEndsIt) {
  end_machine_of("gpu-01");

  pass(minutes(46));

  EXPECT_EQ(of("gpu-01").status.phase, Phase::kHeld);
  EXPECT_THAT(of("gpu-01").status.message, HasSubstr("no replacement has joined within 45m"));
  ASSERT_EQ(replica_->announcer.told.size(), 1U);
  EXPECT_EQ(replica_->announcer.told[0].reason, "GpuwardHeld");
  annotate("gpu-01", "gpuward.dev/cancel");
  ASSERT_TRUE(reconcile());
  EXPECT_EQ(of("gpu-01").status.phase, Phase::kCancelled);
  EXPECT_EQ(slots_.given_back.size(), 1U);
}

TEST_F(ReplacementTest, IsNotWaitedForWhileAHumanSaysPause) {
  end_machine_of("gpu-01");
  annotate("gpu-01", "gpuward.dev/pause");
  join("gpu-07");

  pass(minutes(12));

  EXPECT_EQ(of("gpu-01").status.phase, Phase::kPaused);
  EXPECT_EQ(counted("gpu-01"), "");
}

// The decision ignores a cache that still has the node, because the machine is proven gone.
TEST_F(ReplacementTest, IsWaitedForWhateverTheCachesStillHaveOfTheNode) {
  const kube::Node old = node("gpu-01");
  end_machine_of("gpu-01");
  replica_->view.put_node(old, std::nullopt);

  ASSERT_TRUE(replica_->reconciler.reconcile("gpu-01"));

  EXPECT_EQ(of("gpu-01").status.phase, Phase::kVerifying);
}

// Any request of the wait may be the last one of a process, or lose its answer.
struct WaitCut {
  FaultKind kind;
  int after;
};

class ReplacementCutOff : public ReplacementTest, public ::testing::WithParamInterface<WaitCut> {
 protected:
  void cut() {
    kube_.add_fault({.kind = GetParam().kind, .times = 1, .skip = GetParam().after});
    catch_up(*replica_);
    (void)replica_->reconciler.reconcile("gpu-01");
    kube_.clear_faults();
    begin_process();
  }
};

TEST_P(ReplacementCutOff, GoesOnWithTheNodeThatCounted) {
  end_machine_of("gpu-01");
  join("gpu-07");
  cut();  // while gpuward finds the node
  pass(minutes(1));
  ASSERT_EQ(counted("gpu-01"), "gpu-07");
  const std::string since = of("gpu-01").status.find(Step::kVerify)->facts.at("healthySince");
  join("gpu-06");  // would come first
  pass(minutes(5));
  cut();
  EXPECT_EQ(of("gpu-01").status.find(Step::kVerify)->facts.at("healthySince"), since);
  pass(minutes(4));
  cut();  // while the wait ends
  pass(minutes(3));

  EXPECT_EQ(of("gpu-01").status.phase, Phase::kReplaced);
  EXPECT_EQ(of("gpu-01").status.message, "replaced by node gpu-07");
  EXPECT_EQ(of("gpu-01").status.find(Step::kVerify)->attempts, 1);
}

INSTANTIATE_TEST_SUITE_P(
    EveryRequest, ReplacementCutOff,
    ::testing::Values(WaitCut{FaultKind::kDropBefore, 0}, WaitCut{FaultKind::kDropBefore, 1},
                      WaitCut{FaultKind::kDropBefore, 2}, WaitCut{FaultKind::kDropBefore, 3},
                      WaitCut{FaultKind::kDropBefore, 4}, WaitCut{FaultKind::kDropAfter, 0},
                      WaitCut{FaultKind::kDropAfter, 1}, WaitCut{FaultKind::kDropAfter, 2},
                      WaitCut{FaultKind::kDropAfter, 3}, WaitCut{FaultKind::kDropAfter, 4}),
    [](const auto& cut) {
      return std::string(cut.param.kind == FaultKind::kDropBefore ? "Before" : "After") +
             std::to_string(cut.param.after);
    });

}  // namespace
}  // namespace gpuward::remediator
