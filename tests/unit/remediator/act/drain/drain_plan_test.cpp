// The rules for which pods go, named after the failure modes that they prevent (rows 13 to 24).
#include "remediator/act/drain/drain_plan.h"

#include "tests/unit/remediator/act/drain/drain_pods.h"

namespace gpuward::remediator {
namespace {

using std::chrono::hours;
using std::chrono::minutes;
using std::chrono::seconds;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

PlannedPod plan_one(const kube::Pod& pod, const DrainSettings& settings = {},
                    const DrainScene& scene = scene_at(seconds(0))) {
  const DrainPlan plan = plan_drain({pod}, settings, scene);
  EXPECT_EQ(plan.pods.size(), 1U);
  return plan.pods.at(0);
}

DrainAct act_on(const kube::Pod& pod, const DrainSettings& settings = {},
                const DrainScene& scene = scene_at(seconds(0))) {
  return plan_one(pod, settings, scene).act;
}

TEST(DrainPlan, Row13LeavesMirrorAndDaemonSetPods) {
  EXPECT_EQ(act_on(replica("web")), DrainAct::kEvict);
  EXPECT_EQ(act_on(annotated(naked("static"), "kubernetes.io/config.mirror", "x")),
            DrainAct::kSkip);
  EXPECT_EQ(act_on(owned_by(replica("static"), "v1", "Node")), DrainAct::kSkip);
  EXPECT_EQ(act_on(owned_by(replica("agent"), "apps/v1", "DaemonSet")), DrainAct::kSkip);
}

TEST(DrainPlan, AnotherKindNamedDaemonSetIsEvicted) {
  EXPECT_EQ(act_on(owned_by(replica("x"), "apps.kruise.io/v1alpha1", "DaemonSet")),
            DrainAct::kEvict);
}

TEST(DrainPlan, Row13EvictsWhatHasEndedWhateverItIs) {
  DrainSettings strict;
  strict.evicts_empty_dir = false;
  for (const char* phase : {"Succeeded", "Failed"}) {
    kube::Pod pod = with_phase(naked("done"), phase);
    pod.has_empty_dir = true;
    EXPECT_EQ(act_on(pod, strict), DrainAct::kEvict);
    EXPECT_EQ(act_on(with_phase(owned_by(replica("agent"), "apps/v1", "DaemonSet"), phase)),
              DrainAct::kEvict);
  }
}

TEST(DrainPlan, Row14SendsItselfLast) {
  DrainScene scene = scene_at(seconds(0));
  scene.own_pod = "default/a-remediator";
  kube::Pod critical = replica("z-critical");
  critical.priority = 2'000'000'000;
  const DrainPlan plan = plan_drain({replica("a-remediator"), critical}, {}, scene);
  EXPECT_EQ(plan.pods.back().name, "a-remediator");
  EXPECT_EQ(plan.pods.back().wave, DrainWave::kSelf);
}

TEST(DrainPlan, Row15EvictsAnEmptyDirUnlessThePolicyRefuses) {
  kube::Pod pod = replica("shm");
  pod.has_empty_dir = true;
  DrainSettings strict;
  strict.evicts_empty_dir = false;
  EXPECT_EQ(act_on(pod), DrainAct::kEvict);
  EXPECT_EQ(act_on(pod, strict), DrainAct::kRefuse);
  EXPECT_EQ(act_on(replica("web"), strict), DrainAct::kEvict);
}

TEST(DrainPlan, Row16RefusesAnUnmanagedPodUnlessThePolicyEvicts) {
  DrainSettings lenient;
  lenient.evicts_unmanaged = true;
  EXPECT_EQ(act_on(naked("shell")), DrainAct::kRefuse);
  EXPECT_EQ(act_on(naked("shell"), lenient), DrainAct::kEvict);
  kube::Pod owned = replica("web");
  owned.owners[0].controller = false;
  EXPECT_EQ(act_on(owned), DrainAct::kRefuse);
}

TEST(DrainPlan, WaitsForWhatTerminatesAlready) {
  EXPECT_EQ(act_on(terminating(replica("web"), seconds(30))), DrainAct::kTerminating);
  // The pod terminates already, so the rules for unmanaged pods no longer matter.
  EXPECT_EQ(act_on(terminating(naked("shell"), seconds(30))), DrainAct::kTerminating);
  EXPECT_EQ(act_on(terminating(owned_by(replica("agent"), "apps/v1", "DaemonSet"), seconds(30))),
            DrainAct::kSkip);
}

TEST(DrainPlan, Row18ForgetsTerminatingPodsOnlyIfTheNodeIsSilentAndTheirGraceOver) {
  DrainSettings settings;
  settings.unreachable = UnreachablePods::kForget;
  const kube::Pod pod = terminating(replica("web"), seconds(30));
  DrainScene silent = scene_at(seconds(29));
  silent.node_is_unreachable = true;
  EXPECT_EQ(act_on(pod, settings, silent), DrainAct::kTerminating);
  silent = scene_at(seconds(30));
  silent.node_is_unreachable = true;
  EXPECT_EQ(act_on(pod, settings, silent), DrainAct::kSkip);
  EXPECT_EQ(act_on(pod, {}, silent), DrainAct::kTerminating);
  EXPECT_EQ(act_on(pod, settings, scene_at(seconds(30))), DrainAct::kTerminating);
}

TEST(DrainPlan, Row19EvictsACrashLoopingPodToo) {
  EXPECT_EQ(act_on(with_phase(gpu_replica("crash"), "Unknown")), DrainAct::kEvict);
  EXPECT_EQ(act_on(with_phase(gpu_replica("young"), "Pending")), DrainAct::kEvict);
}

TEST(DrainPlan, TakesOnlyPodsWithAGpuIfTheStepSaysSo) {
  DrainSettings gpu;
  gpu.pods = DrainedPods::kGpu;
  EXPECT_EQ(act_on(gpu_replica("train"), gpu), DrainAct::kEvict);
  EXPECT_EQ(act_on(replica("web"), gpu), DrainAct::kSkip);
  EXPECT_EQ(act_on(naked("shell"), gpu), DrainAct::kSkip);
  EXPECT_EQ(act_on(with_phase(gpu_replica("done"), "Succeeded"), gpu), DrainAct::kSkip);
  kube::Pod claims = replica("dra");
  claims.has_resource_claims = true;
  EXPECT_EQ(act_on(claims, gpu), DrainAct::kEvict);
  kube::Pod by_class = replica("without-a-request");
  by_class.runtime_class = "nvidia";
  EXPECT_EQ(act_on(by_class, gpu), DrainAct::kEvict);
  kube::Pod pretender = by_class;  // any pod may name an owner of a made-up kind
  pretender.owners = {{"example.com/v1", "DaemonSet", "agents", "d", true}};
  EXPECT_EQ(act_on(pretender, gpu), DrainAct::kEvict);
  by_class.runtime_class = "gvisor";
  EXPECT_EQ(act_on(by_class, gpu), DrainAct::kSkip);
  for (const char* resource : {"amd.com/gpu", "nvidia.com/mig-1g.10gb", "gpu.intel.com/i915"}) {
    kube::Pod pod = replica("other");
    pod.resources = {resource};
    EXPECT_EQ(act_on(pod, gpu), DrainAct::kEvict) << resource;
  }
}

TEST(DrainPlan, LeavesSkippedNamespacesAlone) {
  DrainSettings settings;
  settings.skipped_namespaces = {"gpu-*"};
  kube::Pod pod = naked("operator");
  pod.meta.ns = "gpu-operator";
  EXPECT_EQ(act_on(pod, settings), DrainAct::kSkip);
  EXPECT_EQ(act_on(naked("operator"), settings), DrainAct::kRefuse);
}

TEST(DrainPlan, ANamespaceMayFinishFirstAndIsEvictedAfterwards) {
  DrainSettings settings;
  settings.namespaces = {{"train-*", NamespaceMode::kWait, minutes(10)}};
  const kube::Pod pod = replica("worker", "train-a");
  EXPECT_EQ(act_on(pod, settings, scene_at(minutes(10) - seconds(1))), DrainAct::kWait);
  EXPECT_EQ(act_on(pod, settings, scene_at(minutes(10))), DrainAct::kEvict);
  EXPECT_EQ(act_on(replica("web"), settings), DrainAct::kEvict);
}

TEST(DrainPlan, ANamespaceMayFinishFirstAndIsDeletedAfterwards) {
  DrainSettings settings;
  settings.namespaces = {{"train-a", NamespaceMode::kEvict, {}},
                         {"train-*", NamespaceMode::kDelete, minutes(10)}};
  const kube::Pod pod = replica("worker", "train-b");
  EXPECT_EQ(act_on(pod, settings), DrainAct::kWait);
  EXPECT_EQ(act_on(pod, settings, scene_at(minutes(10))), DrainAct::kDelete);
  EXPECT_EQ(act_on(replica("worker", "train-a"), settings), DrainAct::kEvict);
}

TEST(DrainPlan, Row24HonoursDoNotDisruptAnnotations) {
  const auto spared = [](const std::string& key, const std::string& value) {
    const PlannedPod pod = plan_one(annotated(replica("p"), key, value));
    EXPECT_EQ(pod.is_protected, pod.act == DrainAct::kWait);
    return pod.is_protected;
  };
  EXPECT_TRUE(spared("karpenter.sh/do-not-disrupt", "true"));
  EXPECT_TRUE(spared("karpenter.sh/do-not-disrupt", "unreadable"));
  EXPECT_FALSE(spared("karpenter.sh/do-not-disrupt", "false"));
  EXPECT_TRUE(spared("cluster-autoscaler.kubernetes.io/safe-to-evict", "false"));
  EXPECT_TRUE(spared("cluster-autoscaler.kubernetes.io/safe-to-evict", "on-completion"));
  EXPECT_FALSE(spared("cluster-autoscaler.kubernetes.io/safe-to-evict", "true"));
  EXPECT_TRUE(spared("gpuward.dev/do-not-drain", "true"));
  EXPECT_FALSE(spared("gpuward.dev/do-not-drain", "false"));
  EXPECT_THAT(plan_one(annotated(replica("p"), "gpuward.dev/do-not-drain", "true")).reason,
              HasSubstr("gpuward.dev/do-not-drain"));
}

TEST(DrainPlan, Row24ADurationCountsFromThePodsStart) {
  kube::Pod pod = annotated(replica("p"), "karpenter.sh/do-not-disrupt", "4h");
  EXPECT_EQ(act_on(pod), DrainAct::kWait) << "no start: protected";
  pod.started = kDrainStart - hours(4) + seconds(1);
  EXPECT_EQ(act_on(pod), DrainAct::kWait);
  pod.started = kDrainStart - hours(4);
  EXPECT_EQ(act_on(pod), DrainAct::kEvict);
}

TEST(DrainPlan, Row23KnowsTheJobsThatRestartAsOne) {
  struct Case {
    const char *label, *name;
  };
  const Case cases[] = {
      {"jobset.sigs.k8s.io/jobset-name", "JobSet default/train"},
      {"training.kubeflow.org/job-name", "training job default/train"},
      {"volcano.sh/job-name", "Volcano job default/train"},
      {"leaderworkerset.sigs.k8s.io/name", "LeaderWorkerSet default/train"},
      {"ray.io/cluster", "RayCluster default/train"},
      {"batch.kubernetes.io/job-name", "Job default/train"},
      {"job-name", "Job default/train"},
  };
  for (const Case& row : cases)
    EXPECT_EQ(job_of(labelled(replica("p"), row.label, "train")), row.name);
  EXPECT_EQ(job_of(annotated(replica("p"), "scheduling.k8s.io/group-name", "train")),
            "pod group default/train");
  EXPECT_EQ(job_of(annotated(replica("p"), "scheduling.k8s.io/group-name", "x, Job other/train")),
            "")
      << "whoever may create pods names no jobs of others";
  EXPECT_EQ(job_of(replica("p")), "");
  kube::Pod own = labelled(replica("p"), "job-name", "gpuward-gpu-reset-a");
  EXPECT_EQ(job_of(labelled(own, "gpuward.dev/step", "gpu-reset")), "") << "a Job of gpuward's";
}

TEST(DrainPlan, Row23NamesTheOuterOwnerAndTheKindOfATrainingJob) {
  kube::Pod pod = labelled(replica("p"), "batch.kubernetes.io/job-name", "train-worker-0");
  EXPECT_EQ(job_of(labelled(pod, "jobset.sigs.k8s.io/jobset-name", "train")),
            "JobSet default/train");
  pod = labelled(replica("p"), "training.kubeflow.org/job-name", "t");
  EXPECT_EQ(job_of(labelled(pod, "training.kubeflow.org/operator-name", "pytorchjob-controller")),
            "PyTorchJob default/t");
  EXPECT_EQ(job_of(labelled(pod, "training.kubeflow.org/operator-name", "mpi-operator")),
            "MPIJob default/t");
  pod = labelled(replica("p"), "leaderworkerset.sigs.k8s.io/name", "l");
  EXPECT_EQ(job_of(labelled(pod, "leaderworkerset.sigs.k8s.io/group-index", "2")),
            "LeaderWorkerSet default/l-2");
}

TEST(DrainPlan, Row23CountsEachJobOnceAndKeepsItsPodsTogether) {
  const auto member = [](const std::string& name, const std::string& job) {
    return labelled(gpu_replica(name), "jobset.sigs.k8s.io/jobset-name", job);
  };
  const DrainPlan plan =
      plan_drain({member("a", "one"), member("b", "two"), member("c", "one"), replica("web")}, {},
                 scene_at(seconds(0)));
  ASSERT_EQ(plan.jobs.size(), 2U);
  EXPECT_EQ(plan.jobs[0].name, "JobSet default/one");
  EXPECT_EQ(plan.jobs[0].pods, 2U);
  EXPECT_EQ(plan.jobs[1].pods, 1U);
  std::vector<std::string> order;
  for (const PlannedPod& pod : plan.pods) order.push_back(pod.name);
  EXPECT_THAT(order, ElementsAre("a", "c", "b", "web"));
}

TEST(DrainPlan, Row23APodThatStaysIsNoLossOfItsJob) {
  DrainSettings gpu;
  gpu.pods = DrainedPods::kGpu;
  const DrainPlan plan = plan_drain({labelled(gpu_replica("worker"), "job-name", "train"),
                                     labelled(replica("launcher"), "job-name", "train"),
                                     labelled(replica("other"), "job-name", "elsewhere")},
                                    gpu, scene_at(seconds(0)));
  ASSERT_EQ(plan.jobs.size(), 1U);
  EXPECT_EQ(plan.jobs[0].pods, 1U);
}

TEST(DrainPlan, Row23AJobWaitsForItsPodThatMayNotGo) {
  const auto member = [](kube::Pod pod) {
    return labelled(std::move(pod), "jobset.sigs.k8s.io/jobset-name", "train");
  };
  const DrainPlan plan = plan_drain(
      {member(annotated(gpu_replica("a"), "gpuward.dev/do-not-drain", "true")),
       member(gpu_replica("b")), member(terminating(gpu_replica("c"), seconds(5))), replica("web")},
      {}, scene_at(seconds(0)));
  EXPECT_EQ(planned(plan, "b").act, DrainAct::kWait);
  EXPECT_TRUE(planned(plan, "b").is_protected);
  EXPECT_EQ(planned(plan, "c").act, DrainAct::kTerminating);
  EXPECT_EQ(planned(plan, "web").act, DrainAct::kEvict);
  EXPECT_FALSE(planned(plan, "web").is_protected);
}

TEST(DrainPlan, GoesByWavesFromTheWorkloadToWhatTheNodeStandsOn) {
  kube::Pod critical = replica("dns");
  critical.priority_class = "system-cluster-critical";
  EXPECT_EQ(wave_of(gpu_replica("train")), DrainWave::kWorkload);
  EXPECT_EQ(wave_of(labelled(replica("launcher"), "job-name", "x")), DrainWave::kWorkload);
  EXPECT_EQ(wave_of(replica("web")), DrainWave::kRest);
  EXPECT_EQ(wave_of(critical), DrainWave::kCritical);
}

TEST(DrainPlan, RefusesRunningPodsOfExcludedNamespaces) {
  DrainSettings settings;
  settings.excluded_namespaces = {"billing-*"};
  const auto plan =
      plan_drain({replica("free"), replica("paid", "billing-eu"),
                  with_phase(replica("over", "billing-eu"), "Succeeded"),
                  owned_by(replica("agent", "billing-eu"), "apps/v1", "DaemonSet"),
                  terminating(replica("going", "billing-eu"), std::chrono::seconds(5))},
                 settings, scene_at(settings.deadline + std::chrono::hours(1)));

  EXPECT_EQ(planned(plan, "free").act, DrainAct::kEvict);
  EXPECT_EQ(planned(plan, "paid").act, DrainAct::kRefuse);
  EXPECT_EQ(planned(plan, "paid").reason, "its namespace is excluded");
  EXPECT_EQ(planned(plan, "over").act, DrainAct::kSkip);
  EXPECT_EQ(planned(plan, "agent").act, DrainAct::kSkip);
  EXPECT_EQ(planned(plan, "going").act, DrainAct::kTerminating);
}

// ---- Pods that were made after the drain began

kube::WallTime began() { return scene_at(seconds(0)).now - minutes(1); }

DrainScene under_way() {
  DrainScene scene = scene_at(seconds(60));
  scene.began = began();
  scene.taints = {{"gpuward.dev/unhealthy", "reboot", "NoSchedule", {}},
                  {"node.kubernetes.io/unschedulable", "", "NoSchedule", {}}};
  return scene;
}

kube::Pod newcomer(kube::Pod pod) {
  pod.meta.created = began() + seconds(10);
  return pod;
}

kube::Pod tolerating(kube::Pod pod) {
  pod.tolerations = {{"", "Exists", "", ""}};
  return pod;
}

TEST(DrainPlan, LeavesNewcomersThatTolerateTheTaints) {
  EXPECT_EQ(act_on(newcomer(tolerating(replica("agent"))), {}, under_way()), DrainAct::kSkip);
  EXPECT_EQ(act_on(newcomer(replica("by-name")), {}, under_way()), DrainAct::kEvict);
  kube::Pod before = tolerating(replica("agent"));
  before.meta.created = began() - seconds(1);
  EXPECT_EQ(act_on(before, {}, under_way()), DrainAct::kEvict);
}

// creationTimestamp has whole seconds.
TEST(DrainPlan, TakesAPodThatWasMadeInTheSecondInWhichItBeganForANewcomer) {
  kube::Pod pod = tolerating(replica("agent"));
  pod.meta.created = began();
  DrainScene scene = under_way();
  scene.began = began() + std::chrono::milliseconds(700);
  EXPECT_EQ(act_on(pod, {}, scene), DrainAct::kSkip);

  kube::Pod bare = replica("bare");
  bare.meta.created = began();
  bare.owners.clear();
  EXPECT_EQ(act_on(bare, {}, scene), DrainAct::kRefuse) << "it may have been there before";
}

TEST(DrainPlan, LeavesNoNewcomerThatUsesAGpuOrAsksToBeSpared) {
  kube::Pod gpu = newcomer(tolerating(replica("train")));
  gpu.resources = {"nvidia.com/gpu"};
  EXPECT_EQ(act_on(gpu, {}, under_way()), DrainAct::kEvict);
  EXPECT_EQ(
      act_on(annotated(newcomer(tolerating(replica("kept"))), "gpuward.dev/do-not-drain", "true"),
             {}, under_way()),
      DrainAct::kWait);
}

TEST(DrainPlan, EvictsOfAnOwnerAFewNewcomersOnly) {
  kube::Pod gpu = newcomer(tolerating(replica("train")));
  gpu.resources = {"nvidia.com/gpu"};
  DrainScene scene = under_way();
  EvictedAgain again{{owner_of(gpu), kMostEvictedAgain - 1}};
  scene.again = &again;
  EXPECT_EQ(act_on(gpu, {}, scene), DrainAct::kEvict);
  again.begin()->second = kMostEvictedAgain;
  EXPECT_EQ(act_on(gpu, {}, scene), DrainAct::kKeep);
  again.clear();
  for (std::size_t i = 0; i < kMostOwnersCounted; ++i) again["owner-" + std::to_string(i)] = 1;
  EXPECT_EQ(act_on(gpu, {}, scene), DrainAct::kKeep) << "it cannot be counted";
}

TEST(DrainPlan, EvictsOfAnOwnerAFewNewcomersOnlyThatCameAtOnce) {
  std::vector<kube::Pod> pods;
  for (int i = 0; i < 8; ++i) {
    pods.push_back(newcomer(tolerating(replica("train-" + std::to_string(i)))));
    pods.back().resources = {"nvidia.com/gpu"};
    pods.back().owners = pods.front().owners;
  }
  DrainScene scene = under_way();
  const EvictedAgain again;
  scene.again = &again;
  const auto evicted = [&] {
    return std::ranges::count(plan_drain(pods, {}, scene).pods, DrainAct::kEvict, &PlannedPod::act);
  };
  EXPECT_EQ(evicted(), kMostEvictedAgain);

  const EvictedAgain counted{{owner_of(pods.front()), kMostEvictedAgain}};
  const std::map<std::string, std::string> sent{
      {pods[0].meta.uid, ""}, {pods[1].meta.uid, ""}, {pods[2].meta.uid, ""}};
  scene.again = &counted;
  scene.counted = &sent;
  EXPECT_EQ(evicted(), kMostEvictedAgain) << "the removals of these were sent before";
}

TEST(DrainPlan, EvictsAllNewcomersOfAJobOrNone) {
  std::vector<kube::Pod> pods;
  for (int i = 0; i < 8; ++i) {
    pods.push_back(newcomer(tolerating(replica("rank-" + std::to_string(i)))));
    pods.back().resources = {"nvidia.com/gpu"};
    pods.back().owners = pods.front().owners;
    pods.back().meta.labels["batch.kubernetes.io/job-name"] = "train";
  }
  ASSERT_FALSE(job_of(pods.front()).empty());
  DrainScene scene = under_way();
  EvictedAgain again;
  scene.again = &again;
  const auto evicted = [&] {
    return std::ranges::count(plan_drain(pods, {}, scene).pods, DrainAct::kEvict, &PlannedPod::act);
  };
  EXPECT_EQ(evicted(), 8);
  again[owner_of(pods.front())] = 1;
  EXPECT_EQ(evicted(), 0) << "it came again";
  const std::map<std::string, std::string> sent{{pods[0].meta.uid, ""}};
  scene.counted = &sent;
  EXPECT_EQ(evicted(), 1) << "the removal of one was sent before";
  pods.resize(3);
  EXPECT_EQ(evicted(), 3);
}

TEST(DrainPlan, CountsTheOwnersOfEachNamespaceAlone) {
  kube::Pod pod = replica("train");
  kube::Pod other = pod;
  other.meta.ns = "other";
  EXPECT_NE(owner_of(pod), owner_of(other)) << "their owners have one UID";
  other = pod;
  other.owners.front().uid = std::string(100'000, 'u');
  EXPECT_EQ(owner_of(other).size(), 10U);
}

// Its arrival does not keep the drain from evicting the others.
TEST(DrainPlan, NeverEvictsANewcomerThatMayNotBeEvicted) {
  const PlannedPod debug = plan_one(newcomer(naked("node-debugger")), {}, under_way());
  EXPECT_EQ(debug.act, DrainAct::kKeep);
  EXPECT_THAT(debug.reason, HasSubstr("no controller would recreate it"));
  EXPECT_TRUE(debug.is_left());
}

TEST(Tolerations, AreReadAsTheSchedulerReadsThem) {
  const std::vector<kube::Taint> taints = {{"a", "1", "NoSchedule", {}},
                                           {"b", "", "PreferNoSchedule", {}}};
  const auto may_come = [&](kube::Toleration toleration) {
    kube::Pod pod = replica("web");
    pod.tolerations = {std::move(toleration)};
    return tolerates(pod, taints);
  };
  EXPECT_TRUE(may_come({"", "Exists", "", ""}));
  EXPECT_TRUE(may_come({"a", "Exists", "", ""}));
  EXPECT_TRUE(may_come({"a", "Equal", "1", "NoSchedule"}));
  EXPECT_TRUE(may_come({"a", "", "1", ""}));
  EXPECT_FALSE(may_come({"a", "Equal", "2", ""}));
  EXPECT_FALSE(may_come({"a", "Exists", "", "NoExecute"}));
  EXPECT_FALSE(may_come({"b", "Exists", "", ""}));
  EXPECT_FALSE(may_come({"", "Equal", "", ""})) << "the API server refuses such a one";
}

}  // namespace
}  // namespace gpuward::remediator
