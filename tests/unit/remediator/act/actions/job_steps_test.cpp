// The steps that are a Job on the node, on the fake API server. The test plays the Job controller
// and the kubelets.
#include <gmock/gmock.h>

#include "core/runtime/files.h"
#include "exporter/checks/result_files.h"
#include "remediator/act/actions/collect_evidence_action.h"
#include "remediator/act/actions/gpu_reset_action.h"
#include "remediator/act/actions/job_template.h"
#include "remediator/act/actions/quarantine_job_action.h"
#include "remediator/act/actions/reboot_action.h"
#include "remediator/act/actions/step_progress.h"
#include "remediator/model/diagnostics.h"
#include "tests/support/temp_dir.h"
#include "tests/unit/remediator/act/actions/intended_step.h"
#include "tests/unit/remediator/act/actions/job_cluster.h"

namespace gpuward::remediator {
namespace {

using std::chrono::minutes;
using std::chrono::seconds;
using ::testing::HasSubstr;
using ::testing::Not;

// A failed check as `gpuward-exporter quarantine` and `nccl-pair` print it.
CheckResult failed_check() {
  CheckResult result;
  result.check = "4-dcgm-diag-l4";
  result.status = CheckStatus::kFail;
  result.severity = Severity::kIsolate;
  result.details = "memory: fail";
  return result;
}

constexpr const char* kBusy =
    "The following GPUs could not be reset:\n  GPU 00000000:F9:00.0: In use by another client\n\n"
    "1 device is currently being used by one or more other processes (e.g., Fabric Manager)";

class JobSteps : public JobCluster {
 protected:
  JobSteps() {
    Policy policy;
    policy.jobs.image = "here/gpuward:1";
    policy_.set(policy);
    kube_.create("/api/v1/nodes", fakes::ready_node("gpu-01"));
    node_ = *api_.get_node("gpu-01");
    node_.provider_id = "gce://p/z/gpu-01";
    remediation_.name = "gpu-01-ab-1";
    remediation_.uid = "0aa8ee8c-2b0e-4a2c-8f0e-5f0f7a3c5a11";
    remediation_.node = "gpu-01";
    remediation_.severity = Severity::kReset;
    intend(Step::kGpuReset);
  }
  // Records the intent as the reconciler does before begin().
  void intend(Step step) {
    step_ = planned(step);
    remediation_.status.steps = {
        intended_step(step, Severity::kReset, clock_.wall(), action().facts_before(node_))};
  }
  StepAction& action() {
    if (step_.step == Step::kReboot) return reboot_;
    if (step_.step == Step::kCollectEvidence) return evidence_;
    if (step_.step == Step::kGpuReset) return reset_;
    return quarantine_;
  }
  StepRequest request() {
    return {.remediation = remediation_,
            .node = node_,
            .step = step_,
            .facts = remediation_.status.steps[0].facts,
            .permit = [this] { return allowed_; },
            .now = clock_.wall(),
            .ran = ran_of(remediation_, step_.step, clock_.wall())};
  }
  // Records the progress as the reconciler does.
  StepProgress recorded(const Result<StepProgress>& progress) {
    if (!progress) {
      ADD_FAILURE() << progress.error().message;
      return {};
    }
    remediation_.status.steps[0].result = progress->result;
    remediation_.status.steps[0].facts = progress->facts;
    return *progress;
  }
  StepProgress begin() { return recorded(action().begin(request())); }
  StepProgress watch() { return recorded(action().watch(request())); }
  std::string path() { return std::string(kJobs) + "/" + job_name(request()); }
  Json job() { return kube_.get(path()); }

  void end_with(int code, const std::string& words, const std::string& reason = "Error") {
    exit_job(job(), code, words, reason);
  }
  static bool needs_operator(const StepProgress& progress) {
    return progress.facts.contains(kNeedsOperatorFact);
  }

