#include "remediator/policy/policy.h"

#include <gmock/gmock.h>

#include "remediator/policy/policy_text.h"
#include "tests/places.inc"
#include "tests/unit/remediator/policy/parse_policy.h"

namespace gpuward::remediator {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::ElementsAreArray;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::MatchesRegex;
using ::testing::Not;
using ::testing::SizeIs;

std::vector<Step> taken(const Policy& policy, Severity severity) {
  std::vector<Step> steps;
  for (const PlannedStep& step : steps_for(policy, severity)) steps.push_back(step.step);
  return steps;
}

kube::Node node_with(kube::Labels labels) {
  kube::Node node;
  node.meta.name = "gpu-01";
  node.meta.labels = std::move(labels);
  return node;
}

TEST(Policy, ObservesByDefault) {
  const auto policy = parse_policy("");

  ASSERT_TRUE(policy);
  EXPECT_EQ(policy->mode, Mode::kObserve);
  EXPECT_THAT(taken(*policy, Severity::kIsolate), IsEmpty());
  EXPECT_FALSE(policy->return_to_service.enabled);
}

TEST(Policy, PlansTheHealthSuitesQuarantineAfterEachRepair) {
  const auto policy = parse_policy(
      "mode: full\npreset: health-suite\nmachines: {reboot: [/bin/power-cycle]}\n"
      "jobs: {image: exporter}\n"
      "pools: [{name: slow, labels: [slow], drain: {deadline: 9h}}]\n");
  ASSERT_TRUE(policy) << policy.error().message;

  for (const auto& [severity, repair] : {std::pair(Severity::kReset, Step::kGpuReset),
                                         std::pair(Severity::kReboot, Step::kReboot)}) {
    EXPECT_THAT(taken(*policy, severity),
                ElementsAre(Step::kTaint, Step::kCordon, Step::kDrain, repair, Step::kQuarantineJob,
                            Step::kVerify, Step::kReturn));
    for (const std::string_view pool : {"", "slow"}) {
      const auto& plan = plan_of(*policy, pool, severity);
      EXPECT_EQ(plan.at(2).drain.pods, DrainedPods::kAll) << pool;
      EXPECT_TRUE(plan.at(4).job.clears_latched) << pool;
    }
  }
  EXPECT_THAT(taken(*policy, Severity::kIsolate),
              ElementsAre(Step::kTaint, Step::kCordon, Step::kDrain, Step::kTerminate));
}

TEST(Policy, OfTheHealthSuiteReplacesANodeThatFailsItsQuarantine) {
  const auto policy = parse_policy(
      "mode: full\npreset: health-suite\nmachines: {reboot: [/bin/power-cycle]}\n"
      "jobs: {image: exporter}\n");
  ASSERT_TRUE(policy) << policy.error().message;

  const std::string reset = severity_text(*policy, Severity::kReset);

  for (const auto& [step, next] :
       {std::pair("gpu-reset", "reboot"), std::pair("quarantine-job", "isolate"),
        std::pair("verify", "reboot")}) {
    EXPECT_THAT(reset, MatchesRegex(std::string("(.|\n)*[0-9]\\. ") + step +
                                    "[^\n]*on failure: escalate to " + next + "\n(.|\n)*"));
  }
}

TEST(Policy, TakesItsOwnStepsBeforeThoseOfThePreset) {
  const auto policy = parse_policy(
      "mode: full\npreset: health-suite\nmachines: {reboot: [/bin/power-cycle]}\n"
      "jobs: {image: exporter}\nseverities: {reset: [cordon]}\n");
  ASSERT_TRUE(policy) << policy.error().message;
  EXPECT_THAT(taken(*policy, Severity::kReset), ElementsAre(Step::kCordon));
}

TEST(Policy, RefusesTheHealthSuiteWithoutItsMeans) {
  const auto policy = parse_policy("preset: health-suite\n");
  ASSERT_FALSE(policy);
  EXPECT_THAT(policy.error().message, AllOf(HasSubstr("machines.reboot: is required"),
                                            HasSubstr("jobs.image: is required")));
}

TEST(Policy, GoesTheSeedsRoadByDefaultAsFarAsItHasTheMeans) {
  const auto marks = {Step::kTaint, Step::kCordon};
  const auto bare = parse_policy("mode: full\n");
  ASSERT_TRUE(bare) << bare.error().message;
  EXPECT_THAT(taken(*bare, Severity::kIsolate),
              ElementsAre(Step::kTaint, Step::kCordon, Step::kDrain, Step::kTerminate));
  EXPECT_TRUE(steps_for(*bare, Severity::kIsolate).back().before.approval);
  EXPECT_THAT(taken(*bare, Severity::kReboot), ElementsAreArray(marks));
  EXPECT_THAT(taken(*bare, Severity::kReset), ElementsAreArray(marks));
  EXPECT_THAT(taken(*bare, Severity::kMonitor), IsEmpty());

  const auto policy = parse_policy(
      "mode: full\nmachines: {reboot: [/bin/power-cycle]}\njobs: {image: exporter}\n"
      "drain: {deadline: 3h}\n"
      "pools: [{name: slow, labels: [slow], drain: {deadline: 9h}}]\n");
  ASSERT_TRUE(policy) << policy.error().message;
  EXPECT_THAT(taken(*policy, Severity::kReboot),
              ElementsAre(Step::kTaint, Step::kCordon, Step::kDrain, Step::kReboot, Step::kVerify,
                          Step::kReturn));
  EXPECT_THAT(taken(*policy, Severity::kReset),
              ElementsAre(Step::kTaint, Step::kCordon, Step::kDrain, Step::kGpuReset, Step::kVerify,
                          Step::kReturn));
  EXPECT_EQ(steps_for(*policy, Severity::kReset)[2].drain.pods, DrainedPods::kGpu);
  EXPECT_EQ(steps_for(*policy, Severity::kIsolate)[2].drain.pods, DrainedPods::kAll);
  EXPECT_EQ(steps_for(*policy, Severity::kIsolate)[2].drain.deadline, std::chrono::hours(3));
  EXPECT_EQ(plan_of(*policy, "slow", Severity::kIsolate)[2].drain.deadline, std::chrono::hours(9));
}

TEST(Policy, ReadsEveryKey) {
  const auto policy = parse_policy(
      "mode: cordon\n"
      "severities:\n  isolate: [taint, cordon]\n  reset: [taint]\n  monitor: []\n"
      "excluded:\n  nodes: [gpu-09]\n  labels: [team=research]\n  control_plane: false\n"
      "return_to_service:\n  enabled: true\n  max_report_age: 2m\n");

  ASSERT_TRUE(policy) << policy.error().message;
  EXPECT_THAT(taken(*policy, Severity::kReset), ElementsAre(Step::kTaint));
  EXPECT_THAT(taken(*policy, Severity::kIsolate), ElementsAre(Step::kTaint, Step::kCordon));
  EXPECT_TRUE(policy->excluded.nodes.contains("gpu-09"));
  EXPECT_FALSE(policy->excluded.control_plane);
  EXPECT_EQ(policy->return_to_service.max_report_age, std::chrono::minutes(2));
}

TEST(Policy, RefusesWhatCannotBeMeantAndSaysWhere) {
  struct Row {
    const char* yaml;
    const char* says;
  };
  const Row rows[] = {
      {"mode: ful\n", "policy.yaml:1: mode"},
      {"moode: full\n", "moode"},
      {"severities:\n  reboot: [taint, evict]\n", "policy.yaml:2: severities.reboot"},
      {"severities:\n  reboot: [taint, drain]\n", "needs cordon before it"},
      {"severities:\n  reboot: [cordon, taint]\n", "in the order"},
      {"severities:\n  reboot: [cordon, reboot]\n", "need drain"},
      {"severities:\n  reset: [cordon, gpu-reset]\n", "need drain"},
      {"severities:\n  reset: [cordon, quarantine-job]\n", "need drain"},
      {"severities:\n  reset: [taint, collect-evidence]\n", "needs cordon before it"},
      {"severities:\n  reset: [cordon, drain, collect-evidence]\n", "in the order"},
      {"severities:\n  reset: [cordon, drain, gpu-reset]\n", "jobs.image"},
      {"severities:\n  reset:\n    - cordon\n    - drain\n    - restart-job: {program: [\"\"]}\n",
       "program: must name a program"},
      {"severities:\n  reset:\n    - cordon\n    - restart-job: {program: [/a]}\n", "need drain"},
      {"severities:\n  reset:\n    - cordon\n    - drain\n"
       "    - restart-job: {program: [/a], timeout: 1h}\n",
       "timeout"},
      {"severities:\n  reset:\n    - cordon\n    - collect-evidence: {on_busy: hold}\n", "on_busy"},
      {"severities:\n  reset:\n    - cordon\n    - drain\n    - gpu-reset: {on_busy: kill}\n",
       "one of hold, escalate"},
      {"severities:\n  reset:\n    - cordon\n    - drain\n    - gpu-reset: {not_on: [\"\"]}\n",
       "providerID"},
      {"severities:\n  reset:\n    - cordon\n    - collect-evidence: {command: [\"\"]}\n",
       "empty argument"},
      {"jobs: {namespace: Gpu/x}\n", "jobs.namespace"},
      {"jobs: {templates: {gpu-reset: a.json}}\n", "absolute path"},
      {"jobs: {templates: {drain: /a.json}}\n", "drain"},
      {"severities:\n  reboot: [cordon, drain, return-to-service]\n", "needs verify"},
      {"severities:\n  isolate: [cordon, terminate]\n", "need drain"},
      {"severities:\n  isolate: [cordon, drain, terminate, return-to-service]\n",
       "only verify may follow terminate"},
      {"severities:\n  isolate: [cordon, drain, terminate, verify, return-to-service]\n",
       "only verify may follow terminate"},
      {"severities:\n  isolate: [cordon, drain, verify, terminate]\n", "must be in the order"},
      {"severities:\n  isolate:\n    - cordon\n    - drain\n    - terminate\n"
       "    - wait: {approval: true}\n    - verify\n",
       "verify after terminate cannot have a wait before it"},
      {"severities:\n  isolate:\n    - cordon\n    - drain\n    - terminate: {volumes: "
       "{on_deadline: go}}\n",
       "hold, proceed"},
      {"machines: {terminate: [/bin/end]}\n", "machines.is_gone"},
      {"machines: {is_gone: [/bin/gone]}\n", "machines.terminate"},
      {"machines:\n  aws: {cluster: a/b}\n", "policy.yaml:2: machines.aws.cluster"},
      {"machines: {aws: {terminat: true}}\n", "machines.aws.terminat"},
      {"severities:\n  reboot:\n    - wait: {approval: true}\n", "wait needs a step"},
      {"severities:\n  reboot:\n    - wait: {approval: true}\n    - taint\n", "cannot have a wait"},
      {"severities:\n  reboot:\n    - cordon\n    - drain\n    - reboot: {timeot: 5m}\n", "timeot"},
      {"severities:\n  reboot:\n    - cordon\n    - verify: {soak: 2h, timeout: 1h}\n", "shorter"},
      {"severities:\n  reboot: [taint, taint]\n", "twice"},
      {"severities:\n  reset: []\n  isolate: []\n",
       "policy.yaml:3: severities.isolate: has no steps, but the milder severity reboot has"},
      {"severities:\n  reboot: []\n  isolate: []\n",
       "isolate: has no steps, but the milder severity reset"},
      {"severities:\n  reboot: []\n", "policy.yaml:2: severities.reboot: has no steps"},
      {"severities:\n  monitor: [taint]\n", "monitor are only recorded"},
      {"severities:\n  fatal: [taint]\n", "fatal"},
      {"severities:\n  reboot: [return-to-service]\n", "reboot"},
      {"severities:\n  reboot: [cordon, drain, reboot]\n", "machines.reboot"},
      {"machines: {reboot: [/bin/x], job: {reboot: true}}\njobs: {image: a}\n",
       "machines.job.reboot: machines.reboot names a program"},
      {"machines: {job: {reboot: true}}\n", "jobs.image: is required"},
      {"machines: {job: {reboot: true}}\njobs: {image: a}\nsilent: {reboot: true}\n",
       "machines.reboot: is required because silent.reboot is on"},
      {"evidence: {max_age: 1h}\n", "evidence.max_age"},
      {"cooldown: 8d\n", "policy.yaml:1: cooldown"},
      {"startup_grace: 2d\n", "policy.yaml:1: startup_grace"},
      {"excluded:\n  labels: [\"=x\"]\n", "policy.yaml:2"},
      {"excluded:\n  namespaces: [\"\"]\n", "policy.yaml:2: excluded.namespaces"},
      {"return_to_service:\n  max_report_age: 0s\n", "max_report_age"},
      {"mode: observe\nmode: full\n", "policy.yaml"},
      {"mode: FULL\n", "policy.yaml:1: mode: must be one of observe, taint, cordon, full"},
      {"- a\n", "policy.yaml"},
  };
  for (const Row& row : rows) {
    const auto policy = parse_policy(row.yaml);
    ASSERT_FALSE(policy) << row.yaml;
    EXPECT_EQ(policy.error().kind, ErrorKind::kInvalid);
    EXPECT_THAT(policy.error().message, HasSubstr(row.says)) << row.yaml;
  }
}

TEST(Policy, DoesNotTakeAPlanWithAFaultForOneWithoutSteps) {
  EXPECT_THAT(parse_policy("severities: {reboot: [evict]}\n").error().message,
              Not(HasSubstr("has no steps")));
}

TEST(Policy, TakesSeveritiesWithoutStepsIfNoMilderOneHasAny) {
  EXPECT_TRUE(parse_policy("severities: {reset: []}\n"));
  EXPECT_TRUE(parse_policy("severities: {reset: [], reboot: []}\n"));
  EXPECT_TRUE(parse_policy("severities: {reset: [], reboot: [], isolate: []}\n"));
}

TEST(Policy, ModeLimitsTheSteps) {
  Policy policy;
  policy.mode = Mode::kTaint;
  EXPECT_THAT(taken(policy, Severity::kReboot), ElementsAre(Step::kTaint));
  policy.mode = Mode::kFull;
  EXPECT_THAT(taken(policy, Severity::kReboot), ElementsAre(Step::kTaint, Step::kCordon));
  EXPECT_THAT(taken(policy, Severity::kMonitor), IsEmpty());
}

TEST(Policy, ReadsStepsWithWhatTheyWaitForAndTheirSettings) {
  const auto policy = parse_policy(
      "mode: full\n"
      "severities:\n"
      "  reboot:\n"
      "    - taint\n"
      "    - cordon\n"
      "    - wait: {delay: 10m}\n"
      "    - drain\n"
      "    - wait: {approval: true}\n"
      "    - reboot: {timeout: 7m}\n"
      "    - verify: {soak: 5m}\n"
      "    - return-to-service\n"
      "machines: {reboot: [/bin/power-cycle, --soft], timeout: 30s}\n");

  ASSERT_TRUE(policy) << policy.error().message;
  const auto plan = steps_for(*policy, Severity::kReboot);
  ASSERT_THAT(plan, SizeIs(6));
  EXPECT_EQ(plan[2].before.delay, std::chrono::minutes(10));
  EXPECT_FALSE(plan[2].before.approval);
  EXPECT_TRUE(plan[3].before.approval);
  EXPECT_EQ(plan[3].timeout, std::chrono::minutes(7));
  EXPECT_EQ(plan[4].soak, std::chrono::minutes(5));
  EXPECT_THAT(policy->machines.reboot, ElementsAre("/bin/power-cycle", "--soft"));
}

TEST(Policy, LetsAwsRestartAndEndMachinesIfItSaysSo) {
  const auto policy = parse_policy(
      "severities: {reboot: [cordon, drain, reboot], isolate: [cordon, drain]}\n"
      "machines: {aws: {reboot: true, terminate: true, cluster: gpu-1}}\n");
  ASSERT_TRUE(policy) << policy.error().message;
  EXPECT_TRUE(policy->machines.aws.reboot);
  EXPECT_TRUE(policy->machines.aws.terminate);
  EXPECT_EQ(policy->machines.aws.cluster, "gpu-1");
  EXPECT_FALSE(Policy{}.machines.aws.reboot);
  EXPECT_FALSE(Policy{}.machines.aws.terminate);
}

// The flow of the replaced suites, as a manifest.
TEST(Policy, IsShippedForTheWholeFlow) {
  const auto manifest = YamlFile::load(GPUWARD_SOURCE_DIR "/manifests/remediator-policy-full.yaml");
  ASSERT_TRUE(manifest);
  std::string text;
  manifest->root().map("data").read("policy.yaml", text);

  const auto policy = parse_policy(text);

  ASSERT_TRUE(policy) << policy.error().message;
  EXPECT_EQ(policy->mode, Mode::kFull);
  EXPECT_THAT(
      taken(*policy, Severity::kIsolate),
      ElementsAre(Step::kTaint, Step::kCordon, Step::kDrain, Step::kTerminate, Step::kVerify));
  EXPECT_TRUE(steps_for(*policy, Severity::kIsolate)[3].before.approval);
  EXPECT_THAT(taken(*policy, Severity::kReboot),
              ElementsAre(Step::kTaint, Step::kCordon, Step::kDrain, Step::kReboot, Step::kVerify,
                          Step::kReturn));
  EXPECT_THAT(taken(*policy, Severity::kReset),
              ElementsAre(Step::kTaint, Step::kCordon, Step::kDrain, Step::kGpuReset, Step::kVerify,
                          Step::kReturn));
  EXPECT_EQ(steps_for(*policy, Severity::kReset)[2].drain.pods, DrainedPods::kGpu);
  EXPECT_THAT(taken(*policy, Severity::kMonitor), IsEmpty());
}

TEST(Policy, EndsNoMachineWithoutAnApprovalUnlessItSaysSo) {
  const auto steps = [](const std::string& before) {
    const auto policy =
        parse_policy("mode: full\nseverities:\n  isolate:\n    - cordon\n    - drain\n" + before +
                     "    - terminate: {volumes: {deadline: 5m, on_deadline: "
                     "proceed}}\n");
    EXPECT_TRUE(policy) << policy.error().message;
    return steps_for(*policy, Severity::kIsolate);
  };
  EXPECT_TRUE(steps("")[2].before.approval);
  EXPECT_TRUE(steps("    - wait: {delay: 1h}\n")[2].before.approval);
  EXPECT_EQ(steps("    - wait: {delay: 1h}\n")[2].before.delay, std::chrono::hours(1));
  EXPECT_FALSE(steps("    - wait: {approval: false}\n")[2].before.approval);
  EXPECT_EQ(steps("")[2].volumes.deadline, std::chrono::minutes(5));
  EXPECT_TRUE(steps("")[2].volumes.proceeds);
  EXPECT_FALSE(planned(Step::kTerminate).volumes.proceeds);
}

TEST(Policy, WaitsForAReplacementIfVerifyComesAfterTerminate) {
  const auto policy = parse_policy(
      "mode: full\n"
      "severities:\n"
      "  isolate: [cordon, drain, terminate, verify: {soak: 5m, timeout: 2h}]\n");

  ASSERT_TRUE(policy) << policy.error().message;
  const auto plan = steps_for(*policy, Severity::kIsolate);
  const PlannedStep* wait = replacement_wait(plan);
  ASSERT_NE(wait, nullptr);
  EXPECT_EQ(wait->soak, std::chrono::minutes(5));
  EXPECT_EQ(wait->timeout, std::chrono::hours(2));
  EXPECT_EQ(replacement_wait({planned(Step::kReboot), planned(Step::kVerify)}), nullptr);
  EXPECT_EQ(replacement_wait({planned(Step::kTerminate)}), nullptr);
}

TEST(Policy, ReadsTheStepsThatAreJobs) {
  const auto policy = parse_policy(
      "mode: full\n"
      "severities:\n"
      "  reset:\n"
      "    - cordon\n"
      "    - collect-evidence\n"
      "    - drain\n"
      "    - gpu-reset: {timeout: 3m, on_busy: escalate, not_on: [], command: [reset, --all]}\n"
      "    - quarantine-job: {timeout: 2h}\n"
      "jobs:\n"
      "  image: here/gpuward:1\n"
      "  namespace: tools\n"
      "  service_account: tester\n"
      "  templates: {quarantine-job: /etc/gpuward/job.json}\n");

  ASSERT_TRUE(policy) << policy.error().message;
  const auto plan = steps_for(*policy, Severity::kReset);
  ASSERT_THAT(plan, SizeIs(5));
  EXPECT_EQ(plan[1].step, Step::kCollectEvidence);
  EXPECT_EQ(plan[1].timeout, std::chrono::minutes(5));
  EXPECT_EQ(plan[3].timeout, std::chrono::minutes(3));
  EXPECT_TRUE(plan[3].job.escalates_when_busy);
  EXPECT_THAT(plan[3].job.not_on, IsEmpty());
  EXPECT_THAT(plan[3].job.command, ElementsAre("reset", "--all"));
  EXPECT_EQ(plan[4].timeout, std::chrono::hours(2));
  EXPECT_EQ(policy->jobs.image, "here/gpuward:1");
  EXPECT_EQ(policy->jobs.ns, "tools");
  EXPECT_EQ(policy->jobs.service_account, "tester");
  EXPECT_EQ(policy->jobs.template_files.at("quarantine-job"), "/etc/gpuward/job.json");
}

TEST(PolicyFile, NamesWhatAResetPauses) {
  const auto error = [](const std::string& yaml) {
    const auto read = parse_policy(yaml);
    return read ? std::string() : read.error().message;
  };
  const auto policy = parse_policy(
      "jobs: {pause_labels: [example.com/telemetry], pause_units: [nvidia-dcgm.service]}");
  ASSERT_TRUE(policy) << policy.error().message;
  EXPECT_THAT(policy->jobs.pause_labels, ElementsAre("example.com/telemetry"));
  EXPECT_THAT(policy->jobs.pause_units, ElementsAre("nvidia-dcgm.service"));
  EXPECT_THAT(error("jobs: {pause_labels: [telemetry]}"), HasSubstr("must be a label"));
  EXPECT_THAT(error("jobs: {pause_labels: [nvidia.com/gpu.deploy.driver]}"),
              HasSubstr("by itself"));
  for (const char* unit : {"-x.service", "a b.service", "nvidia-dcgm", "../a.service", "*.service"})
    EXPECT_THAT(error("jobs: {pause_units: ['" + std::string(unit) + "']}"),
                HasSubstr("must be the name of a unit"))
        << unit;
}

// This could only end with an operator on each node of the pool.
TEST(Policy, RefusesAPoolWhoseGpusItsResetCannotReset) {
  const std::string jobs = "jobs: {image: here/gpuward:1}\n";
  const std::string steps = "  - {name: p, labels: [LABEL], severities: {reset: [cordon, drain, ";
  const auto pool = [&](const std::string& label, const std::string& reset) {
    std::string text = "pools:\n" + steps + reset + "]}}\n";
    return text.replace(text.find("LABEL"), 5, label);
  };
  const auto error = [](const std::string& yaml) {
    const auto policy = parse_policy(yaml);
    return policy ? std::string("accepted") : policy.error().message;
  };
  const std::string amd = "\"feature.node.kubernetes.io/amd-gpu=true\"";
  const std::string nvidia = "nvidia.com/gpu.present=true";

  EXPECT_THAT(error(jobs + pool(amd, "{gpu-reset: {command: [nvidia-smi, -r]}}")),
              AllOf(HasSubstr("AMD GPUs"), HasSubstr("runs NVIDIA tools")));
  EXPECT_THAT(error(jobs + pool(nvidia, "{gpu-reset: {command: [amd-smi, reset, -G]}}")),
              AllOf(HasSubstr("NVIDIA GPUs"), HasSubstr("runs AMD tools")));
  EXPECT_THAT(error("jobs: {templates: {gpu-reset: /a.json}}\n" + pool(amd, "gpu-reset")),
              HasSubstr("jobs.templates.gpu-reset-amd"));
  EXPECT_THAT(error("jobs: {templates: {gpu-reset-amd: /a.json}}\n" + pool(nvidia, "gpu-reset")),
              HasSubstr("jobs.templates.gpu-reset"));
  EXPECT_THAT(error(jobs + pool("gpu.intel.com/product=max", "gpu-reset")),
              HasSubstr("neither NVIDIA nor AMD"));
  EXPECT_THAT(error(jobs +
                    "severities:\n  reset:\n    - cordon\n    - drain\n    - gpu-reset: "
                    "{command: [nvidia-smi, -r]}\npools:\n  - {name: p, labels: [" +
                    amd + "], mode: observe}\n"),
              HasSubstr("runs NVIDIA tools"))
      << "the plan that all nodes share is that of the pool too";
}

TEST(Policy, TakesAPoolWhoseGpusItsResetCanReset) {
  for (const char* pool : {"amd.com/gpu.family=AI", "nvidia.com/gpu.present=true", "pool=gpu"}) {
    EXPECT_TRUE(parse_policy("jobs: {image: here/gpuward:1}\npools:\n  - {name: p, labels: [" +
                             std::string(pool) +
                             "], severities: {reset: [cordon, drain, gpu-reset]}}\n"))
        << pool;
  }
  EXPECT_TRUE(
      parse_policy("jobs: {templates: {gpu-reset-amd: /a.json}}\npools:\n  - {name: p, labels: "
                   "[amd.com/gpu.family=AI], severities: {reset: [cordon, drain, gpu-reset]}}\n"));
}

TEST(Policy, HoldsABusyGpuAndTriesNoResetOnEc2ByDefault) {
  const PlannedStep reset = planned(Step::kGpuReset);

  EXPECT_FALSE(reset.job.escalates_when_busy);
  EXPECT_THAT(reset.job.not_on, ElementsAre("aws://"));
}

TEST(Policy, NeedsNoImageIfTheTemplatesAreTheOperators) {
  EXPECT_TRUE(
      parse_policy("severities:\n  reset: [cordon, collect-evidence]\n"
                   "jobs: {templates: {collect-evidence: /etc/gpuward/job.json}}\n"));
}

TEST(Policy, SaysWhereEvidenceGoes) {
  const auto policy = parse_policy(
      "severities:\n  reset: [cordon, collect-evidence]\n"
      "jobs:\n  image: gpuward:1\n"
      "  evidence: {upload: 's3://evidence/prod?region=eu-west-1', service_account: uploader}\n");
  ASSERT_TRUE(policy) << policy.error().message;
  EXPECT_EQ(policy->jobs.evidence.upload, "s3://evidence/prod?region=eu-west-1");
  EXPECT_EQ(policy->jobs.evidence.service_account, "uploader");
}

TEST(Policy, RefusesEvidenceThatCouldNeverArrive) {
  const std::string steps = "severities:\n  reset: [cordon, collect-evidence]\n";
  const std::vector<std::pair<std::string, const char*>> faults = {
      {steps + "jobs: {image: a, evidence: {upload: 'evidence/'}}\n", "must be s3://"},
      {steps + "jobs: {image: a, evidence: {upload: 's3://Bucket'}}\n", "a valid S3 bucket name"},
      {steps + "jobs: {image: a, evidence: {upload: 'https://u:very-secret@host/'}}\n",
       "put them in a token file"},
      {steps + "jobs: {image: a, evidence: {upload: 'https://host/?sig=very-secret'}}\n",
       "must not contain a query"},
      {steps + "jobs: {image: a, evidence: {upload: /mnt/evidence}}\n",
       "jobs.templates.collect-evidence is required"},
      {steps + "jobs: {image: a, evidence: {service_account: 'a b'}}\n", "ServiceAccount"},
      {"jobs: {image: a, evidence: {upload: 's3://evidence'}}\n", "no severity has the step"}};
  for (const auto& [text, why] : faults) {
    const auto policy = parse_policy(text);
    ASSERT_FALSE(policy) << text;
    EXPECT_THAT(policy.error().message, AllOf(HasSubstr(why), Not(HasSubstr("very-secret"))));
  }
}

// The mode also forbids the steps after a step that it forbids: gpuward does not return a node that
// was not restarted.
TEST(Policy, StopsAtTheFirstStepThatTheModeDoesNotAllow) {
  auto policy = parse_policy(
      "mode: cordon\n"
      "severities:\n  reboot: [taint, cordon, drain, reboot, verify, return-to-service]\n"
      "machines: {reboot: [/bin/power-cycle]}\n");

  ASSERT_TRUE(policy) << policy.error().message;
  EXPECT_THAT(taken(*policy, Severity::kReboot), ElementsAre(Step::kTaint, Step::kCordon));
}

TEST(Policy, KeepsItsHandsOffExcludedNodes) {
  Policy policy;
  policy.excluded.nodes = {"gpu-02"};
  policy.excluded.labels = {"team=research", "do-not-touch"};
  kube::Node named = node_with({});
  named.meta.name = "gpu-02";

  EXPECT_TRUE(exclusion_of(policy, named));
  EXPECT_TRUE(exclusion_of(policy, node_with({{"team", "research"}})));
  EXPECT_TRUE(exclusion_of(policy, node_with({{"do-not-touch", ""}})));
  EXPECT_TRUE(exclusion_of(policy, node_with({{"gpuward.dev/managed", "false"}})));
  EXPECT_TRUE(exclusion_of(policy, node_with({{"node-role.kubernetes.io/control-plane", ""}})));
  EXPECT_TRUE(exclusion_of(policy, node_with({{"node-role.kubernetes.io/master", ""}})));
  EXPECT_FALSE(exclusion_of(policy, node_with({{"team", "serving"}})));
  EXPECT_FALSE(exclusion_of(policy, node_with({{"gpuward.dev/managed", "true"}})));
}

TEST(Policy, ExcludesNamespacesFromEveryDrain) {
  const auto policy = parse_policy(
      "mode: full\n"
      "severities:\n  isolate: [cordon, drain]\n"
      "drain: {deadline: 1h}\n"
      "excluded: {namespaces: [billing]}\n"
      "pools:\n  - {name: a, labels: [a], drain: {deadline: 2h}}\n");

  ASSERT_TRUE(policy) << policy.error().message;
  for (const char* pool : {"", "a"}) {
    EXPECT_THAT(plan_of(*policy, pool, Severity::kIsolate)[1].drain.excluded_namespaces,
                ElementsAre("billing"));
  }
}

TEST(Policy, TakesControlPlaneNodesOnlyIfToldTo) {
  Policy policy;
  policy.excluded.control_plane = false;

  EXPECT_FALSE(exclusion_of(policy, node_with({{"node-role.kubernetes.io/control-plane", ""}})));
}

}  // namespace
}  // namespace gpuward::remediator
