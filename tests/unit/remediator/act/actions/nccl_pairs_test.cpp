// The step nccl-pairs: which node leads, which Jobs it makes, and which result decides about each
// node.
#include "tests/unit/remediator/act/actions/nccl_pairs_stage.h"

namespace gpuward::remediator {
namespace {

using std::chrono::minutes;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;

class NcclPairs : public NcclPairsStage {
 protected:
  // Brings two nodes to the point where their Jobs exist.
  void begin_two() {
    add("gpu-01");
    add("gpu-02");
    look_all(3);
    ASSERT_THAT(running_jobs(), SizeIs(2));
  }
  // gpu-02 fails with gpu-01 and is then paused. gpu-01 passes with gpu-03.
  void pass_while_the_culprit_is_paused() {
    for (const char* name : {"gpu-01", "gpu-02", "gpu-03"}) add(name);
    look_all(3);
    for (const char* name : {"gpu-01", "gpu-02"}) end_job(name, 1);
    look("gpu-01");
    open_.members.at("gpu-02").remediation.status.phase = Phase::kPaused;
    play_but_for("gpu-02", [](const std::string&, const std::string&) { return true; });
  }
};

TEST_F(NcclPairs, FindTheCulpritOfThreeAndLetTheOthersGoOn) {
  for (const char* name : {"gpu-01", "gpu-02", "gpu-03"}) add(name);

  play([](const std::string& a, const std::string& b) { return a != "gpu-02" && b != "gpu-02"; });

  EXPECT_TRUE(is_good("gpu-01"));
  EXPECT_TRUE(is_good("gpu-03"));
  EXPECT_TRUE(needs_operator("gpu-02"));
  EXPECT_THAT(record("gpu-02").message,
              AllOf(HasSubstr("fails with gpu-01, which passes with gpu-03"),
                    HasSubstr("\"status\":\"fail\"")));
  EXPECT_EQ(record("gpu-03").message, "passed with gpu-01");
  EXPECT_EQ(made(), 4U);
}

TEST_F(NcclPairs, FindTheCulpritIfItLeads) {
  for (const char* name : {"gpu-01", "gpu-02", "gpu-03", "gpu-04"}) add(name);

  play([](const std::string& a, const std::string& b) { return a != "gpu-01" && b != "gpu-01"; });

  EXPECT_TRUE(needs_operator("gpu-01"));
  for (const char* name : {"gpu-02", "gpu-03", "gpu-04"}) EXPECT_TRUE(is_good(name));
}

TEST_F(NcclPairs, CannotTellWhichOfTwoItIs) {
  begin_two();

  play([](const std::string&, const std::string&) { return false; });

  for (const char* name : {"gpu-01", "gpu-02"}) {
    EXPECT_TRUE(needs_operator(name));
    EXPECT_THAT(record(name).message, HasSubstr("cannot tell whether this node is the culprit"));
  }
  EXPECT_EQ(made(), 2U) << "what has failed is not tried again";
}

TEST_F(NcclPairs, AreTwoJobsThatKnowEachOtherAndTolerateOurTaints) {
  begin_two();

  const Json first = running_job_on("gpu-01"), second = running_job_on("gpu-02");
  EXPECT_EQ(argument_of(first, "rank"), "0");
  EXPECT_EQ(argument_of(second, "rank"), "1");
  for (const Json& job : {first, second}) {
    EXPECT_EQ(argument_of(job, "address"), "10.0.0.01");
    EXPECT_EQ(argument_of(job, "port"), "29400");
    EXPECT_EQ(argument_of(job, "min-bus-bandwidth"), "350");
    EXPECT_THAT(token_of(job), SizeIs(32));
    EXPECT_EQ(token_of(job), token_of(first));
    EXPECT_THAT(dump_json(job["spec"]["template"]["spec"]["containers"][0]["command"]),
                Not(HasSubstr(token_of(job))))
        << "everybody on the node sees command lines";
    const Json& pod = job["spec"]["template"]["spec"];
    EXPECT_EQ(pod["tolerations"], Json::array({{{"operator", "Exists"}}}));
    EXPECT_EQ(job["spec"]["activeDeadlineSeconds"], 12 * 60);
    EXPECT_EQ(job["spec"]["backoffLimit"], 0);
    EXPECT_EQ(pod["automountServiceAccountToken"], false);
    EXPECT_THAT(dump_json(job), Not(HasSubstr("$(")));
    EXPECT_LE(name_of(job).size(), 63U);
  }
}

TEST_F(NcclPairs, HaveAnotherTokenForEachTest) {
  begin_two();
  const std::string token = token_of(running_job_on("gpu-01"));
  end_job("gpu-01", 1, "no libnccl");
  end_job("gpu-02", 1, "no libnccl");
  look_all(3);

  ASSERT_THAT(running_jobs(), SizeIs(2)) << "it is tried once more";
  EXPECT_NE(token_of(running_job_on("gpu-01")), token);
}

TEST_F(NcclPairs, KeepNoTokenOfATestThatHasEnded) {
  begin_two();
  EXPECT_THAT(record("gpu-01").facts.at(kPairTestsFact), HasSubstr("\"token\""));
  end_job("gpu-01", 0);
  end_job("gpu-02", 0);
  look("gpu-01");

  EXPECT_THAT(record("gpu-01").facts.at(kPairTestsFact), Not(HasSubstr("\"token\"")));
}

TEST_F(NcclPairs, WriteDownWhatTheyIntendBeforeAnyJobIsMade) {
  add("gpu-01");
  add("gpu-02");

  look("gpu-01");

  EXPECT_THAT(pair_tests_in(record("gpu-01").facts), SizeIs(1));
  EXPECT_EQ(made(), 0U);
}

// The process died between the two Jobs, or before it recorded them.
TEST_F(NcclPairs, GoOnAfterACrashBetweenTheTwoJobs) {
  add("gpu-01");
  add("gpu-02");
  look("gpu-01");
  kube_.add_fault({.kind = fakes::FaultKind::kInternalError, .method = "POST", .skip = 1});
  EXPECT_FALSE(action_.watch(request("gpu-01")));
  ASSERT_THAT(running_jobs(), SizeIs(1));

  look_all(2);

  EXPECT_THAT(running_jobs(), SizeIs(2));
  play([](const std::string&, const std::string&) { return true; });
  EXPECT_TRUE(is_good("gpu-01"));
  EXPECT_TRUE(is_good("gpu-02"));
  EXPECT_THAT(jobs(), SizeIs(2)) << "none twice";
}

TEST_F(NcclPairs, TakeTheJobsOfATryWhoseAnswersWereLostForTheirs) {
  add("gpu-01");
  add("gpu-02");
  look("gpu-01");
  kube_.add_fault({.kind = fakes::FaultKind::kDropAfter, .method = "POST", .skip = 1});
  EXPECT_FALSE(action_.watch(request("gpu-01")));

  play([](const std::string&, const std::string&) { return true; });

  EXPECT_TRUE(is_good("gpu-02"));
  EXPECT_THAT(jobs(), SizeIs(2));
}

TEST_F(NcclPairs, FailTogetherAsSoonAsOneSideSaysSoAndEndTheOther) {
  begin_two();
  end_job("gpu-02", 1);

  look("gpu-01");

  EXPECT_THAT(running_jobs(), IsEmpty());
  EXPECT_THAT(jobs(), SizeIs(1)) << "what has ended stays for people to look at";
  EXPECT_EQ(pair_tests_in(record("gpu-01").facts)[0].result, PairResult::kFailed);
}

TEST_F(NcclPairs, WaitForTheOtherSideIfOneHasPassed) {
  begin_two();
  end_job("gpu-01", 0);
  look_all(2);
  EXPECT_TRUE(is_at_it("gpu-01"));

  end_job("gpu-02", 0);
  look_all(3);

  EXPECT_TRUE(is_good("gpu-01"));
  EXPECT_TRUE(is_good("gpu-02"));
}

TEST_F(NcclPairs, SayNothingOfTheNodesIfTheProgramCannotTell) {
  begin_two();

  for (int i = 0; i < 2; ++i) {
    end_job("gpu-01", 1, R"({"status":"error","message":"no libnccl"})");
    look_all(3);
  }
  look_all(3);

  EXPECT_EQ(made(), 4U) << "once more, and no more";
  for (const char* name : {"gpu-01", "gpu-02"}) {
    EXPECT_TRUE(needs_operator(name));
    EXPECT_THAT(record(name).message, HasSubstr("has no result: gpu-01: "));
    EXPECT_THAT(record(name).message, HasSubstr("no libnccl"));
  }
}

// The kubelet keeps the end of both output streams. The program logs before and after its verdict.
TEST_F(NcclPairs, KeepTheVerdictOfTheProgramAndNotItsLog) {
  std::string log;
  for (int i = 0; i < 6; ++i)
    log += "ts=2026-11-22T09:00:00.000Z level=info msg=\"At work\" stage=\"taking the GPUs\"\n";
  const std::string details = "pid 4711 uses the GPU" + std::string(300, '.');
  const std::string verdict =
      R"({"check":"5-nccl-pair","status":"error","details":")" + details + "\"}\n";
  begin_two();

