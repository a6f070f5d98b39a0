#include "remediator/act/restart/job_restarter.h"

#include <gmock/gmock.h>

#include "tests/support/permits.h"
#include "tests/unit/remediator/act/drain/drain_cluster.h"
#include "tests/unit/remediator/act/restart/torn_jobs.h"

namespace gpuward::remediator {
namespace {

using std::chrono::minutes;
using std::chrono::seconds;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::StartsWith;

const std::string kMark = "gpu-01-ab-1/uid-of-it";

class JobRestarterTest : public DrainCluster {
 protected:
  JobRestarterTest() { clock_.advance(minutes(10)); }
  static kube::ApiOptions one_try() {
    kube::ApiOptions made = options();
    made.retry_deadline = std::chrono::milliseconds(0);
    return made;
  }
  RestartClaim claim() {
    return {.mark = kMark,
            .drained_at = drained_at_,
            .now = clock_.wall(),
            .may_begin = may_begin_,
            .is_late = is_late_};
  }
  // Looks, and records an intent between two looks as the step does.
  JobProgress look(const std::string& job, const Permit& permit = support::given) {
    auto now = restarter_.advance(job, known_, claim(), permit);
    known_ = now.known;
    if (!is_intended(known_)) return now;
    now = restarter_.advance(job, known_, claim(), permit);
    known_ = now.known;
    return now;
  }
  // Adds a TrainJob, and returns the JobSet by which gpuward finds it.
  std::string add_train_job() {
    const std::string job = jobs_.add(kJobSet);
    jobs_.add(kTrainJob, "train", 0);
    const std::string uid = string_at(jobs_.get(kTrainJob)["metadata"], "uid");
    change(kJobSet,
           {{"metadata",
             {{"ownerReferences", Json::array({{{"apiVersion", "trainer.kubeflow.org/v1alpha1"},
                                                {"kind", "TrainJob"},
                                                {"name", "train"},
                                                {"uid", uid},
                                                {"controller", true}}})}}}});
    return job;
  }
  Json change(const KindOfJob& kind, const Json& patch) {
    return kube_.patch(TornJobs::path(kind), patch);
  }
  std::size_t writes() {
    std::size_t count = 0;
    for (const auto& request : kube_.requests()) count += request.method == "GET" ? 0 : 1;
    return count;
  }
  // The restarter leaves the job alone, at once and for that reason.
  void expect_left_alone(const std::string& job, const std::string& why) {
    kube_.clear_requests();
    const auto now = look(job);
    EXPECT_TRUE(now.is_settled);
    EXPECT_FALSE(now.failed);
    EXPECT_THAT(now.words, StartsWith("left alone: "));
    EXPECT_THAT(now.words, HasSubstr(why));
    EXPECT_EQ(writes(), 0U);
  }

