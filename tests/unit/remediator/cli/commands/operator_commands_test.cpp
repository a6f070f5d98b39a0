// Commands of operators, against the fake API server.
#include "remediator/cli/commands/operator_commands.h"

#include "core/runtime/json.h"
#include "remediator/cli/commands/list_command.h"
#include "remediator/cluster/gates/switch_position.h"
#include "remediator/decide/budgets/breaker.h"
#include "remediator/decide/budgets/ledger_store.h"
#include "tests/unit/remediator/act/cluster_fixture.h"

namespace gpuward::remediator {
namespace {

using std::chrono::minutes;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

class HumanCommands : public ClusterTest {
 protected:
  HumanCommands() {
    clock_.advance(minutes(15));
    Policy policy;
    policy.mode = Mode::kFull;
    policy.steps[Severity::kReboot] = {planned(Step::kTaint), planned(Step::kCordon),
                                       planned(Step::kDrain)};
    policy.steps[Severity::kReboot][2].before.approval = true;
    policy_.set(policy);
  }
  // The node waits for the approval of its drain.
  void wait_for_approval() {
    ASSERT_TRUE(take({signal()}));
    ASSERT_TRUE(reconcile());
    reports_.answer = report_of(Severity::kReboot);
    ASSERT_TRUE(reconcile());
    ASSERT_EQ(remediation().status.rule, "guard.approval");
  }
  void find_xid_79() {
    kube_.patch_status("/apis/gpuward.dev/v1alpha1/remediations/" + remediation().name,
                       {{"status",
                         {{"findings",
                           {{{"check", "xid"},
                             {"code", "79"},
                             {"firstSeen", "2026-01-01T00:00:00Z"},
                             {"lastSeen", "2026-01-01T00:00:00Z"}}}}}}});
  }
  void set_switch(const std::string& stop) {
    kube_.create("/api/v1/namespaces/default/configmaps",
                 {{"metadata", {{"name", kSwitchName}}}, {"data", {{"stop", stop}}}});
  }
  using Command = Result<std::string> (*)(const CommandFlags&, kube::Api&, Clock&);
  Result<std::string> say(Command command, const std::string& token = {},
                          const std::string& name = "gpu-01",
                          OutputFormat output = OutputFormat::kTable) {
    CommandFlags flags;
    flags.output = output;
    flags.node = name;
    flags.token = token;
    flags.state_namespace = "default";
    return command(flags, api_, clock_);
  }
};

TEST_F(HumanCommands, ApproveTheStepThatWaitsUnderTheCallersName) {
  wait_for_approval();

  const auto said = say(approve_step, remediation().status.approval->token);

  ASSERT_TRUE(said) << said.error().message;
  EXPECT_THAT(*said, HasSubstr("anonymous-admin has approved drain of node gpu-01"));
  EXPECT_EQ(remediation().wish.approved_by, "anonymous-admin");
  ASSERT_TRUE(reconcile());
  EXPECT_EQ(steps_[Step::kDrain].begun, 1);
}

TEST_F(HumanCommands, ApproveNothingElse) {
  EXPECT_EQ(say(approve_step, "0123456789").error().kind, ErrorKind::kNotFound);
  wait_for_approval();

  EXPECT_THAT(say(approve_step, "0123456789").error().message, HasSubstr("explain gpu-01"));
  EXPECT_EQ(say(approve_step, "x", "../x").error().kind, ErrorKind::kInvalid);
  EXPECT_EQ(remediation().wish.approved_token, "");
}

// The remediator may write at any moment. An operator who approves or stops must not get an error
// for it.
TEST_F(HumanCommands, AreSaidAgainIfTheRemediatorWroteAtTheSameMoment) {
  wait_for_approval();
  const std::string token = remediation().status.approval->token;
  const auto conflict = [&](int times) {
    kube_.add_fault({.kind = fakes::FaultKind::kConflict, .method = "PATCH", .times = times});
  };
  conflict(2);
  EXPECT_TRUE(say(approve_step, token));
  EXPECT_EQ(remediation().wish.approved_token, token);
  conflict(1);
  EXPECT_TRUE(say(pause_node));
  EXPECT_TRUE(remediation().wish.pause);
  conflict(1);
  EXPECT_TRUE(say(resume_node));
  EXPECT_FALSE(remediation().wish.pause);

  conflict(100);
  EXPECT_EQ(say(cancel_node).error().kind, ErrorKind::kConflict);
  kube_.clear_faults();
  EXPECT_TRUE(say(cancel_node));
}

TEST_F(HumanCommands, ResumeOnlyWhatAHumanHasPausedByWord) {
  wait_for_approval();
  EXPECT_THAT(*say(resume_node), HasSubstr("is not paused"));
  kube_.patch("/api/v1/nodes/gpu-01", {{"spec", {{"unschedulable", nullptr}}}});
  catch_up(*replica_);
  ASSERT_TRUE(reconcile());
  ASSERT_EQ(remediation().status.phase, Phase::kPaused);

  const auto said = say(resume_node);

  ASSERT_FALSE(said);
  EXPECT_THAT(said.error().message, HasSubstr("gpuwardctl cancel gpu-01"));
}

TEST_F(HumanCommands, SayThatAHeldNodeIsNotPaused) {
  set_policy(Mode::kFull);
  Policy policy = *policy_.get();
  policy.steps[Severity::kReboot] = {planned(Step::kTaint), planned(Step::kCordon),
                                     planned(Step::kDrain)};
  policy_.set(policy);
  reports_.answer = report_of(Severity::kReboot);
  steps_[Step::kDrain].progress = StepProgress{
      .result = StepResult::kFailed, .message = "pod a/b", .facts = {}, .look_again = {}};
  ASSERT_TRUE(take({signal()}));
  for (int i = 0; i < 4; ++i) ASSERT_TRUE(reconcile());
  ASSERT_EQ(remediation().status.phase, Phase::kHeld);

  const auto said = say(resume_node);

  ASSERT_FALSE(said);
  EXPECT_THAT(said.error().message,
              HasSubstr("is Held, not paused: `gpuwardctl cancel gpu-01` ends it"));
  EXPECT_TRUE(say(pause_node));
  EXPECT_THAT(*say(resume_node), HasSubstr("is resumed"));
}

TEST_F(HumanCommands, SayWhatACancelDoesNotMend) {
  set_switch("false");
  wait_for_approval();

  const auto said = say(cancel_node);

  ASSERT_TRUE(said);
  EXPECT_THAT(*said, HasSubstr("Still firing: " + signal().alertname + ". "));
  EXPECT_THAT(*said, HasSubstr("kubectl cordon gpu-01. To repair it: gpuwardctl explain gpu-01\n"))
      << "no runbook has the name of this alert";
  EXPECT_THAT(*said, Not(HasSubstr("gpuward is stopped")));
  EXPECT_THAT(say(resume_node).error().message, HasSubstr("is already cancelled"));
}

TEST_F(HumanCommands, SayWhatTheyWouldDoAndWriteNothing) {
  const auto foresee = [&](auto command, const std::string& name = "gpu-01") {
    CommandFlags flags;
    flags.node = name;
    flags.state_namespace = "default";
    return command(flags, api_, clock_);
  };
  EXPECT_EQ(foresee(foresee_cancel).error().kind, ErrorKind::kNotFound);
  EXPECT_EQ(foresee(foresee_machine_replaced).error().kind, ErrorKind::kNotFound);
  wait_for_approval();
  find_xid_79();
  const auto before = writes();

  const auto cancel = foresee(foresee_cancel);
  const auto replaced = foresee(foresee_machine_replaced);

  ASSERT_TRUE(cancel);
  EXPECT_TRUE(cancel->is_any);
  EXPECT_EQ(cancel->remediation, remediation().name);
  EXPECT_THAT(cancel->text, AllOf(HasSubstr("from node gpu-01: new pods can start there"),
                                  HasSubstr("Still broken, as far as gpuward knows: xid 79"),
                                  HasSubstr("ignores these alerts until they resolve")));
  ASSERT_TRUE(replaced);
  EXPECT_THAT(replaced->text, HasSubstr("with severity reboot"));
  EXPECT_EQ(writes(), before);
  ASSERT_TRUE(say(cancel_node));
  const auto again = foresee(foresee_cancel);
  ASSERT_TRUE(again);
  EXPECT_FALSE(again->is_any);
  EXPECT_THAT(again->text, HasSubstr("is already cancelled"));
}

TEST_F(HumanCommands, SayWhatClosingTheBreakerWouldDo) {
  wait_for_approval();
  LedgerStore store(api_, {.ns = "default"}, clock_);
  ASSERT_TRUE(store.begin([&]() -> Result<Ledger> { return Ledger(); }));
  CommandFlags flags;
  flags.state_namespace = "default";
  const auto closed = foresee_breaker_close(flags, api_, clock_);
  ASSERT_TRUE(closed) << closed.error().message;
  EXPECT_FALSE(closed->is_any);
  ASSERT_TRUE(store.change([&](Ledger& ledger) -> Status {
    ledger = open_breaker(ledger, "9 in 10 min", clock_.wall());
    return {};
  }));

  const auto open = foresee_breaker_close(flags, api_, clock_);

  ASSERT_TRUE(open);
  EXPECT_TRUE(open->is_any);
  EXPECT_THAT(open->text, AllOf(HasSubstr("9 in 10 min"), HasSubstr("terminates nodes again"),
                                HasSubstr("1 node has an open remediation: gpu-01.")));
}

TEST_F(HumanCommands, SayOfACancelThatTheExporterFindsNothingAnyMore) {
  set_switch("false");
  wait_for_approval();
  kube_.patch("/api/v1/nodes/gpu-01",
              {{"metadata", {{"labels", {{"gpuward.dev/status", "pass"}}}}}});

  const auto said = say(cancel_node);

  ASSERT_TRUE(said);
  EXPECT_THAT(*said, HasSubstr("no longer reports a finding: the alerts resolve within minutes"));
  EXPECT_THAT(*said, Not(HasSubstr("kubectl cordon")));
}

TEST_F(HumanCommands, SayThatNothingIsDoneWhileAllIsStopped) {
  set_switch("true");
  wait_for_approval();
  const std::string token = remediation().status.approval->token;

  for (const auto& said :
       {say(approve_step, token), say(pause_node), say(resume_node), say(cancel_node)}) {
    ASSERT_TRUE(said);
    EXPECT_THAT(
        *said, HasSubstr("gpuward is stopped: the change takes effect after `gpuwardctl start`\n"));
  }
}

TEST_F(HumanCommands, SayThatNothingIsDoneWhileNobodyLeads) {
  set_switch("false");
  wait_for_approval();
  kube_.create("/apis/coordination.k8s.io/v1/namespaces/default/leases",
               {{"metadata", {{"name", "gpuward-remediator"}}},
                {"spec",
                 {{"holderIdentity", "a"},
                  {"leaseDurationSeconds", 15},
                  {"renewTime", to_rfc3339(clock_.wall() - minutes(1))}}}});

  EXPECT_THAT(say(pause_node).value_or(""), HasSubstr("No remediator leads"));
}

TEST_F(HumanCommands, KnowANodeThatIsNotThere) {
  EXPECT_THAT(say(pause_node, {}, "gpu-99").error().message, HasSubstr("there is no node gpu-99"));
}

TEST_F(HumanCommands, FindARemediationThatWasMadeByHand) {
  wait_for_approval();
  kube_.patch("/apis/gpuward.dev/v1alpha1/remediations/" + remediation().name,
              {{"metadata", {{"labels", nullptr}}}});

  EXPECT_TRUE(say(pause_node));

  EXPECT_TRUE(remediation().wish.pause);
}

// The wrong answer "no open remediation" would end the search for why the node is still being
// drained.
TEST_F(HumanCommands, SayTheServersErrorIfItDidNotAnswer) {
  wait_for_approval();
  const std::string own_name = remediation().name;
  for (const Command command : {pause_node, cancel_node}) {
    for (const std::string& name : {std::string("gpu-01"), own_name}) {
      kube_.add_fault({.kind = fakes::FaultKind::kUnavailable,
                       .method = "GET",
                       .path = name == own_name ? ".*/remediations/.*" : ".*/remediations"});
      const auto said = say(command, {}, name);
      ASSERT_FALSE(said);
      EXPECT_EQ(said.error().kind, ErrorKind::kUnavailable) << said.error().message;
    }
  }
}

TEST_F(HumanCommands, SayThatTheMachineWasReplaced) {
  ASSERT_TRUE(take({signal()}));
  ASSERT_TRUE(say(note_machine_replaced));
  EXPECT_TRUE(remediation().wish.machine_replaced);
}

TEST_F(HumanCommands, SayThatTheMachineWasReplacedWhoseNodeIsGone) {
  ASSERT_TRUE(take({signal()}));
  kube_.remove("/api/v1/nodes/gpu-01");
  ASSERT_TRUE(reconcile());
  ASSERT_EQ(remediation().status.phase, Phase::kSuperseded);

  CommandFlags flags;
  flags.node = "gpu-01";
  const auto foreseen = foresee_machine_replaced(flags, api_, clock_);
  ASSERT_TRUE(foreseen) << foreseen.error().message;
  EXPECT_EQ(foreseen->remediation, remediation().name);

  const auto said = say(note_machine_replaced, {}, foreseen->remediation);
  ASSERT_TRUE(said) << said.error().message;

  EXPECT_TRUE(remediation().wish.machine_replaced);
  EXPECT_EQ(say(note_machine_replaced).error().kind, ErrorKind::kNotFound) << "nothing is left";
}

TEST_F(HumanCommands, PauseResumeAndCancel) {
  wait_for_approval();

  ASSERT_TRUE(say(pause_node));
  ASSERT_TRUE(reconcile());
  EXPECT_EQ(remediation().status.phase, Phase::kPaused);
  ASSERT_TRUE(say(resume_node));
  ASSERT_TRUE(reconcile());
  EXPECT_EQ(remediation().status.phase, Phase::kWaiting);
  ASSERT_TRUE(say(cancel_node));
  ASSERT_TRUE(reconcile());
  EXPECT_EQ(remediation().status.phase, Phase::kCancelled);
  EXPECT_FALSE(our_taint_on(node()));
}

// One is about the node that was terminated, one about the node that now has its name.
TEST_F(HumanCommands, WantTheNameOfTheRemediationIfANodeHasTwo) {
  wait_for_approval();
  const std::string first = remediation().name;
  kube_.remove("/api/v1/nodes/gpu-01");
  add_node("gpu-01");
  AlertSignal again = signal();
  again.fingerprint = "cd";
  ASSERT_TRUE(take({again}));
  ASSERT_EQ(remediations().size(), 2U);

  const auto unclear = say(cancel_node);
  ASSERT_FALSE(unclear);
  EXPECT_THAT(unclear.error().message, HasSubstr(first));
  const auto said = say(cancel_node, {}, first);

  ASSERT_TRUE(said) << said.error().message;
  for (const Remediation& one : remediations()) EXPECT_EQ(one.wish.cancel, one.name == first);
  EXPECT_EQ(say(cancel_node, {}, "gpu-02").error().kind, ErrorKind::kNotFound);
}

TEST_F(HumanCommands, AreListedTheSameWithoutAgesUntilSomethingElseChanges) {
  CommandFlags flags;
  const auto list = [&] { return *list_remediations(flags, api_, clock_); };
  wait_for_approval();
  ASSERT_TRUE(say(pause_node));
  ASSERT_TRUE(reconcile());
  const RemediationList before = list();

  clock_.advance(minutes(5));
  const RemediationList later = list();
  ASSERT_TRUE(say(resume_node));
  ASSERT_TRUE(reconcile());
  const RemediationList resumed = list();

  EXPECT_NE(later.text, before.text);
  EXPECT_THAT(later.text, HasSubstr("by anonymous-admin 5m ago\n"));
  EXPECT_EQ(later.ageless, before.ageless);
  EXPECT_NE(resumed.ageless, before.ageless);
}

TEST_F(HumanCommands, TellWhoHasAskedWhatAndWhen) {
  wait_for_approval();

  ASSERT_TRUE(say(pause_node));
  ASSERT_TRUE(reconcile());
  clock_.advance(minutes(5));

  EXPECT_EQ(remediation().wish.last_command, "2026-01-01T00:15:00Z pause by anonymous-admin");
  EXPECT_THAT(list_remediations(CommandFlags(), api_, clock_)->text,
              HasSubstr("paused by anonymous-admin 5m ago\n"));
  ASSERT_TRUE(say(resume_node));
  EXPECT_THAT(remediation().wish.last_command, HasSubstr("resume by anonymous-admin"));
}

TEST_F(HumanCommands, DecideNothingOnWhoIsToldToHaveAsked) {
  wait_for_approval();
  for (const char* told :
       {"2026-01-01T00:15:00Z cancel by alice", "2026-01-01T00:15:00Z approve by alice"}) {
    kube_.patch("/apis/gpuward.dev/v1alpha1/remediations/" + remediation().name,
                {{"metadata", {{"annotations", {{"gpuward.dev/last-command", told}}}}}});
    ASSERT_TRUE(reconcile());
    EXPECT_EQ(remediation().status.rule, "guard.approval") << told;
    EXPECT_EQ(remediation().status.phase, Phase::kWaiting) << told;
  }
}

// An old API server does not report the name of the user. An operator who wants to pause at night
// must not fail because of that.
TEST_F(HumanCommands, TellTheUserOfTheContextIfTheServerDoesNotKnowUs) {
  wait_for_approval();
  kube_.add_fault(
      {.kind = fakes::FaultKind::kForbidden, .path = ".*/selfsubjectreviews", .times = -1});
  CommandFlags flags;
  flags.node = "gpu-01";
  flags.state_namespace = "default";
  flags.context_user = "alice";

  EXPECT_TRUE(pause_node(flags, api_, clock_));

  EXPECT_THAT(remediation().wish.last_command, HasSubstr("pause by alice"));
  flags.token = remediation().status.approval->token;
  EXPECT_EQ(approve_step(flags, api_, clock_).error().kind, ErrorKind::kForbidden)
      << "an approval is under the name that the server knows, or none";
}

TEST_F(HumanCommands, SayWhoMayIfTheAccountMayNot) {
  wait_for_approval();
  kube_.add_fault(
      {.kind = fakes::FaultKind::kForbidden, .path = ".*/remediations/.*", .times = -1});
  CommandFlags flags;
  flags.node = "gpu-01";
  flags.state_namespace = "default";

  const auto paused = pause_node(flags, api_, clock_);

  ASSERT_FALSE(paused);
  EXPECT_THAT(paused.error().message, HasSubstr("use your own kubeconfig"));
}

TEST_F(HumanCommands, SayThatItStandsSoAlreadyAndWriteNothing) {
  set_switch("false");
  wait_for_approval();
  const std::string token = remediation().status.approval->token;
  const auto twice = [&](Command command, const std::string& what) {
    ASSERT_TRUE(say(command, token));
    const std::string version = remediation().resource_version;
    const auto said = say(command, token);
    ASSERT_TRUE(said) << said.error().message;
    EXPECT_THAT(*said, HasSubstr(what));
    EXPECT_EQ(remediation().resource_version, version);
  };

  twice(approve_step, "already approved by anonymous-admin");
  twice(pause_node, "already paused by anonymous-admin 0s ago");
  twice(resume_node, "is not paused");
  twice(note_machine_replaced, "already recorded as replaced");
  twice(cancel_node, "already cancelled by anonymous-admin 0s ago");
  EXPECT_THAT(say(pause_node).error().message, HasSubstr("is already cancelled"));
  ASSERT_TRUE(reconcile());
  EXPECT_THAT(*say(cancel_node), HasSubstr("is already closed: Cancelled"));
  EXPECT_THAT(*say(cancel_node, {}, remediation().name), HasSubstr("is already closed: Cancelled"));
  EXPECT_EQ(say(pause_node).error().kind, ErrorKind::kNotFound);
}

TEST_F(HumanCommands, SayWhichNodeWasMeant) {
  wait_for_approval();

  EXPECT_THAT(say(pause_node, {}, "gpu-001").error().message,
              HasSubstr("did you mean \"gpu-01\"?"));
}

TEST_F(HumanCommands, ShowTheBreakerToPrograms) {
  LedgerStore store(api_, {.ns = "default"}, clock_);
  ASSERT_TRUE(store.begin([&]() -> Result<Ledger> { return Ledger(); }));
  EXPECT_EQ(*say(show_breaker, {}, {}, OutputFormat::kJson),
            R"({"by":"","open":false,"since":null,"why":""})"
            "\n");
  ASSERT_TRUE(store.change([&](Ledger& ledger) -> Status {
    ledger = open_breaker(ledger, "9 nodes", clock_.wall());
    return {};
  }));

  EXPECT_EQ(
      *say(show_breaker, {}, {}, OutputFormat::kYaml),
      "by: \"\"\nopen: true\nsince: \"" + to_rfc3339_ms(clock_.wall()) + "\"\nwhy: \"9 nodes\"\n");
}

TEST_F(HumanCommands, ShowAndCloseTheBreaker) {
  EXPECT_EQ(say(show_breaker).error().kind, ErrorKind::kNotFound);
  LedgerStore store(api_, {.ns = "default"}, clock_);
  ASSERT_TRUE(store.begin([&]() -> Result<Ledger> {
    return open_breaker(Ledger(), "9 nodes in 10 minutes", clock_.wall());
  }));

  EXPECT_THAT(*say(show_breaker), HasSubstr("9 nodes in 10 minutes"));
  const auto said = say(close_the_breaker);

  ASSERT_TRUE(said) << said.error().message;
  EXPECT_THAT(*said, HasSubstr("anonymous-admin closed it"));
  EXPECT_FALSE(store.read()->breaker.open);
  EXPECT_THAT(*say(close_the_breaker), HasSubstr("is already closed"));
}

}  // namespace
}  // namespace gpuward::remediator
