// The decisions that the reconciler bases on its informers, and those for which it reads again. The
// view may be out of date at any moment.
#include "remediator/cluster/cluster_view.h"
#include "remediator/cluster/view_queries.h"
#include "tests/unit/remediator/act/cluster_fixture.h"

namespace gpuward::remediator {
namespace {

using std::chrono::minutes;
using std::chrono::seconds;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

constexpr const char* kSeenNode = "/api/v1/nodes/gpu-01";

class ViewTest : public ClusterTest {
 protected:
  ViewTest() {
    clock_.advance(minutes(15));  // the startup grace is over
    Policy policy;
    policy.mode = Mode::kFull;
    for (const Step step : {Step::kTaint, Step::kCordon, Step::kDrain, Step::kReboot})
      policy.steps[Severity::kReboot].push_back(planned(step));
    policy_.set(policy);
    reports_.answer = report_of(Severity::kReboot);
    EXPECT_TRUE(take({signal()}));
    catch_up(*replica_);
  }
  // Looks without any news from the informers.
  NodeLook look() { return replica_->reconciler.reconcile("gpu-01"); }
  std::size_t reads() { return kube_.requests("GET", "/").size(); }
  std::size_t status_writes() { return kube_.requests("PUT", remediation_collection()).size(); }
  void say_progress(const std::string& message) {
    steps_[Step::kDrain].progress = StepProgress{
        .result = StepResult::kRunning, .message = message, .facts = {}, .look_again = {}};
    ASSERT_TRUE(look());
  }
};

TEST_F(ViewTest, IsEnoughForTheMarks) {
  kube_.clear_requests();

  ASSERT_TRUE(look());

  EXPECT_EQ(reads(), 0U);
  expect_quarantined();
}

// A new policy may limit another label.
TEST_F(ViewTest, ReadsThePlacesOfAllNodesAgainForAnotherPolicy) {
  kube_.patch(kSeenNode, Json{{"metadata", {{"labels", {{"rack", "r7"}}}}}});
  catch_up(*replica_);
  const auto racks = [&] {
    std::map<std::string, std::string> found;
    with_fleet(replica_->view,
               [&](const Fleet& fleet) { found = fleet.nodes.begin()->second.place.domains; });
    return found;
  };
  ASSERT_THAT(racks(), IsEmpty());
  PlaceKeys keys;
  keys.domains = {"rack"};

  replica_->view.set_places(keys);

  EXPECT_EQ(racks().at("rack"), "r7");

  FleetNode by_the_old_policy = fleet_node(node(), {});
  replica_->view.put_node(node(), std::move(by_the_old_policy));
  EXPECT_EQ(racks().at("rack"), "r7") << "its event was read before, and comes after";
}

TEST_F(ViewTest, MarksNoNodeThatIsNotAsItWasSeen) {
  kube_.patch(kSeenNode, Json{{"metadata", {{"labels", {{"gpuward.dev/managed", "false"}}}}}});

  EXPECT_FALSE(look());
  ASSERT_TRUE(look());

  EXPECT_FALSE(our_taint_on(node()));
  EXPECT_FALSE(node().unschedulable);
  EXPECT_THAT(slots_.given_back, IsEmpty());
}

TEST_F(ViewTest, RecordsNothingOverWhatAHumanHasSaidSince) {
  kube_.patch(remediation_collection() + "/" + remediation().name,
              Json{{"metadata", {{"annotations", {{std::string(kPauseAnnotation), "now"}}}}}});

  EXPECT_FALSE(look());
  ASSERT_TRUE(look());

  EXPECT_FALSE(our_taint_on(node()));
  EXPECT_EQ(remediation().status.phase, Phase::kPaused);
}

TEST_F(ViewTest, IsNotEnoughForAStepThatHarms) {
  ASSERT_TRUE(look());
  catch_up(*replica_);
  kube_.patch(kSeenNode, Json{{"spec", {{"unschedulable", nullptr}}}});

  ASSERT_TRUE(look());

  EXPECT_EQ(steps_[Step::kDrain].begun, 0);
  EXPECT_EQ(remediation().status.phase, Phase::kPaused);
}

TEST_F(ViewTest, IsReadAnewAfterAFailure) {
  kube_.add_fault({.kind = fakes::FaultKind::kConflict, .method = "PUT", .times = 1});
  EXPECT_FALSE(look());
  kube_.clear_requests();

  ASSERT_TRUE(look());
  EXPECT_EQ(reads(), 2U);
  kube_.clear_requests();
  ASSERT_TRUE(look());  // of the drain
  ASSERT_TRUE(look());

  EXPECT_EQ(reads(), 6U);  // two reads to begin, and two for each permit
}

class PermitTest : public ViewTest {
 protected:
  PermitTest() {
    EXPECT_TRUE(look());
    EXPECT_TRUE(look());
    EXPECT_EQ(steps_[Step::kDrain].begun, 1);
    EXPECT_TRUE(permit());
  }
  Status permit() { return steps_[Step::kDrain].permit(); }
};

TEST_F(PermitTest, RefusesWhatIsSentOnceAnotherNodeHasTheName) {
  kube_.remove(kSeenNode);
  kube_.create("/api/v1/nodes", fakes::ready_node("gpu-01"));

  const auto allowed = permit();

  ASSERT_FALSE(allowed);
  EXPECT_THAT(allowed.error().message, HasSubstr("a different node is now named gpu-01"));
  ASSERT_TRUE(look());  // the informers have not seen it
  EXPECT_EQ(remediation().status.phase, Phase::kSuperseded);
}

TEST_F(PermitTest, RefusesWhatIsSentOnceTheNodeIsGone) {
  kube_.remove(kSeenNode);

  const auto allowed = permit();

  ASSERT_FALSE(allowed);
  EXPECT_THAT(allowed.error().message, HasSubstr("gpu-01 is gone"));
}

TEST_F(PermitTest, RefusesIfTheNodeCannotBeRead) {
  kube_.add_fault({.kind = fakes::FaultKind::kForbidden, .path = kSeenNode});

  EXPECT_FALSE(permit());
  EXPECT_TRUE(permit());
}

// Nothing happens between this read and the call.
TEST_F(PermitTest, ReadsLastWhatPeopleHaveSaid) {
  fakes::Fault meanwhile{.kind = fakes::FaultKind::kDelay, .path = kSeenNode};
  meanwhile.on_hit = [this] {
    kube_.patch(remediation_collection() + "/" + remediation().name,
                Json{{"metadata", {{"annotations", {{std::string(kPauseAnnotation), "now"}}}}}});
  };
  kube_.add_fault(meanwhile);

  EXPECT_FALSE(permit());
}

TEST_F(PermitTest, RestsOnNothingThatIsOlderThan30Seconds) {
  kube_.add_fault({.kind = fakes::FaultKind::kDelay, .path = kSeenNode, .delay = seconds(31)});

  const auto allowed = permit();

  ASSERT_FALSE(allowed);
  EXPECT_THAT(allowed.error().message, HasSubstr("30 s"));
  EXPECT_TRUE(permit());
}

// The fenced client refuses requests to the API server, but a cloud or a program refuses nothing.
TEST_F(PermitTest, RefusesIfThisReplicaDoesNotLeadAnyMore) {
  bool leads = true;
  Reconciler reconciler({.api = api_,
                         .store = replica_->store,
                         .view = replica_->view,
                         .policy = policy_,
                         .reports = &reports_,
                         .alerts = nullptr,
                         .slots = slots_,
                         .step_actions = [this](Step step) { return action_of(step); },
                         .permit = [] { return Status(); },
                         .announcer = replica_->announcer,
                         .observer = replica_->recorder,
                         .clock = clock_,
                         .leads = [&leads] { return leads; }});
  ASSERT_TRUE(reconciler.reconcile("gpu-01"));
  ASSERT_TRUE(permit());

  leads = false;
  const auto allowed = permit();

  ASSERT_FALSE(allowed);
  EXPECT_THAT(allowed.error().message, HasSubstr("no longer the leader"));
}

TEST_F(ViewTest, OfAStepThatGoesOnIsWrittenWhenItSaysMoreThanWords) {
  ASSERT_TRUE(look());
  say_progress("3 pods left");
  say_progress("3 pods left");
  say_progress("2 pods left");
  kube_.clear_requests();

  say_progress("1 pod left");
  EXPECT_EQ(status_writes(), 0U);
  clock_.advance(seconds(5));
  say_progress("1 pod left");
  EXPECT_EQ(status_writes(), 1U);
  steps_[Step::kDrain].adds = {{"blocked", "yes"}};
  say_progress("none left");

  EXPECT_EQ(status_writes(), 2U);
  EXPECT_EQ(remediation().status.message, "none left");
}

// The start of a drain identifies it. Read back to the millisecond, it must stay the same.
TEST_F(ViewTest, KnowsTimesAsTheResourceKeepsThem) {
  clock_.advance(std::chrono::nanoseconds(456'789));
  ASSERT_TRUE(look());
  const std::string name = remediation().name;

  EXPECT_EQ(last_remediation(replica_->view, name)->status, remediation().status);
}

// An informer may deliver the intent long after the result was written. A write of another replica
// may arrive after this process has read the next one.
TEST_F(ViewTest, IsNotSetBackByWhatTheInformerTellsLate) {
  const Remediation opened = remediation();
  ASSERT_TRUE(look());
  const Remediation marked = remediation();
  ASSERT_NE(opened.resource_version, marked.resource_version);

  EXPECT_TRUE(knows_version(replica_->view, opened.name, opened.resource_version));
  EXPECT_TRUE(knows_version(replica_->view, marked.name, marked.resource_version));
  EXPECT_FALSE(knows_version(replica_->view, marked.name, "999999"));
  EXPECT_FALSE(knows_version(replica_->view, "another", marked.resource_version));
}

// This process made the Remediation, and the informer lost both events.
TEST_F(ViewTest, ForgetsAtACompleteListWhatIsDeleted) {
  Remediation made = remediations().front();
  made.name = "made";
  made.resource_version = "20";
  replica_->view.put_remediation(made);

  replica_->view.keep_remediations({"other"}, "21");

  EXPECT_FALSE(last_remediation(replica_->view, "made"));
}

TEST_F(ViewTest, KeepsAtACompleteListWhatIsNewerThanThat) {
  Remediation made = remediations().front();
  made.name = "made";
  made.resource_version = "22";
  replica_->view.put_remediation(made);

  replica_->view.keep_remediations({}, "21");

  EXPECT_TRUE(last_remediation(replica_->view, "made"));
}

TEST_F(ViewTest, KeepsTheNewestInWhateverOrderItHears) {
  ClusterView view;
  Remediation first = remediation();
  first.resource_version = "99";
  Remediation second = first;
  second.resource_version = "100";
  second.wish.cancel = true;

  view.put_remediation(second);
  view.put_remediation(first);

  EXPECT_TRUE(last_remediation(view, first.name)->wish.cancel);
  EXPECT_TRUE(knows_version(view, first.name, "99"));
  view.remove_remediation(first.name);
  view.put_remediation(first);
  EXPECT_FALSE(last_remediation(view, first.name)->wish.cancel);
}

// Hundreds of drains must not overload the API server with their messages.
TEST_F(ViewTest, OfAllStepsTogetherLittleIsWrittenThatIsOnlyWords) {
  ASSERT_TRUE(look());
  say_progress("3 pods left");
  add_node("gpu-02");
  clock_.advance(minutes(15));  // the startup grace is over
  AlertSignal other = signal();
  other.node = "gpu-02";
  ASSERT_TRUE(take({other}));
  reports_.answer = report_of(Severity::kReboot, "boot-gpu-02");
  ASSERT_TRUE(reconcile(10, "gpu-02"));
  ASSERT_TRUE(reconcile(10, "gpu-02"));
  const auto say = [this](const std::string& node, const std::string& words) {
    steps_[Step::kDrain].progress = StepProgress{
        .result = StepResult::kRunning, .message = words, .facts = {}, .look_again = {}};
    ASSERT_TRUE(replica_->reconciler.reconcile(node));
  };
  say("gpu-02", "9 pods left");
  clock_.advance(seconds(10));
  kube_.clear_requests();

  say("gpu-01", "2 pods left");
  say("gpu-02", "8 pods left");
  EXPECT_EQ(status_writes(), 1U);
  clock_.advance(std::chrono::milliseconds(200));
  say("gpu-02", "8 pods left");
  EXPECT_EQ(status_writes(), 2U);
}

TEST_F(ViewTest, CountsWhatIsOpenAboutEachNode) {
  const auto fleet = [this] {
    Fleet copy;
    with_fleet(replica_->view, [&](const Fleet& known) { copy = known; });
    return copy;
  };
  ASSERT_THAT(fleet().nodes, SizeIs(1));
  EXPECT_EQ(fleet().nodes.begin()->second.severity, Severity::kReboot);
  EXPECT_THAT(fleet().nodes.begin()->second.alerts, SizeIs(1));

  replica_->view.remove_remediation(remediation().name);
  EXPECT_EQ(fleet().nodes.begin()->second.severity, Severity::kNone);
  EXPECT_THAT(fleet().nodes.begin()->second.alerts, IsEmpty());

  catch_up(*replica_);
  EXPECT_EQ(fleet().nodes.begin()->second.severity, Severity::kReboot);
  auto anew = node();
  anew.meta.uid = "another";
  replica_->view.put_node(anew, FleetNode{});
  EXPECT_EQ(fleet().nodes.begin()->first, "another");
  replica_->view.put_node(anew, std::nullopt);
  EXPECT_THAT(fleet().nodes, IsEmpty());
}

TEST_F(ViewTest, ShowsWhatIsOpenWithItsNode) {
  const auto nodes_seen = [this] {
    std::vector<std::string> names;
    replica_->view.with_seen([&](std::span<const SeenRemediation> open) {
      for (const SeenRemediation& one : open)
        names.push_back(one.remediation.node + (one.node == nullptr ? " unknown" : ""));
    });
    return names;
  };
  EXPECT_EQ(nodes_seen(), std::vector<std::string>{"gpu-01"});
  replica_->view.remove_node("gpu-01");
  EXPECT_EQ(nodes_seen(), std::vector<std::string>{"gpu-01 unknown"});
  auto closed = remediation();
  closed.status.phase = Phase::kReleased;
  replica_->view.put_remediation(closed);
  EXPECT_THAT(nodes_seen(), IsEmpty());
  closed.status.steps.emplace_back().step = Step::kNcclPairs;
  closed.resource_version.clear();
  replica_->view.put_remediation(closed);
  EXPECT_THAT(nodes_seen(), SizeIs(1)) << "its job peers may ask what came of it";
}

TEST_F(ViewTest, SaysHowLongTheNewestStepIsOldAndWhetherAYesIsMissing) {
  const auto only = [this] {
    const auto counts = count_remediations(replica_->view);
    return counts.size() == 1 ? counts.front() : ClusterView::Count{};
  };
  auto seen = remediation();
  seen.status.phase = Phase::kWaiting;
  seen.created = clock_.wall() - minutes(15);
  seen.status.steps.resize(2);
  seen.status.steps[0].intent_at = clock_.wall() - minutes(9);
  seen.status.steps[1].intent_at = clock_.wall() - minutes(4);
  seen.status.approval.emplace().token = "0a1b";

  replica_->view.put_remediation(seen);
  EXPECT_EQ(only().oldest_step, clock_.wall() - minutes(4));
  EXPECT_EQ(only().unanswered, 1U);

  seen.status.approval->by = "alice";
  seen.status.approval->seen_at = clock_.wall();
  replica_->view.put_remediation(seen);
  EXPECT_EQ(only().unanswered, 0U);

  seen.status.phase = Phase::kReleased;
  replica_->view.put_remediation(seen);
  EXPECT_EQ(only().number, 1U);
  EXPECT_FALSE(only().oldest_step);
}

TEST_F(ViewTest, SaysWhoWaitsForATaintIsTaintedAndIsConfirmed) {
  const auto only = [this] {
    FleetNode copy;
    with_fleet(replica_->view, [&](const Fleet& known) { copy = known.nodes.begin()->second; });
    return copy;
  };
  EXPECT_TRUE(only().waits_for_taint) << "it is not decided yet";
  EXPECT_FALSE(only().confirmed);
  AlertSignal other = signal();
  other.alertname = "GpuLost";
  other.fingerprint = "cd";
  ASSERT_TRUE(take({other}));
  EXPECT_TRUE(only().confirmed);
  EXPECT_FALSE(only().tainted);

  ASSERT_TRUE(look());

  EXPECT_TRUE(only().tainted) << "before the informer tells";
  catch_up(*replica_);
  EXPECT_TRUE(only().tainted);
  EXPECT_FALSE(only().waits_for_taint);
}

TEST_F(ViewTest, TakesTheKernelsWordForAConfirmation) {
  Remediation known = remediation();
  known.status.confirmed_severity = Severity::kReboot;
  known.status.rule = "budget.taint";
  replica_->view.put_remediation(known);
  with_fleet(replica_->view, [&](const Fleet& fleet) {
    EXPECT_TRUE(fleet.nodes.begin()->second.confirmed);
    EXPECT_TRUE(fleet.nodes.begin()->second.waits_for_taint);
  });
}

}  // namespace
}  // namespace gpuward::remediator