  TornJobs jobs_{kube_};
  kube::WallTime drained_at_ = clock_.wall();
  bool may_begin_ = true, is_late_ = false;
  std::string known_;
  kube::Api once_{one_try(), http_, credentials_, clock_};  // does not repeat a lost answer
  JobRestarter restarter_{once_};
};

// --- Each kind

class SuspendedKindsTest : public JobRestarterTest,
                           public ::testing::WithParamInterface<KindOfJob> {};

TEST_P(SuspendedKindsTest, IsSuspendedUntilItsPodsAreGoneAndThenResumed) {
  const KindOfJob& kind = GetParam();
  const std::string job = jobs_.add(kind);

  EXPECT_FALSE(look(job).is_settled);
  EXPECT_TRUE(jobs_.is_suspended(kind));
  EXPECT_EQ(jobs_.annotation(kind, kSuspendedBy), kMark);

  EXPECT_THAT(look(job).words, HasSubstr("waiting for 3 pods to terminate"));
  EXPECT_TRUE(jobs_.is_suspended(kind));

  jobs_.play(kind);
  const auto ended = look(job);
  EXPECT_EQ(ended.words, "restarted");
  EXPECT_TRUE(ended.is_settled);
  EXPECT_FALSE(jobs_.is_suspended(kind));
  EXPECT_EQ(jobs_.annotation(kind, kSuspendedBy), "");
  EXPECT_EQ(jobs_.annotation(kind, kRestartedBy), kMark);
}

INSTANTIATE_TEST_SUITE_P(
    All, SuspendedKindsTest,
    ::testing::Values(kPlainJob, kJobSet, kubeflow_job("PyTorchJob", "pytorchjobs"),
                      kubeflow_job("MPIJob", "mpijobs", "v2beta1"),
                      kubeflow_job("MPIJob", "mpijobs", "v1"), kubeflow_job("TFJob", "tfjobs"),
                      kubeflow_job("XGBoostJob", "xgboostjobs"),
                      kubeflow_job("PaddleJob", "paddlejobs"), kubeflow_job("JAXJob", "jaxjobs")),
    [](const auto& kind) { return kind.param.kind + kind.param.version; });

// The TrainJob's controller would resume the JobSet at once.
TEST_F(JobRestarterTest, SuspendsTheTrainJobThatOwnsTheJobSet) {
  const std::string job = add_train_job();

  EXPECT_FALSE(look(job).is_settled);

  EXPECT_TRUE(jobs_.is_suspended(kTrainJob));
  EXPECT_FALSE(jobs_.is_suspended(kJobSet));
  change(kJobSet, {{"spec", {{"suspend", true}}}});
  jobs_.play(kJobSet);
  EXPECT_EQ(look(job).words, "restarted");
  EXPECT_FALSE(jobs_.is_suspended(kTrainJob));
}

// The JobSet by which gpuward found it is gone, and its pods with it.
TEST_F(JobRestarterTest, ResumesTheTrainJobThoughItsJobSetIsGone) {
  const std::string job = add_train_job();
  (void)look(job);
  ASSERT_TRUE(jobs_.is_suspended(kTrainJob));
  change(kJobSet, {{"spec", {{"suspend", true}}}});
  jobs_.play(kJobSet);
  kube_.remove(TornJobs::path(kJobSet));

  EXPECT_EQ(look(job).words, "restarted");
  EXPECT_FALSE(jobs_.is_suspended(kTrainJob));
}

class VolcanoTest : public JobRestarterTest {
 protected:
  VolcanoTest() {
    jobs_.define({"", "bus.volcano.sh", "v1alpha1", "Command", "commands", "", ""});
    job_ = jobs_.add(kVolcanoJob);
  }
  Json commands() {
    return kube_.get("/apis/bus.volcano.sh/v1alpha1/namespaces/default/commands")["items"];
  }
  std::string job_;
};

TEST_F(VolcanoTest, IsAskedByOneCommandToRestartTheJob) {
  EXPECT_FALSE(look(job_).is_settled);

  ASSERT_EQ(commands().size(), 1U);
  EXPECT_EQ(commands()[0]["action"], "RestartJob");
  EXPECT_EQ(commands()[0]["target"]["name"], "train");
  EXPECT_EQ(commands()[0]["target"]["kind"], "Job");
  EXPECT_EQ(commands()[0]["target"]["apiVersion"], "batch.volcano.sh/v1alpha1");
  EXPECT_EQ(commands()[0]["target"]["uid"], jobs_.get(kVolcanoJob)["metadata"]["uid"]);

  EXPECT_THAT(look(job_).words, HasSubstr("waits for Volcano to terminate 3 pods"));
  EXPECT_EQ(commands().size(), 1U);
  for (const std::string& pod : jobs_.pods_of(kVolcanoJob)) kube_.remove(path_of(pod));
  jobs_.add_pod(kVolcanoJob, "train", {});
  EXPECT_EQ(look(job_).words, "restarted");
}

// The next process has no record of the Command, and Volcano has not consumed it yet.
TEST_F(VolcanoTest, IsNotAskedTwiceAfterACrash) {
  (void)look(job_);
  known_.clear();

  EXPECT_FALSE(look(job_).is_settled);

  EXPECT_EQ(commands().size(), 1U);
}

TEST_F(VolcanoTest, IsLeftAloneIfOneMoreRestartIsItsFailure) {
  change(kVolcanoJob, {{"spec", {{"maxRetry", 3}}}, {"status", {{"retryCount", 2}}}});

  expect_left_alone(job_, "maxRetry");
}

TEST_F(VolcanoTest, IsLeftAloneOnceItHasFinishedOrWasAborted) {
  for (const char* phase : {"Completed", "Failed", "Aborted", "Terminated"}) {
    change(kVolcanoJob, {{"status", {{"state", {{"phase", phase}}}}}});
    known_.clear();
    expect_left_alone(job_, "has finished");
  }
}

TEST_F(JobRestarterTest, LeavesALeaderWorkerSetToItsController) {
  expect_left_alone("LeaderWorkerSet default/serve-0", "recreates the whole group");
}

TEST_F(JobRestarterTest, LeavesKindsAloneThatItDoesNotKnow) {
  for (const char* job :
       {"RayCluster default/ray", "pod group default/x", "training job a/b", "?"}) {
    known_.clear();
    expect_left_alone(job, "cannot restart this kind");
  }
}

// --- Jobs that are left alone

TEST_F(JobRestarterTest, LeavesAJobAloneThatIsGone) {
  jobs_.define(kJobSet);
  expect_left_alone("JobSet default/train", "it is gone");
  known_.clear();
  expect_left_alone("PyTorchJob default/train",
                    "it is gone");  // nor does the cluster know the kind
}

TEST_F(JobRestarterTest, LeavesAJobAloneThatHasFinished) {
  const std::string job = jobs_.add(kPlainJob);
  kube_.patch_status(TornJobs::path(kPlainJob), fakes::ended_job_status("Complete"));

  expect_left_alone(job, "has finished");
}

TEST_F(JobRestarterTest, LeavesAJobAloneThatIsBeingDeleted) {
  const std::string job = jobs_.add(kJobSet);
  change(kJobSet, {{"metadata", {{"finalizers", Json::array({"a/b"})}}}});
  kube_.remove(TornJobs::path(kJobSet));

  expect_left_alone(job, "being deleted");
}

TEST_F(JobRestarterTest, LeavesAJobAloneWhoseOwnerAsksForIt) {
  const std::string job = jobs_.add(kJobSet);
  change(kJobSet, {{"metadata", {{"annotations", {{kDoNotRestart, "true"}}}}}});
  expect_left_alone(job, kDoNotRestart);

  known_.clear();
  change(kJobSet, {{"metadata", {{"annotations", {{kDoNotRestart, "false"}}}}}});
  EXPECT_FALSE(look(job).is_settled);
  EXPECT_TRUE(jobs_.is_suspended(kJobSet));
}

TEST_F(JobRestarterTest, LeavesSuspendToKueue) {
  const std::string job = jobs_.add(kJobSet);
  change(kJobSet, {{"metadata", {{"labels", {{kKueueQueue, "team-a"}}}}}});

  expect_left_alone(job, "Kueue decides");
}

TEST_F(JobRestarterTest, NeverResumesWhatSomebodyElseHasSuspended) {
  const std::string job = jobs_.add(kJobSet);
  change(kJobSet, {{"spec", {{"suspend", true}}}});

  expect_left_alone(job, "another client has suspended it");
  EXPECT_TRUE(restarter_.give_back(job, known_, kMark, support::given));
  EXPECT_TRUE(jobs_.is_suspended(kJobSet));
}

TEST_F(JobRestarterTest, LeavesAJobToTheRemediationThatRestartsIt) {
  const std::string job = jobs_.add(kJobSet);
  change(kJobSet, {{"spec", {{"suspend", true}}},
                   {"metadata", {{"annotations", {{kSuspendedBy, "gpu-02-ab-1/other-uid"}}}}}});

  expect_left_alone(job, "Remediation gpu-02-ab-1 restarts it");
  EXPECT_TRUE(restarter_.give_back(job, known_, kMark, support::given));
  EXPECT_TRUE(jobs_.is_suspended(kJobSet));
}

TEST_F(JobRestarterTest, LeavesAJobAloneThatSomethingUnknownOwns) {
  const std::string job = jobs_.add(kPlainJob);
  Json owner = {{"apiVersion", "argoproj.io/v1alpha1"},
                {"kind", "Workflow"},
                {"name", "nightly"},
                {"uid", "w"},
                {"controller", true}};
  change(kPlainJob, {{"metadata", {{"ownerReferences", Json::array({owner})}}}});
  expect_left_alone(job, "it belongs to Workflow nightly");

  known_.clear();
  owner["apiVersion"] = "batch/v1";
  owner["kind"] = "CronJob";
  change(kPlainJob, {{"metadata", {{"ownerReferences", Json::array({owner})}}}});
  EXPECT_FALSE(look(job).is_settled);
  EXPECT_TRUE(jobs_.is_suspended(kPlainJob));
}

// The job restarts by its failurePolicy, or because all its pods were on the node.
TEST_F(JobRestarterTest, LeavesAJobAloneWhosePodsAreAllYoungerThanTheDrain) {
  const std::string job = jobs_.add(kJobSet, "train", 0);
  clock_.advance(seconds(5));
  jobs_.add_pod(kJobSet, "train", {});
  jobs_.add_pod(kJobSet, "train", {});

  expect_left_alone(job, "restarts by itself");
}

TEST_F(JobRestarterTest, CountsNoPodThatHasEndedOrIsEndingAsOld) {
  const std::string job = jobs_.add(kPlainJob, "train", 1);
  kube_.patch_status(path_of(jobs_.pods_of(kPlainJob)[0]), {{"status", {{"phase", "Succeeded"}}}});

  expect_left_alone(job, "restarts by itself");
}

TEST_F(JobRestarterTest, LeavesAJobAloneThatWasMadeAnewSinceTheDrain) {
  clock_.advance(seconds(5));
  const std::string job = jobs_.add(kJobSet, "train", 1, seconds(0));

  expect_left_alone(job, "recreated after the drain");
}

// --- The moment of a restart

TEST_F(JobRestarterTest, GivesAJobTimeToRestartByItself) {
  const std::string job = jobs_.add(kJobSet);
  may_begin_ = false;

  EXPECT_THAT(look(job).words, HasSubstr("restart by itself"));
  EXPECT_FALSE(jobs_.is_suspended(kJobSet));
}

TEST_F(JobRestarterTest, SuspendsNothingWithoutPermission) {
  const std::string job = jobs_.add(kJobSet);

  const auto now = look(job, support::refused);

  EXPECT_FALSE(now.is_settled);
  EXPECT_THAT(now.words, HasSubstr("an operator has paused the remediation"));
  EXPECT_EQ(known_, "");
  EXPECT_FALSE(jobs_.is_suspended(kJobSet));
}

TEST_F(JobRestarterTest, ResumesNothingWithoutPermissionAndNeverForgetsIt) {
  const std::string job = jobs_.add(kJobSet);
  (void)look(job);
  jobs_.play(kJobSet);
  is_late_ = true;

  EXPECT_FALSE(look(job, support::refused).is_settled);
  EXPECT_TRUE(jobs_.is_suspended(kJobSet));

  EXPECT_TRUE(look(job).is_settled);
  EXPECT_FALSE(jobs_.is_suspended(kJobSet));
}

TEST_F(JobRestarterTest, ResumesAJobWhosePodsDoNotEndInTime) {
  const std::string job = jobs_.add(kJobSet);
  (void)look(job);
  is_late_ = true;

  const auto now = look(job);

  EXPECT_TRUE(now.failed);
  EXPECT_THAT(now.words, HasSubstr("3 pods had not terminated"));
  EXPECT_TRUE(has_failed(now.known));
  EXPECT_FALSE(jobs_.is_suspended(kJobSet));
}

TEST_F(JobRestarterTest, DoesNotBeginOnceTheTimeIsOver) {
  const std::string job = jobs_.add(kJobSet);
  is_late_ = true;

  EXPECT_TRUE(look(job).failed);
  EXPECT_FALSE(jobs_.is_suspended(kJobSet));
}

// --- Failures

TEST_F(JobRestarterTest, GoesOnFromTheAnnotationIfTheAnswerWasLost) {
  const std::string job = jobs_.add(kJobSet);
  kube_.add_fault({.kind = fakes::FaultKind::kDropAfter, .method = "PATCH", .times = 1});

  (void)look(job);
  known_.clear();
  ASSERT_TRUE(jobs_.is_suspended(kJobSet));
  jobs_.play(kJobSet);

  EXPECT_EQ(look(job).words, "restarted");
  EXPECT_FALSE(jobs_.is_suspended(kJobSet));
}

// The record has only the intent, because the process ended right after the change.
TEST_F(JobRestarterTest, GivesUpNoJobThatMayBeSuspended) {
  const std::string job = jobs_.add(kJobSet);
  known_ = restarter_.advance(job, "", claim(), support::given).known;
  const std::string intended = known_;
  (void)look(job);
  ASSERT_TRUE(jobs_.is_suspended(kJobSet));
  is_late_ = true;

  known_ = intended;
  kube_.add_fault({.kind = fakes::FaultKind::kDropBefore, .method = "GET", .times = 2});
  EXPECT_FALSE(look(job).is_settled) << "nobody can say";
  kube_.access().deny({.user = {}, .verb = "list", .resource = "pods"});
  const auto now = look(job);

  EXPECT_TRUE(now.failed);
  EXPECT_THAT(now.words, HasSubstr("resumed, though its pods cannot be listed"));
  EXPECT_FALSE(jobs_.is_suspended(kJobSet));
}

TEST_F(JobRestarterTest, IntendsBeforeItSuspends) {
  const std::string job = jobs_.add(kJobSet);

  const auto now = restarter_.advance(job, "", claim(), support::given);

  EXPECT_TRUE(is_intended(now.known));
  EXPECT_EQ(writes(), 0U);
}

// The next process has neither the record nor the first one's memory.
TEST_F(JobRestarterTest, RestartsAJobOnceWhateverIsForgotten) {
  const std::string job = jobs_.add(kJobSet);
  (void)look(job);
  jobs_.play(kJobSet);
  (void)look(job);
  jobs_.add_pod(kJobSet, "train", minutes(30));
  known_.clear();

  EXPECT_EQ(look(job).words, "restarted");
  EXPECT_FALSE(jobs_.is_suspended(kJobSet));
}

TEST_F(JobRestarterTest, SuspendsNoJobThatHasChangedSinceItWasRead) {
  const std::string job = jobs_.add(kJobSet);
  const Permit meanwhile = [&]() -> Status {
    change(kJobSet, {{"metadata", {{"labels", {{kKueueQueue, "team-a"}}}}}});
    return {};
  };

  known_ = restarter_.advance(job, "", claim(), support::given).known;
  EXPECT_FALSE(restarter_.advance(job, known_, claim(), meanwhile).is_settled);

  EXPECT_FALSE(jobs_.is_suspended(kJobSet));
  expect_left_alone(job, "Kueue decides");
}

TEST_F(JobRestarterTest, DoesNotTouchAJobOfTheSameNameThatIsAnotherOne) {
  const std::string job = jobs_.add(kJobSet);
  (void)look(job);
  kube_.remove(TornJobs::path(kJobSet));
  jobs_.add(kJobSet, "train", 0);
  change(kJobSet, {{"spec", {{"suspend", true}}}});

  expect_left_alone(job, "recreated after the drain");
  EXPECT_TRUE(jobs_.is_suspended(kJobSet));
}

TEST_F(JobRestarterTest, LeavesAJobAloneWhoseAnnotationSomebodyHasTakenOff) {
  const std::string job = jobs_.add(kJobSet);
  (void)look(job);
  change(kJobSet, {{"metadata", {{"annotations", {{kSuspendedBy, nullptr}}}}}});

  expect_left_alone(job, "has removed the annotation");
  EXPECT_TRUE(jobs_.is_suspended(kJobSet));
}

TEST_F(JobRestarterTest, TakesAJobForRestartedThatSomebodyHasResumed) {
  const std::string job = jobs_.add(kJobSet);
  (void)look(job);
  change(kJobSet, {{"spec", {{"suspend", false}}}});

  EXPECT_EQ(look(job).words, "restarted");
  EXPECT_EQ(jobs_.annotation(kJobSet, kSuspendedBy), "");
}

TEST_F(JobRestarterTest, SaysWhichRightIsMissing) {
  const std::string job = jobs_.add(kJobSet);
  kube_.access().deny({.user = {}, .verb = "patch", .resource = "jobsets"});

  const auto now = look(job);

  EXPECT_TRUE(now.failed);
  EXPECT_THAT(now.words, HasSubstr("cannot patch resource \"jobsets\""));
}

TEST_F(JobRestarterTest, SaysWhichJobsItMayNotRead) {
  const std::string job = jobs_.add(kJobSet);
  kube_.access().deny({.user = {}, .verb = "get", .resource = "jobsets"});

  const auto now = look(job);

  EXPECT_TRUE(now.failed);
  EXPECT_THAT(now.words, HasSubstr("jobsets"));
}

// --- The end of the step while jobs are suspended

TEST_F(JobRestarterTest, GivesBackWhatItHasSuspendedAndNothingElse) {
  const std::string job = jobs_.add(kJobSet);
  EXPECT_TRUE(restarter_.give_back(job, known_, kMark, support::given));
  EXPECT_EQ(jobs_.annotation(kJobSet, kRestartedBy), "");
  (void)look(job);
  ASSERT_TRUE(jobs_.is_suspended(kJobSet));

  EXPECT_FALSE(restarter_.give_back(job, known_, kMark, support::refused));
  EXPECT_TRUE(jobs_.is_suspended(kJobSet));
  EXPECT_TRUE(restarter_.give_back(job, known_, kMark, support::given));

  EXPECT_FALSE(jobs_.is_suspended(kJobSet));
  EXPECT_TRUE(restarter_.give_back("JobSet default/gone", "", kMark, support::given));
  EXPECT_TRUE(restarter_.give_back("RayCluster default/ray", "", kMark, support::given));
}

}  // namespace
}  // namespace gpuward::remediator