  CollectEvidenceAction evidence_{api_, policy_};
  GpuResetAction reset_{api_, policy_};
  QuarantineJobAction quarantine_{api_, policy_};
  RebootJob reboot_{api_, policy_};
  kube::Node node_;
  Remediation remediation_;
  PlannedStep step_ = planned(Step::kGpuReset);
};

TEST_F(JobSteps, AreJobsOfOnePodOnTheNodeThatRunOnceAndTolerateOurTaintsAndTheCordon) {
  for (const Step step : {Step::kCollectEvidence, Step::kGpuReset, Step::kReboot,
                          Step::kQuarantineJob, Step::kNcclTest}) {
    intend(step);
    EXPECT_EQ(begin().result, StepResult::kRunning);
    const Json job = kube_.get(path());
    const Json& spec = job["spec"];
    const Json& pod = spec["template"]["spec"];
    EXPECT_EQ(pod["nodeName"], "gpu-01");
    EXPECT_EQ(pod["tolerations"], Json::array({{{"operator", "Exists"}}}));
    EXPECT_EQ(pod["restartPolicy"], "Never");
    EXPECT_EQ(spec["backoffLimit"], 0);
    EXPECT_EQ(spec["completions"], 1);
    EXPECT_EQ(spec["parallelism"], 1);
    const auto time = step == Step::kReboot ? step_.timeout - minutes(10) : step_.timeout;
    EXPECT_EQ(spec["activeDeadlineSeconds"], time / seconds(1));
    // A disruptive Job must not start late on a kubelet that the API server cannot reach.
    EXPECT_EQ(pod.contains("activeDeadlineSeconds"), is_disruptive(step));
    EXPECT_EQ(pod["containers"][0]["image"], "here/gpuward:1");
    EXPECT_EQ(job["metadata"]["annotations"]["gpuward.dev/remediation"], "gpu-01-ab-1");
    EXPECT_EQ(string_at(job["metadata"]["ownerReferences"][0], "uid"), remediation_.uid);
    EXPECT_THAT(dump_json(job), Not(HasSubstr("$(")));
  }
}

TEST_F(JobSteps, AreDoneWhenTheirJobIs) {
  EXPECT_EQ(begin().result, StepResult::kRunning);
  EXPECT_THAT(watch().message, HasSubstr("the Job has no pod"));
  end_with(0, "reset all", "Completed");

  const auto progress = watch();

  EXPECT_EQ(progress.result, StepResult::kDone);
  EXPECT_THAT(progress.message, HasSubstr("reset all"));
  EXPECT_EQ(progress.facts.at("exitCode"), "0");
  EXPECT_EQ(progress.facts.at("job"), "gpu-healthcheck/" + job_name(request()));
}

TEST_F(JobSteps, TellTheJobWhereEvidenceGoesAndRecordWhereItLies) {
  Policy policy;
  policy.jobs.image = "here/gpuward:1";
  policy.jobs.evidence = {.upload = "s3://evidence/prod", .service_account = "uploader"};
  policy_.set(policy);
  intend(Step::kCollectEvidence);
  ASSERT_EQ(begin().result, StepResult::kRunning);
  const Json pod = job()["spec"]["template"]["spec"];
  EXPECT_EQ(pod["serviceAccountName"], "uploader");
  EXPECT_EQ(pod["automountServiceAccountToken"], false);
  std::map<std::string, std::string> env;
  for (const Json& one : pod["containers"][0]["env"])
    env[string_at(one, "name")] = string_at(one, "value");
  EXPECT_EQ(env["EVIDENCE_UPLOAD"], "s3://evidence/prod");
  EXPECT_EQ(env["REMEDIATION"], "gpu-01-ab-1");
  const std::string line = "s3://evidence/prod/gpu-01-ab-1-20261128T020000Z.tar.gz";
  end_with(0, line, "Completed");

  const auto progress = watch();

  EXPECT_EQ(progress.result, StepResult::kDone);
  EXPECT_THAT(progress.message, HasSubstr(line));
}

TEST_F(JobSteps, UploadEvidenceNowhereByDefault) {
  intend(Step::kCollectEvidence);
  ASSERT_EQ(begin().result, StepResult::kRunning);
  const Json pod = job()["spec"]["template"]["spec"];
  EXPECT_EQ(pod["serviceAccountName"], "default");
  EXPECT_EQ(string_at(pod["containers"][0]["env"].back(), "value"), "");
}

TEST_F(JobSteps, MakeNothingIfTheyMayNot) {
  allowed_ = fail(ErrorKind::kCancelled, "the switch is on");

  const auto progress = begin();

  EXPECT_EQ(progress.result, StepResult::kIntended);
  EXPECT_THAT(progress.message, HasSubstr("the switch is on"));
  EXPECT_EQ(made(), 0U);
}

// The process died between the Job and its record. The next look finds the Job by its name.
TEST_F(JobSteps, FindTheirJobAgainAfterACrash) {
  ASSERT_TRUE(action().begin(request()));
  end_with(0, "done");

  EXPECT_EQ(watch().result, StepResult::kDone);
  EXPECT_EQ(made(), 1U);
}

TEST_F(JobSteps, TakeTheJobOfATryWhoseAnswerWasLostForTheirs) {
  ASSERT_TRUE(action().begin(request()));

  EXPECT_EQ(begin().result, StepResult::kRunning);
  end_with(0, "done");
  EXPECT_EQ(watch().result, StepResult::kDone);
}

// The process died between the intent and the Job. gpuward first checks all conditions again.
TEST_F(JobSteps, SayThatNothingWasDoneIfTheirJobWasNeverMade) {
  const auto progress = watch();

  EXPECT_EQ(progress.result, StepResult::kIntended);
  EXPECT_EQ(made(), 0U);
}

TEST_F(JobSteps, DoNotKnowWhetherTheirJobWasMadeIfNoAnswerCame) {
  kube_.add_fault({.kind = fakes::FaultKind::kDropAfter, .method = "POST"});

  EXPECT_FALSE(action().begin(request()));
  end_with(0, "done");
  EXPECT_EQ(watch().result, StepResult::kDone);
}

TEST_F(JobSteps, LeaveAJobOfSomebodyElseAlone) {
  ASSERT_EQ(begin().result, StepResult::kRunning);
  kube_.patch(path(), {{"metadata", {{"labels", {{"gpuward.dev/remediation-uid", "other"}}}}}});

  for (const StepProgress& progress : {watch(), begin()}) {
    EXPECT_EQ(progress.result, StepResult::kFailed);
    EXPECT_THAT(progress.message, HasSubstr("does not belong to this step"));
    EXPECT_TRUE(needs_operator(progress));
  }
}

TEST_F(JobSteps, HaveAJobOfTheirOwnForEachRemediationStepAndSeverity) {
  const std::string first = job_name(request());
  remediation_.status.steps[0].severity = Severity::kReboot;
  const std::string worse = job_name(request());
  remediation_.uid = "another";
  remediation_.node = std::string(200, 'n') + ".example";

  EXPECT_NE(first, worse);
  EXPECT_NE(job_name(request()), worse);
  EXPECT_LE(job_name(request()).size(), 63U);
  EXPECT_EQ(job_name(request()).find('.'), std::string::npos);
}

TEST_F(JobSteps, SayThatSomebodyHasDeletedTheirJob) {
  begin();
  kube_.remove(path());

  const auto progress = watch();

  EXPECT_EQ(progress.result, StepResult::kFailed);
  EXPECT_THAT(progress.message,
              AllOf(HasSubstr("Job gpu-healthcheck/gpuward-gpu-"),
                    HasSubstr("no longer exists, and this step did not delete it")));
  EXPECT_TRUE(needs_operator(progress));
}

TEST_F(JobSteps, NeedAHumanIfTheirJobIsRefused) {
  kube_.add_fault({.kind = fakes::FaultKind::kForbidden, .method = "POST"});

  const auto progress = begin();

  EXPECT_EQ(progress.result, StepResult::kFailed);
  EXPECT_TRUE(needs_operator(progress));
}

TEST_F(JobSteps, GiveUpAJobThatNeverStartsAndSayWhy) {
  begin();
  const Json container = {
      {"name", "c"},       {"image", "i"},
      {"imageID", ""},     {"ready", false},
      {"restartCount", 0}, {"state", {{"waiting", {{"reason", "ErrImagePull"}}}}}};
  add_pod(job(), {{"phase", "Pending"}, {"containerStatuses", Json::array({container})}});
  EXPECT_EQ(watch().result, StepResult::kRunning);
  clock_.advance(minutes(11));

  const auto progress = watch();

  EXPECT_EQ(progress.result, StepResult::kFailed);
  EXPECT_THAT(progress.message,
              HasSubstr("not done in time: the Job's pod is Pending: ErrImagePull"));
  EXPECT_THAT(progress.message,
              HasSubstr("the kubelet has not reported that the Job's container started"));
  EXPECT_FALSE(has_treated(remediation_.status.steps[0]));
  EXPECT_TRUE(needs_operator(progress));
  EXPECT_FALSE(kube_.has(path()));
}

TEST_F(JobSteps, LeaveAJobThatMayNotBeDeletedToItsOwnDeadline) {
  begin();
  clock_.advance(minutes(11));
  allowed_ = fail(ErrorKind::kCancelled, "the switch is on");

  const auto progress = watch();

  EXPECT_THAT(progress.message, HasSubstr("could not be deleted: the switch is on"));
  EXPECT_TRUE(progress.facts.contains(kJobLeftFact)) << "the end of the Remediation ends it";
  EXPECT_TRUE(kube_.has(path()));
}

TEST_F(JobSteps, DeleteTheirOwnJobIfTheyAreAbandoned) {
  EXPECT_TRUE(action().abandon(request())) << "there is none";
  begin();
  kube_.patch(path(), {{"metadata", {{"labels", {{"gpuward.dev/step", "other"}}}}}});
  EXPECT_TRUE(action().abandon(request()));
  ASSERT_TRUE(kube_.has(path()));
  kube_.patch(path(), {{"metadata", {{"labels", {{"gpuward.dev/step", "gpu-reset"}}}}}});

  EXPECT_TRUE(action().abandon(request()));

  EXPECT_FALSE(kube_.has(path()));
}

// Kubernetes deletes the pod of a Job that has passed its deadline.
TEST_F(JobSteps, RememberThatTheResetHadBegunWhenItsPodIsGone) {
  begin();
  add_pod(job(), {{"phase", "Running"}});
  EXPECT_EQ(watch().result, StepResult::kRunning);
  kube_.remove(std::string(kPods) + "/" + job_name(request()) + "-pod");
  mark_ended(job(), "Failed", "DeadlineExceeded");
  clock_.advance(step_.timeout + seconds(1));

  const auto progress = watch();

  EXPECT_EQ(progress.result, StepResult::kFailed);
  EXPECT_THAT(progress.message, HasSubstr("DeadlineExceeded"));
  EXPECT_FALSE(needs_operator(progress));
  EXPECT_TRUE(has_treated(remediation_.status.steps[0]));
}

TEST_F(JobSteps, CountNobodyElsesPods) {
  begin();
  Json pod = fakes::pod("stray", "gpu-01", {{"job-name", job_name(request())}});
  kube_.create(kPods, pod);
  kube_.patch_status(std::string(kPods) + "/stray", {{"status", {{"phase", "Running"}}}});

  EXPECT_THAT(watch().message, HasSubstr("the Job has no pod"));
}

TEST_F(JobSteps, PutCodeAndLastWordsIntoTheRecordCut) {
  begin();
  end_with(5, "no \xff way " + std::string(3000, 'x'));

  const auto progress = watch();

  EXPECT_EQ(progress.result, StepResult::kFailed);
  EXPECT_THAT(progress.message, HasSubstr("exited with code 5 (Error): no \xEF\xBF\xBD way xxx"));
  EXPECT_LE(progress.message.size(), 1024U + 200U);
  EXPECT_EQ(progress.facts.at("exitCode"), "5");
  EXPECT_FALSE(needs_operator(progress)) << "what did not help is followed by what is worse";
}

TEST_F(JobSteps, AResetWhoseCommandIsMissingHasResetNothing) {
  begin();
  end_with(127, "nvidia-smi: not found");

  EXPECT_TRUE(needs_operator(watch()));
  EXPECT_FALSE(has_treated(remediation_.status.steps[0]));
}

// A gpuward-exporter of an image that is older than the command ends like this.
TEST_F(JobSteps, AResetWhoseCommandIsNotKnownHasResetNothing) {
  begin();
  end_with(2, "The following arguments were not expected: gpu-reset");

  EXPECT_TRUE(needs_operator(watch()));
  EXPECT_FALSE(has_treated(remediation_.status.steps[0]));
}

TEST_F(JobSteps, TellTheResetWhichUnitsToStop) {
  begin();
  const auto command = [&] {
    return dump_json(job()["spec"]["template"]["spec"]["containers"][0]["command"]);
  };
  EXPECT_THAT(command(), HasSubstr("--timeout=600s"));
  EXPECT_THAT(command(), Not(HasSubstr("--pause-units"))) << "there are none";

  Policy policy = *policy_.get();
  policy.jobs.pause_units = {"nvidia-dcgm.service", "telemetry.service"};
  policy_.set(policy);
  kube_.remove(path());
  begin();
  EXPECT_THAT(command(), HasSubstr("--pause-units=nvidia-dcgm.service,telemetry.service"));
}

TEST_F(JobSteps, TellTheResetInWhichBootItWasOrdered) {
  begin();
  EXPECT_THAT(dump_json(job()), HasSubstr("--boot-id=" + node_.boot_id));
  end_with(1, "the machine has booted since the reset was ordered: no GPU was reset");

  const auto progress = watch();

  EXPECT_EQ(progress.result, StepResult::kDone) << "a restart resets the GPUs too";
  EXPECT_THAT(progress.message, HasSubstr("the machine has restarted since"));
}

// A kubelet that shuts down with its machine stops Jobs first.
TEST_F(JobSteps, AResetThatWasStoppedBeforeItBeganWaitsForARestart) {
  begin();
  end_with(1, "stopped before the reset");
  EXPECT_EQ(watch().result, StepResult::kRunning);

  clock_.advance(step_.timeout + seconds(1));
  const auto progress = watch();
  EXPECT_EQ(progress.result, StepResult::kFailed);
  EXPECT_TRUE(needs_operator(progress));
  EXPECT_FALSE(has_treated(remediation_.status.steps[0])) << "no GPU was reset";
}

TEST_F(JobSteps, AResetThatWasEndedMidwayWaitsForARestartAndThenCounts) {
  for (const int code : {1, 137, 143}) {
    intend(Step::kGpuReset);
    if (kube_.has(path())) {
      kube_.remove(path());
      kube_.remove(std::string(kPods) + "/" + job_name(request()) + "-pod");
    }
    begin();
    end_with(code, code == 1 ? "nvidia-smi was killed\nstopped during the reset" : "");
    EXPECT_EQ(watch().result, StepResult::kRunning) << code;

    clock_.advance(step_.timeout + seconds(1));
    EXPECT_EQ(watch().result, StepResult::kFailed);
    EXPECT_FALSE(needs_operator(recorded(action().watch(request()))));
    EXPECT_TRUE(has_treated(remediation_.status.steps[0])) << code;
  }
}

TEST_F(JobSteps, AResetThatWasStoppedBeforeARestartIsDone) {
  begin();
  end_with(1, "in use by another process: python (pid 7: nvidia0); stopped before the reset");
  EXPECT_EQ(watch().result, StepResult::kRunning);
  kube_.patch_status("/api/v1/nodes/gpu-01", {{"status", {{"nodeInfo", {{"bootID", "boot-2"}}}}}});
  EXPECT_EQ(watch().result, StepResult::kDone);
}

// The Job was created late, after gpuward had withdrawn the step.
TEST_F(JobSteps, TakeNoJobOfAnotherBootForTheirs) {
  begin();
  remediation_.status.steps[0].result = StepResult::kIntended;
  remediation_.status.steps[0].facts[kJobBootFact] = "boot-2";

  EXPECT_EQ(action().begin(request())->result, StepResult::kIntended);
  EXPECT_FALSE(kube_.has(path()));
  EXPECT_EQ(begin().result, StepResult::kRunning);
  EXPECT_TRUE(kube_.has(path()));
}

TEST_F(JobSteps, AResetThatARestartHasCutOffNeedsNoOther) {
  begin();
  end_with(255, "Terminated");
  kube_.patch_status("/api/v1/nodes/gpu-01", {{"status", {{"nodeInfo", {{"bootID", "boot-2"}}}}}});

  EXPECT_EQ(watch().result, StepResult::kDone);
}

TEST_F(JobSteps, ABusyGpuIsForAHumanOrForWhatIsWorseAsThePolicySays) {
  begin();
  end_with(255, kBusy);
  remediation_.status.steps[0].facts.erase(kNeedsOperatorFact);
  EXPECT_THAT(watch().message, HasSubstr("a process holds a GPU"));
  EXPECT_TRUE(remediation_.status.steps[0].facts.contains(kNeedsOperatorFact));

  remediation_.status.steps[0].facts.erase(kNeedsOperatorFact);
  step_.job.escalates_when_busy = true;
  const auto progress = watch();

  EXPECT_EQ(progress.result, StepResult::kFailed);
  EXPECT_FALSE(needs_operator(progress));
  EXPECT_FALSE(has_treated(remediation_.status.steps[0])) << "no GPU was reset";
}

TEST_F(JobSteps, AResetIsNotTriedOnEc2UnlessThePolicySaysSo) {
  node_.provider_id = "aws:///us-east-1a/i-1";

  const auto progress = begin();

  EXPECT_EQ(progress.result, StepResult::kFailed);
  EXPECT_THAT(progress.message, HasSubstr("not attempted on aws://"));
  EXPECT_FALSE(needs_operator(progress));
  EXPECT_EQ(made(), 0U);
  intend(Step::kGpuReset);
  step_.job.not_on.clear();
  EXPECT_EQ(begin().result, StepResult::kRunning);
}

TEST_F(JobSteps, AQuarantineFailsTheNodeOnlyByTheWordOfACheck) {
  intend(Step::kQuarantineJob);
  begin();
  end_with(1, exporter::to_result_json({}, failed_check()));
  auto progress = watch();
  EXPECT_EQ(progress.result, StepResult::kFailed);
  EXPECT_FALSE(needs_operator(progress));

  kube_.remove(std::string(kPods) + "/" + job_name(request()) + "-pod");
  end_with(1, "it is taken: another sweep");
  progress = watch();
  EXPECT_EQ(progress.result, StepResult::kFailed);
  EXPECT_TRUE(needs_operator(progress));
}

// The machine may have restarted under the diagnostic. That restart did not come after the failure.
TEST_F(JobSteps, ADiagnosticFailsInTheBootThatItIsFoundIn) {
  intend(Step::kQuarantineJob);
  begin();
  end_with(1, exporter::to_result_json({}, failed_check()));
  kube_.patch("/api/v1/nodes/gpu-01/status",
              {{"status", {{"nodeInfo", {{"bootID", "the-next"}}}}}});
  auto progress = watch();
  ASSERT_EQ(progress.result, StepResult::kFailed);
  EXPECT_EQ(progress.facts[kFailedBootFact], "the-next") << "and the view is older";
}

TEST_F(JobSteps, ADiagnosticHasNotFailedAsLongAsNobodySaysInWhichBoot) {
  intend(Step::kQuarantineJob);
  begin();
  end_with(1, exporter::to_result_json({}, failed_check()));
  kube_.add_fault({.path = "/api/v1/nodes/gpu-01", .times = -1});
  EXPECT_FALSE(action().watch(request()));
  kube_.clear_faults();
  EXPECT_EQ(watch().result, StepResult::kFailed);
}

TEST_F(JobSteps, SayWhatAPassClearsAndWhatBandwidthIsNone) {
  intend(Step::kNcclTest);
  step_.job.min_bus_bandwidth = 387.5;
  begin();
  const Json nccl = kube_.get(path())["spec"]["template"]["spec"]["containers"][0];
  EXPECT_EQ(nccl["command"],
            Json::array({"gpuward-exporter", "quarantine", "--checks=5", "--clear-latched=false"}));
  EXPECT_THAT(dump_json(nccl["env"]), HasSubstr(R"("NCCL_MIN_BUS_BW","value":"387.5")"));

  intend(Step::kQuarantineJob);
  step_.job.clears_latched = true;
  begin();
  const Json quarantine = kube_.get(path())["spec"]["template"]["spec"]["containers"][0];
  EXPECT_EQ(quarantine["command"],
            Json::array({"gpuward-exporter", "quarantine",
                         "--config.directory=/etc/gpu-healthcheck", "--clear-latched=true"}));
}

TEST_F(JobSteps, AQuarantineReadsTheSuitesConfigMapIfThereIsOne) {
  intend(Step::kQuarantineJob);
  begin();
  const Json pod = kube_.get(path())["spec"]["template"]["spec"];
  EXPECT_THAT(dump_json(pod["containers"][0]["volumeMounts"]),
              HasSubstr(R"({"mountPath":"/etc/gpu-healthcheck","name":"legacy-config")"));
  EXPECT_THAT(dump_json(pod["volumes"]),
              HasSubstr(R"({"configMap":{"name":"gpu-healthcheck-config","optional":true})"));
}

TEST_F(JobSteps, RememberTheBootThatTheyWereBegunIn) {
  intend(Step::kQuarantineJob);

  EXPECT_EQ(begin().facts.at(kJobBootFact), "boot-gpu-01");
}

TEST_F(JobSteps, AQuarantineMayWriteOnItsNode) {
  intend(Step::kQuarantineJob);
  begin();

  EXPECT_EQ(kube_.get(path())["spec"]["template"]["spec"]["serviceAccountName"],
            "gpu-healthcheck-quarantine");
}

TEST_F(JobSteps, EvidenceThatCouldNotBeCollectedIsAFailureThatIsSaid) {
  intend(Step::kCollectEvidence);
  begin();
  end_with(1, "no such folder");

  const auto progress = watch();

  EXPECT_EQ(progress.result, StepResult::kFailed);
  EXPECT_THAT(progress.message, HasSubstr("no such folder"));
}

TEST_F(JobSteps, StayWithTheirNamespaceWhenThePolicyChanges) {
  begin();
  Policy other;
  other.jobs.ns = "elsewhere";
  policy_.set(other);
  end_with(0, "done");

  EXPECT_EQ(watch().result, StepResult::kDone);
}

class ResetByVendor : public JobSteps {
 protected:
  void set_resources(const std::vector<std::string>& resources) {
    node_.meta.labels.clear();
    node_.resources = resources;
  }
  void set_jobs(const JobsPolicy& jobs) {
    Policy policy;
    policy.jobs = jobs;
    policy_.set(policy);
  }
  // The step leaves the node to an operator, does not escalate, and makes no Job.
  void expect_held(const std::string& why) {
    const auto progress = begin();
    EXPECT_EQ(progress.result, StepResult::kFailed);
    EXPECT_TRUE(needs_operator(progress));
    EXPECT_THAT(progress.message, HasSubstr(why));
    EXPECT_EQ(made(), 0U);
  }
  std::string command() {
    return dump_json(job()["spec"]["template"]["spec"]["containers"][0]["command"]);
  }
};

TEST_F(ResetByVendor, RunsNvidiasToolsOnNodesOfNvidia) {
  set_resources({"nvidia.com/gpu"});
  EXPECT_EQ(begin().result, StepResult::kRunning);
  EXPECT_THAT(command(), HasSubstr("gpu-reset"));
  EXPECT_THAT(command(), HasSubstr("--vendor=nvidia"));
}

TEST_F(ResetByVendor, RunsAmdsToolsOnNodesOfAmd) {
  set_resources({"amd.com/gpu"});
  EXPECT_EQ(begin().result, StepResult::kRunning);
  EXPECT_THAT(command(), HasSubstr("--vendor=amd"));
  EXPECT_THAT(dump_json(job()), Not(HasSubstr("$(")));
}

TEST_F(ResetByVendor, TakesTheTemplateThatThePolicyNamesForAmd) {
  set_resources({"amd.com/gpu"});
  JobsPolicy jobs;
  jobs.template_files["gpu-reset-amd"] = "/etc/gpuward/amd.json";
  jobs.templates["gpu-reset-amd"] =
      R"({"apiVersion": "batch/v1", "kind": "Job", "spec": {"template": {"spec":
          {"containers": [{"name": "c", "image": "mine", "command": ["mine"]}]}}}})";
  set_jobs(jobs);
  EXPECT_EQ(begin().result, StepResult::kRunning);
  EXPECT_EQ(command(), R"(["mine"])");
}

