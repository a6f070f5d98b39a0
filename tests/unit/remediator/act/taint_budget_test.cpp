// One false finding on each node of a fleet: how many gpuward taints, and how it reports the
// others. Over the real ledger in the fake API server.
#include <algorithm>

#include "remediator/cluster/view_queries.h"
#include "remediator/decide/budgets/ledger_slots.h"
#include "tests/unit/remediator/act/cluster_fixture.h"

namespace gpuward::remediator {
namespace {

using std::chrono::minutes;
using std::chrono::seconds;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

constexpr const char* kLedgerMap = "/api/v1/namespaces/default/configmaps/gpuward-ledger";

class TaintBudgetTest : public ClusterTest {
 protected:
  TaintBudgetTest()
      : store_(api_, {.ns = "default"}, clock_),
        slots_over_(store_, replica_->store, replica_->view, policy_, clock_),
        reconciler_({.api = api_,
                     .store = replica_->store,
                     .view = replica_->view,
                     .policy = policy_,
                     .reports = nullptr,
                     .alerts = nullptr,
                     .slots = slots_over_,
                     .step_actions = [this](Step step) { return &steps_[step]; },
                     .permit = [] { return Status(); },
                     .announcer = replica_->announcer,
                     .observer = replica_->recorder,
                     .clock = clock_}) {
    set(Mode::kCordon);
    EXPECT_TRUE(slots_over_.keep());
  }
  void set(Mode mode, const std::function<void(BudgetLimits&)>& change = {}) {
    Policy policy;
    policy.mode = mode;
    if (change) change(policy.budgets);
    policy_.set(policy);
  }
  void have_nodes(int count) {
    for (int n = 2; n <= count; ++n) kube_.create("/api/v1/nodes", fakes::ready_node(name_of(n)));
    hear();
  }
  void hear() {
    catch_up(*replica_);
    replica_->view.informers().note_heard(Informer::kNodes, clock_.steady());
    replica_->view.informers().note_heard(Informer::kRemediations, clock_.steady());
  }
  static std::string name_of(int n) { return (n < 10 ? "gpu-0" : "gpu-") + std::to_string(n); }
  void go_bad(int n, Severity severity = Severity::kReboot) {
    AlertSignal bad = signal(severity);
    bad.node = name_of(n);
    bad.alertname = "Gpu" + std::string(to_string(severity));
    bad.fingerprint = name_of(n) + bad.alertname;
    ASSERT_TRUE(take({bad}));
  }
  // Updates the view, and looks at each node that needs it.
  void look_at_all() {
    hear();
    for (const std::string& name : nodes_with_open(replica_->view)) look_at(name);
  }
  void look_at(const std::string& name) {
    for (int tries = 0; tries < 4; ++tries) {
      const auto next = reconciler_.reconcile(name);
      ASSERT_TRUE(next) << next.errors.front().message;
      if (!next.look_again || *next.look_again > seconds(1)) return;
      clock_.advance(seconds(1));
      hear();
    }
  }
  std::vector<std::string> tainted() {
    std::vector<std::string> names;
    const Json nodes = kube_.get("/api/v1/nodes");
    for (const Json& item : nodes.at("items")) {
      const auto one = *kube::decode_node(item);
      if (our_taint_on(one)) names.push_back(one.meta.name);
    }
    return names;
  }
  std::vector<Remediation> left_in_service() {
    auto all = remediations();
    std::erase_if(all, [](const Remediation& one) { return !is_left_in_service(one.status); });
    return all;
  }
  std::size_t told() const { return replica_->announcer.told.size(); }