  for (int i = 0; i < 2; ++i) {
    end_job("gpu-01", 3, log + verdict + R"({"level":"info","msg":"Ends"})" + "\n");
    look_all(3);
  }
  look_all(3);

  EXPECT_THAT(record("gpu-01").message,
              HasSubstr("has no result: gpu-01: pid 4711 uses the GPU.."));
}

TEST_F(NcclPairs, KeepTheEndOfWordsWithoutAVerdict) {
  begin_two();

  for (int i = 0; i < 2; ++i) {
    // The cut falls into the middle of a character in one of the two runs.
    std::string dots;
    for (int j = 0; j < 200; ++j) dots += "\u00b7";
    end_job("gpu-01", 139, "begins" + dots + (i == 0 ? "" : ".") + "\nSegmentation fault\n");
    look_all(3);
  }
  look_all(3);

  const std::string said = record("gpu-01").message;
  EXPECT_THAT(said, HasSubstr("Segmentation fault"));
  EXPECT_THAT(said, HasSubstr("has no result: gpu-01: \u00b7"));
}

TEST_F(NcclPairs, LeaveAJobOfSomebodyElseAlone) {
  begin_two();
  const std::string path = std::string(kJobs) + "/" + name_of(running_job_on("gpu-01"));
  kube_.patch(path, {{"metadata", {{"labels", {{"gpuward.dev/part", "other"}}}}}});

  look("gpu-01");

  EXPECT_TRUE(kube_.has(path));
  EXPECT_TRUE(running_job_on("gpu-02").is_null());
  EXPECT_THAT(record("gpu-01").facts.at(kPairTestsFact), HasSubstr("does not belong to this step"));
}

TEST_F(NcclPairs, SayThatSomebodyHasDeletedAJob) {
  begin_two();
  kube_.remove(std::string(kJobs) + "/" + name_of(running_job_on("gpu-02")));

  look("gpu-01");

  EXPECT_THAT(record("gpu-01").facts.at(kPairTestsFact),
              HasSubstr("no longer exists, and this step did not delete it"));
  EXPECT_THAT(running_jobs(), IsEmpty());
}

TEST_F(NcclPairs, MakeNothingIfTheyMayNot) {
  add("gpu-01");
  add("gpu-02");
  allowed_ = fail(ErrorKind::kForbidden, "the switch is on");
  look_all(3);

  EXPECT_EQ(made(), 0U);
  EXPECT_EQ(record("gpu-01").message, "waits: the switch is on");
  EXPECT_TRUE(is_at_it("gpu-01"));

  allowed_ = {};
  look_all();
  EXPECT_EQ(made(), 2U);
}

TEST_F(NcclPairs, NeedAHumanIfTheirJobsAreRefused) {
  add("gpu-01");
  add("gpu-02");
  add("gpu-03");
  kube_.add_fault({.kind = fakes::FaultKind::kForbidden, .method = "POST", .skip = 1});

  look_all(4);

  for (const char* name : {"gpu-01", "gpu-02", "gpu-03"}) EXPECT_TRUE(needs_operator(name));
  EXPECT_THAT(record("gpu-02").message, HasSubstr("making Job gpu-healthcheck/gpuward-nccl-pairs"));
  EXPECT_THAT(running_jobs(), IsEmpty());
}

TEST_F(NcclPairs, CannotTestANodeWithoutAnAddress) {
  add("gpu-01");
  add("gpu-02");
  open_.members.at("gpu-01").node.internal_ip.clear();

  look_all(10);

  EXPECT_EQ(made(), 0U);
  EXPECT_TRUE(needs_operator("gpu-02"));
  EXPECT_THAT(record("gpu-02").message, HasSubstr("gpu-01 has no InternalIP"));
}

// --- Which nodes are there, and which ones the step waits for

TEST_F(NcclPairs, AreDoneAtOnceForANodeThatFailedAlone) {
  add("gpu-01", "JobSet a/train");
  add("gpu-02", "JobSet a/other");

  look_all();

  EXPECT_TRUE(is_good("gpu-01"));
  EXPECT_EQ(record("gpu-01").message, "no other node failed at the same time");
  EXPECT_EQ(made(), 0U);
}

TEST_F(NcclPairs, AreDoneIfTheOthersWereKeptOutByTheirOwnDiagnostics) {
  add("gpu-01");
  Remediation& other = add_coming("gpu-02").remediation;
  other.status.phase = Phase::kHeld;
  StepRecord test = intended_step(Step::kNcclTest, Severity::kIsolate, clock_.wall(), {});
  test.result = StepResult::kFailed;
  other.status.steps.push_back(test);

  look("gpu-01");

  EXPECT_TRUE(is_good("gpu-01"));
  EXPECT_THAT(
      record("gpu-01").message,
      HasSubstr("gpu-02 (Held), which failed at the same time, failed their own diagnostics"));
}

// --- No node returns untested because the others have left

TEST_F(NcclPairs, AcquitNobodyBecauseTheOtherIsHeldForAnotherReason) {
  add("gpu-01");
  add_coming("gpu-02").remediation.status.phase = Phase::kHeld;

  look("gpu-01");

  EXPECT_TRUE(needs_operator("gpu-01"));
  EXPECT_THAT(record("gpu-01").message,
              HasSubstr("gpu-02 (Held), which failed at the same time, cannot be tested"));
}

TEST_F(NcclPairs, TellTheCulpritThatWasPausedMeanwhile) {
  pass_while_the_culprit_is_paused();
  ASSERT_TRUE(is_good("gpu-01"));
  ASSERT_TRUE(is_good("gpu-03"));

  open_.members.at("gpu-02").remediation.status.phase = Phase::kTesting;
  look("gpu-02");

  EXPECT_TRUE(needs_operator("gpu-02"));
  EXPECT_THAT(record("gpu-02").message, HasSubstr("fails with gpu-01, which passes with gpu-03"));
}

TEST_F(NcclPairs, TellTheCulpritThatWasPausedAlsoWhenTheOthersAreClosed) {
  pass_while_the_culprit_is_paused();
  for (const char* name : {"gpu-01", "gpu-03"}) {
    open_.members.at(name).remediation.status.phase = Phase::kReleased;
    open_.members.at(name).remediation.status.closed_at = clock_.wall();
  }

  open_.members.at("gpu-02").remediation.status.phase = Phase::kTesting;
  look("gpu-02");

  EXPECT_TRUE(needs_operator("gpu-02"));
}

TEST_F(NcclPairs, AreReadAlsoByWhoLooksLate) {
  begin_two();
  for (const char* name : {"gpu-01", "gpu-02"}) end_job(name, 1);
  look("gpu-01");
  look("gpu-01");
  ASSERT_TRUE(record("gpu-01").facts.contains(kPairFindingsFact));

  clock_.advance(minutes(3));
  look_all(2);

  EXPECT_TRUE(needs_operator("gpu-01"));
  EXPECT_TRUE(needs_operator("gpu-02"));
}

TEST_F(NcclPairs, AcquitNobodyWhoComesWhenTheOthersHavePassed) {
  add("gpu-01");
  add("gpu-03");
  add_coming("gpu-02");
  look_all(3);
  clock_.advance(minutes(21));
  play([](const std::string&, const std::string&) { return true; });
  ASSERT_TRUE(is_good("gpu-01"));

  arrive("gpu-02");
  look("gpu-02");

  EXPECT_TRUE(needs_operator("gpu-02"));
}

TEST_F(NcclPairs, AcquitNobodyForWhomAnotherHasWaitedInVain) {
  add("gpu-01");
  add_coming("gpu-02");
  look("gpu-01");
  clock_.advance(minutes(41));
  look("gpu-01");
  ASSERT_TRUE(needs_operator("gpu-01"));

  arrive("gpu-02");
  look("gpu-02");

  EXPECT_TRUE(needs_operator("gpu-02"));
}

TEST_F(NcclPairs, KeepWhatATestHasToldWhileNobodyLooked) {
  begin_two();
  for (const char* name : {"gpu-01", "gpu-02"}) end_job(name, 1);
  clock_.advance(minutes(14));

  look("gpu-01");

  EXPECT_EQ(pair_tests_in(record("gpu-01").facts).at(0).result, PairResult::kFailed);
}

TEST_F(NcclPairs, WaitForThoseOnTheirWay) {
  add("gpu-01");
  add_coming("gpu-02");
  look_all(2);
  EXPECT_EQ(record("gpu-01").message, "waiting for gpu-02 (Testing)");

  clock_.advance(minutes(25));
  look_all();
  EXPECT_TRUE(is_at_it("gpu-01")) << "there is nobody else to be tested with";
  arrive("gpu-02");
  look_all(3);

  EXPECT_THAT(running_jobs(), SizeIs(2));
}

TEST_F(NcclPairs, BeginWithoutThoseWhoComeTooLateAndTakeThemInThen) {
  add("gpu-01");
  add("gpu-02");
  add_coming("gpu-03");
  look_all(3);
  EXPECT_EQ(made(), 0U);
  clock_.advance(minutes(21));
  look_all(3);
  EXPECT_EQ(made(), 2U);
  arrive("gpu-03");

  play([](const std::string& a, const std::string& b) { return a != "gpu-03" && b != "gpu-03"; });

  EXPECT_TRUE(is_good("gpu-01"));
  EXPECT_TRUE(is_good("gpu-02"));
  EXPECT_TRUE(needs_operator("gpu-03"));
}

TEST_F(NcclPairs, WaitForNobodyWhosePolicyHasNoSuchStep) {
  add("gpu-01");
  add_coming("gpu-02").remediation.severity = Severity::kReset;

  look("gpu-01");

  EXPECT_TRUE(is_good("gpu-01"));
}

TEST_F(NcclPairs, NeedAHumanWhenTheirTimeIsOver) {
  add("gpu-01");
  add_coming("gpu-02");
  look("gpu-01");
  clock_.advance(minutes(41));

  look("gpu-01");

  EXPECT_TRUE(needs_operator("gpu-01"));
  EXPECT_EQ(record("gpu-01").message, "not done in time: waiting for gpu-02 (Testing)");
}

// The budgets allow one node at a time: the second gets no slot while the first is out.
TEST_F(NcclPairs, SayAtOnceWhichBudgetTheyWaitForAndNeedAHumanWhenTheirTimeIsOver) {
  add("gpu-01");
  RemediationStatus& second = add_coming("gpu-02").remediation.status;
  second.steps.clear();
  second.phase = Phase::kWaiting;
  second.rule = "budget.cluster";
  const std::string waits =
      "waiting for gpu-02 (Waiting, budget.cluster); this node keeps its slot. The budget must "
      "allow all nodes that are tested together to hold a slot at once, at least 2";

  look("gpu-01");
  EXPECT_EQ(record("gpu-01").message, waits);

  clock_.advance(minutes(41));
  look("gpu-01");
  EXPECT_TRUE(needs_operator("gpu-01"));
  EXPECT_EQ(record("gpu-01").message, "not done in time: " + waits);
  EXPECT_EQ(made(), 0U);
}

TEST_F(NcclPairs, EndTheirJobsWhenTheirTimeIsOverAndSayWhatIsKnown) {
  for (const char* name : {"gpu-01", "gpu-02", "gpu-03"}) add(name);
  look_all(3);
  end_job("gpu-01", 0);
  end_job("gpu-02", 0);
  look_all(2);  // by now the first tests the third
  ASSERT_THAT(running_jobs(), SizeIs(2));
  clock_.advance(minutes(41));

  look_all(3);

  EXPECT_THAT(running_jobs(), IsEmpty());
  EXPECT_TRUE(is_good("gpu-01"));
  EXPECT_TRUE(is_good("gpu-02"));
  EXPECT_TRUE(needs_operator("gpu-03"));
  EXPECT_THAT(record("gpu-03").message, HasSubstr("not done in time"));
}

TEST_F(NcclPairs, GiveUpATestThatNeverEndsAndTryItOnceMore) {
  begin_two();
  clock_.advance(minutes(14));
  look("gpu-01");

  EXPECT_THAT(running_jobs(), IsEmpty());
  EXPECT_THAT(pair_tests_in(record("gpu-01").facts), SizeIs(2));
}

TEST_F(NcclPairs, DoNotHangIfTheirLeaderDoesNotGoOn) {
  begin_two();
  clock_.advance(minutes(81));  // twice its own time

  look("gpu-02");

  EXPECT_TRUE(needs_operator("gpu-02"));
  EXPECT_THAT(record("gpu-02").message, HasSubstr("not done in time: gpu-01 leads"));
}

// --- Which node leads

TEST_F(NcclPairs, AreLedByTheSmallestName) {
  add("gpu-01");
  add("gpu-02");

  for (const char* name : {"gpu-02", "gpu-01", "gpu-02"}) look(name);

  EXPECT_FALSE(record("gpu-02").facts.contains(kPairTestsFact));
  EXPECT_TRUE(record("gpu-01").facts.contains(kPairTestsFact));
}

TEST_F(NcclPairs, StayWithWhoLeadsWhenASmallerNameComes) {
  add("gpu-02");
  add("gpu-03");
  look_all(3);
  add("gpu-01");

  play([](const std::string& a, const std::string& b) { return a != "gpu-01" && b != "gpu-01"; });

  EXPECT_TRUE(needs_operator("gpu-01"));
  EXPECT_FALSE(record("gpu-01").facts.contains(kPairTestsFact));
  EXPECT_TRUE(is_good("gpu-02"));
}

TEST_F(NcclPairs, OfTwoLeadersTheGreaterEndsItsJobsAndFollows) {
  add("gpu-02");
  add("gpu-03");
  look_all(3);
  ASSERT_THAT(running_jobs(), SizeIs(2));
  add("gpu-01");
  record("gpu-01").facts[kPairTestsFact] = "[]";

  look("gpu-02");

  EXPECT_FALSE(record("gpu-02").facts.contains(kPairTestsFact));
  EXPECT_THAT(running_jobs(), IsEmpty());
  EXPECT_EQ(look("gpu-02").message, "gpu-01 leads the tests of the nodes that failed together");
}

TEST_F(NcclPairs, BeginAnewIfTheirLeaderIsCancelled) {
  for (const char* name : {"gpu-01", "gpu-02", "gpu-03"}) add(name);
  look_all(3);
  ASSERT_THAT(running_jobs(), SizeIs(2));
  Remediation& leader = open_.members.at("gpu-01").remediation;
  leader.wish.cancel = true;
  ASSERT_TRUE(action_.abandon(request("gpu-01")));
  EXPECT_THAT(running_jobs(), IsEmpty());
  leader.status.phase = Phase::kCancelled;
  record("gpu-01").result = StepResult::kFailed;

  play([](const std::string&, const std::string&) { return true; });

  EXPECT_TRUE(is_good("gpu-02"));
  EXPECT_TRUE(is_good("gpu-03"));
  EXPECT_TRUE(record("gpu-02").facts.contains(kPairTestsFact));
}

// The Jobs of the leader may still run, so no other node tests their nodes meanwhile.
TEST_F(NcclPairs, WaitForTheJobsOfALeaderThatIsPaused) {
  for (const char* name : {"gpu-01", "gpu-02", "gpu-03"}) add(name);
  look_all(3);
  open_.members.at("gpu-01").remediation.status.phase = Phase::kPaused;
  const std::size_t before = made();
  for (int i = 0; i < 3; ++i) {
    look("gpu-02");
    look("gpu-03");
  }
  EXPECT_EQ(made(), before);
  clock_.advance(minutes(14));

  for (int i = 0; i < 2; ++i) look("gpu-02");

  EXPECT_EQ(made(), before + 2);
}

// Any node that leads ends the Job before its node returns to service.
TEST_F(NcclPairs, EndTheJobOnANodeThatIsTakenOut) {
  begin_two();

  ASSERT_TRUE(action_.abandon(request("gpu-02")));

  EXPECT_THAT(running_jobs(), IsEmpty());
}

TEST_F(NcclPairs, EndATestWhosePartnerHasLeft) {
  begin_two();
  open_.members.at("gpu-02").remediation.status.phase = Phase::kPaused;

  look("gpu-01");

  EXPECT_THAT(running_jobs(), IsEmpty());
  EXPECT_THAT(record("gpu-01").facts.at(kPairTestsFact), HasSubstr("gpu-02 no longer exists"));
  EXPECT_TRUE(needs_operator("gpu-01")) << "a human's hands off acquits nobody";
}

TEST_F(NcclPairs, FailANodeThatHasRestartedSince) {
  begin_two();
  open_.members.at("gpu-01").node.boot_id = "another";

  look("gpu-01");

  EXPECT_TRUE(needs_operator("gpu-01"));
  EXPECT_THAT(record("gpu-01").message, HasSubstr("has restarted"));
  EXPECT_THAT(running_jobs(), IsEmpty());
}

TEST_F(NcclPairs, TakeNoMoreThan64AtATime) {
  for (int i = 10; i < 80; ++i) add("gpu-" + std::to_string(i));

  look_all(2);

  const StepProgress progress = look("gpu-10");
  EXPECT_THAT(progress.message, HasSubstr("testing 64 nodes"));
  EXPECT_THAT(running_jobs(), SizeIs(16));
}

// A fault cuts off one of the requests, or the process dies after one of the looks. The result
// stays the same, and no Job is made twice.
class NcclPairsCutOff : public NcclPairsStage, public ::testing::WithParamInterface<int> {
 protected:
  void play_and_expect_the_same() {
    for (const char* name : {"gpu-01", "gpu-02", "gpu-03"}) add(name);
    play([](const std::string& a, const std::string& b) { return a != "gpu-02" && b != "gpu-02"; });

    EXPECT_TRUE(is_good("gpu-01"));
    EXPECT_TRUE(is_good("gpu-03"));
    EXPECT_TRUE(needs_operator("gpu-02"));
    EXPECT_THAT(jobs(), SizeIs(4));
  }
  void cut_off_by(fakes::FaultKind kind) {
    is_cut_off_ = true;
    const auto fault = kube_.add_fault(
        {.kind = kind, .path = ".*/namespaces/gpu-healthcheck/.*", .skip = GetParam()});
    play_and_expect_the_same();
    EXPECT_EQ(kube_.fault_hits(fault), 1U);
  }
};

TEST_P(NcclPairsCutOff, BeforeARequest) { cut_off_by(fakes::FaultKind::kDropBefore); }
TEST_P(NcclPairsCutOff, BeforeTheAnswer) { cut_off_by(fakes::FaultKind::kDropAfter); }
TEST_P(NcclPairsCutOff, BeforeItIsWrittenDown) {
  lost_record_ = GetParam();
  play_and_expect_the_same();
  EXPECT_GT(looks_, lost_record_);
}

INSTANTIATE_TEST_SUITE_P(EveryOne, NcclPairsCutOff, ::testing::Range(0, 12));

}  // namespace
}  // namespace gpuward::remediator