TEST_F(ResetByVendor, IsLeftToAnOperatorIfNobodySaysWhoseTheGpusAre) {
  set_resources({"cpu"});
  expect_held("no resource or label of the node names the GPU vendor");
}

TEST_F(ResetByVendor, IsLeftToAnOperatorIfTheyAreOfTwoVendors) {
  set_resources({"nvidia.com/gpu", "amd.com/gpu"});
  expect_held("more than one vendor");
}

TEST_F(ResetByVendor, IsLeftToAnOperatorIfTheCommandIsOfAnotherVendor) {
  set_resources({"amd.com/gpu"});
  step_.job.command = {"nvidia-smi", "--gpu-reset"};
  expect_held("the node has AMD GPUs, and the command of gpu-reset runs NVIDIA tools");
}

TEST_F(ResetByVendor, IsLeftToAnOperatorIfThereIsNoTemplate) {
  set_resources({"amd.com/gpu"});
  JobsPolicy jobs;
  jobs.template_files["gpu-reset"] = "/etc/gpuward/nvidia.json";
  set_jobs(jobs);
  expect_held("jobs.templates.gpu-reset-amd");
}

TEST_F(ResetByVendor, HoldsForWhoeverUsesAnAmdGpu) {
  set_resources({"amd.com/gpu"});
  begin();
  end_with(16, "in use by another process: the GPUs are open in python (pid 7: kfd)");

  const auto progress = watch();

  EXPECT_TRUE(needs_operator(progress));
  EXPECT_THAT(progress.message, HasSubstr("a process holds a GPU: "));
  EXPECT_EQ(progress.facts.at("call"), "none") << "nothing was reset";
}