  LedgerStore store_;
  LedgerSlots slots_over_;
  Reconciler reconciler_;
};

TEST_F(TaintBudgetTest, OneFalseFindingOnEachOfAHundredNodesIsAStormAndTaintsNone) {
  have_nodes(100);
  for (int n = 1; n <= 100; ++n) go_bad(n);

  look_at_all();

  EXPECT_THAT(tainted(), IsEmpty());
  const auto waiting = left_in_service();
  ASSERT_THAT(waiting, SizeIs(100));
  EXPECT_EQ(waiting[0].status.phase, Phase::kWaiting);
  EXPECT_EQ(waiting[0].status.rule, "budget.storm");
  EXPECT_THAT(waiting[0].status.message, AllOf(HasSubstr("the node gets no taint or cordon"),
                                               HasSubstr("fired on 100 nodes")));
  EXPECT_EQ(told(), 100U);
  EXPECT_EQ(waiting[0].status.notified_phase, Phase::kWaiting);
}

TEST_F(TaintBudgetTest, ThatComeOneAfterTheOtherTaintAFewBeforeTheyAreAStorm) {
  have_nodes(40);
  for (int n = 1; n <= 40; ++n) {
    go_bad(n);
    hear();
    look_at(name_of(n));
  }
  EXPECT_THAT(tainted(), SizeIs(3));
  EXPECT_THAT(left_in_service(), SizeIs(37));
}

TEST_F(TaintBudgetTest, WithoutStormsTaintsAFifthAndSaysSoOfTheOthers) {
  set(Mode::kTaint, [](BudgetLimits& budgets) { budgets.storm.share = {1000, 0}; });
  have_nodes(100);
  for (int n = 1; n <= 100; ++n) go_bad(n);

  look_at_all();
  clock_.advance(minutes(1));
  look_at_all();

  EXPECT_THAT(tainted(), SizeIs(20));
  const auto waiting = left_in_service();
  ASSERT_THAT(waiting, SizeIs(80));
  for (const Remediation& one : waiting) {
    EXPECT_EQ(one.status.rule, "budget.taint");
    EXPECT_THAT(one.status.message, HasSubstr("20 of 20 allowed are tainted"));
  }
  EXPECT_EQ(told(), 80U);
}

TEST_F(TaintBudgetTest, TheWorstOfThoseThatWaitIsTaintedFirst) {
  set(Mode::kTaint, [](BudgetLimits& budgets) {
    budgets.storm.share = {1000, 0};
    budgets.tainted = {1, 0};
  });
  have_nodes(5);
  go_bad(1, Severity::kReset);
  look_at_all();
  go_bad(2, Severity::kReset);
  go_bad(3, Severity::kIsolate);
  look_at_all();
  ASSERT_THAT(tainted(), ::testing::ElementsAre("gpu-01"));

  kube_.patch("/api/v1/nodes/gpu-01", {{"spec", {{"taints", nullptr}}}});
  for (const Remediation& one : remediations()) {
    if (one.node == "gpu-01")
      kube_.patch(remediation_collection() + "/" + one.name,
                  {{"metadata", {{"annotations", {{"gpuward.dev/cancel", "true"}}}}}});
  }
  look_at_all();
  clock_.advance(minutes(1));
  look_at_all();

  EXPECT_THAT(tainted(), ::testing::ElementsAre("gpu-03"));
}

TEST_F(TaintBudgetTest, AnEscalationChangesTheTaintAndIsNoNewOne) {
  set(Mode::kTaint, [](BudgetLimits& budgets) { budgets.tainted = {1, 0}; });
  go_bad(1, Severity::kReset);
  look_at_all();
  ASSERT_EQ(our_taint_on(node()), "reset");
  set(Mode::kTaint, [](BudgetLimits& budgets) { budgets.tainted = {0, 0}; });

  go_bad(1, Severity::kIsolate);
  look_at_all();

  EXPECT_EQ(our_taint_on(node()), "isolate");
}

// A change that the informer has not delivered yet frees no room.
TEST_F(TaintBudgetTest, ATaintThatIsGoneByNowIsANewOne) {
  set(Mode::kTaint, [](BudgetLimits& budgets) { budgets.tainted = {1, 0}; });
  have_nodes(2);
  go_bad(2);
  look_at_all();
  ASSERT_THAT(tainted(), ::testing::ElementsAre("gpu-02"));
  const auto taint_first = [&](const Json& taints) {
    kube_.patch("/api/v1/nodes/gpu-01", {{"spec", {{"taints", taints}}}});
  };
  taint_first(Json::array(
      {{{"key", std::string(kTaintKey)}, {"value", "reboot"}, {"effect", "NoSchedule"}}}));
  hear();
  taint_first(nullptr);

  go_bad(1, Severity::kIsolate);
  const auto next = reconciler_.reconcile("gpu-01");

  ASSERT_TRUE(next) << next.errors.front().message;
  EXPECT_THAT(tainted(), ::testing::ElementsAre("gpu-02"));
  EXPECT_THAT(left_in_service(), SizeIs(1));
}

// The process crashed between the intent and the change of the node.
TEST_F(TaintBudgetTest, ATaintWhoseSlotIsTakenGoesOnWhateverTheBudgetSaysByNow) {
  set(Mode::kTaint);
  go_bad(1);
  hear();
  kube_.add_fault({.kind = fakes::FaultKind::kUnavailable,
                   .method = "PATCH",
                   .path = "/api/v1/nodes/.*",
                   .times = -1});
  ASSERT_FALSE(reconciler_.reconcile("gpu-01"));
  kube_.clear_faults();
  ASSERT_FALSE(our_taint_on(node()));
  set(Mode::kTaint, [](BudgetLimits& budgets) { budgets.tainted = {0, 0}; });

  look_at_all();

  EXPECT_EQ(our_taint_on(node()), "reboot");
}

TEST_F(TaintBudgetTest, TaintAndCordonAreOneWriteOfTheLedger) {
  go_bad(1);
  hear();
  kube_.clear_requests();
  look_at("gpu-01");
  expect_quarantined();
  EXPECT_THAT(kube_.requests("PUT", kLedgerMap), SizeIs(1));
}

TEST_F(TaintBudgetTest, ALedgerThatCannotBeReadTaintsNothing) {
  kube_.patch(kLedgerMap, {{"data", {{"ledger", "sludge"}}}});
  go_bad(1);
  look_at_all();
  EXPECT_THAT(tainted(), IsEmpty());
  ASSERT_THAT(left_in_service(), SizeIs(1));
  EXPECT_EQ(left_in_service()[0].status.rule, "budget.ledger");
}

// An earlier version took no slots for taints, so that these are missing.
TEST_F(TaintBudgetTest, CountsWhatAVersionWithoutSuchSlotsHasTainted) {
  set(Mode::kTaint, [](BudgetLimits& budgets) { budgets.storm.share = {1000, 0}; });
  have_nodes(10);
  go_bad(1);
  go_bad(2);
  look_at_all();
  ASSERT_THAT(tainted(), SizeIs(2));
  kube_.patch(kLedgerMap, {{"data", {{"taints", nullptr}}}});
  go_bad(3);
  look_at_all();
  EXPECT_THAT(tainted(), SizeIs(2));
  ASSERT_TRUE(slots_over_.keep());
  EXPECT_THAT(store_.read().value().taints, SizeIs(2));
}

}  // namespace
}  // namespace gpuward::remediator