class JobTemplate : public JobSteps {
 protected:
  Result<Json> rendered(const Json& job) {
    JobsPolicy jobs = policy_.get()->jobs;
    jobs.templates["gpu-reset"] = dump_json(job);
    const auto text = render_job(request(), jobs, "tools");
    if (!text) return std::unexpected(text.error());
    return parse_json(*text);
  }
  static Json own_template() {
    Json job = {{"apiVersion", "batch/v1"}, {"kind", "Job"}};
    job["metadata"] = {{"generateName", "x-"}, {"labels", {{"team", "infra"}}}};
    job["spec"]["backoffLimit"] = 6;
    job["spec"]["template"]["spec"] = {
        {"restartPolicy", "OnFailure"},
        {"nodeSelector", {{"a", "b"}}},
        {"containers", Json::array({{{"name", "c"},
                                     {"image", "mine:$(NODE_NAME)"},
                                     {"command", Json::array({"go"})},
                                     {"args", Json::array({"$(REMEDIATION)", "$(OTHER)"})}}})}};
    return job;
  }
};

TEST_F(JobTemplate, OfTheOperatorIsKeptButForWhatMakesTheStepSafe) {
  const auto job = rendered(own_template());

  ASSERT_TRUE(job) << job.error().message;
  EXPECT_EQ((*job)["metadata"]["name"], job_name(request()));
  EXPECT_EQ((*job)["metadata"]["namespace"], "tools");
  EXPECT_EQ((*job)["metadata"]["labels"]["team"], "infra");
  EXPECT_FALSE((*job)["metadata"].contains("generateName"));
  EXPECT_EQ((*job)["spec"]["backoffLimit"], 0);
  const Json& pod = (*job)["spec"]["template"]["spec"];
  EXPECT_EQ(pod["restartPolicy"], "Never");
  EXPECT_FALSE(pod.contains("nodeSelector"));
  EXPECT_EQ(pod["containers"][0]["image"], "mine:gpu-01");
  EXPECT_EQ(pod["containers"][0]["args"], Json::array({"gpu-01-ab-1", "$(OTHER)"}));
}

TEST_F(JobTemplate, GivesWayToTheStepsOwnCommand) {
  step_.job.command = {"reset", "--all"};

  const auto job = rendered(own_template());

  ASSERT_TRUE(job);
  const Json& container = (*job)["spec"]["template"]["spec"]["containers"][0];
  EXPECT_EQ(container["command"], Json::array({"reset", "--all"}));
  EXPECT_FALSE(container.contains("args"));
}

TEST_F(JobTemplate, MustBeAJobWithOneContainer) {
  Json pod = own_template();
  pod["kind"] = "Pod";
  Json two = own_template();
  two["spec"]["template"]["spec"]["containers"].push_back({{"name", "d"}});

  EXPECT_THAT(rendered(pod).error().message, HasSubstr("not a batch/v1 Job"));
  EXPECT_THAT(rendered(two).error().message, HasSubstr("exactly one container"));
}

TEST_F(JobTemplate, OfAResetRunsTheToolsOfItsVendorAlone) {
  const support::TempDir folder;
  const std::string path = folder.path() / "job.json";
  Json job = own_template();
  job["spec"]["template"]["spec"]["containers"][0]["command"] = {"nvidia-smi", "--gpu-reset"};
  ASSERT_TRUE(write_file_atomically(path, dump_json(job)));
  JobsPolicy jobs;
  jobs.template_files["gpu-reset"] = path;
  EXPECT_TRUE(load_job_templates(jobs));
  jobs.template_files["gpu-reset-amd"] = path;

  const auto loaded = load_job_templates(jobs);

  ASSERT_FALSE(loaded);
  EXPECT_THAT(loaded.error().message, HasSubstr("jobs.templates.gpu-reset-amd"));
  EXPECT_THAT(loaded.error().message, HasSubstr("NVIDIA tools on nodes with AMD GPUs"));
}

TEST_F(JobTemplate, OfEvidenceSaysWhereItGoes) {
  const support::TempDir folder;
  const std::string path = folder.path() / "job.json";
  ASSERT_TRUE(write_file_atomically(path, dump_json(own_template())));
  JobsPolicy jobs;
  jobs.template_files["collect-evidence"] = path;
  EXPECT_TRUE(load_job_templates(jobs)) << "nowhere, as by default";
  jobs.evidence.upload = "/mnt/evidence";

  const auto loaded = load_job_templates(jobs);

  ASSERT_FALSE(loaded);
  EXPECT_THAT(loaded.error().message, HasSubstr("has no $(UPLOAD)"));
  Json job = own_template();
  job["spec"]["template"]["spec"]["containers"][0]["env"] =
      Json::array({{{"name", "EVIDENCE_UPLOAD"}, {"value", "$(UPLOAD)"}}});
  ASSERT_TRUE(write_file_atomically(path, dump_json(job)));
  EXPECT_TRUE(load_job_templates(jobs));
}

TEST_F(JobTemplate, IsReadWithThePolicy) {
  const support::TempDir folder;
  const std::string path = folder.path() / "job.json";
  JobsPolicy jobs;
  jobs.template_files["gpu-reset"] = path;
  EXPECT_THAT(load_job_templates(jobs).error().message, HasSubstr("jobs.templates.gpu-reset"));
  ASSERT_TRUE(write_file_atomically(path, "{}"));
  EXPECT_EQ(load_job_templates(jobs).error().kind, ErrorKind::kInvalid);
  ASSERT_TRUE(write_file_atomically(path, dump_json(own_template())));

  EXPECT_TRUE(load_job_templates(jobs));
  EXPECT_EQ(jobs.templates.at("gpu-reset"), dump_json(own_template()));
}

}  // namespace
}  // namespace gpuward::remediator
