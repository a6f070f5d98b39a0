// One node with a pod of every kind that a drain may meet, numbered as in a comparison with
// `kubectl drain --force --ignore-daemonsets --delete-emptydir-data` 1.34 on a real control plane.
// Comments beside the pods and docs/drain.md name each difference of kubectl.
#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include "tests/unit/remediator/act/drain/drain_cluster.h"

namespace gpuward::remediator {
namespace {

using std::chrono::minutes;
using std::chrono::seconds;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::UnorderedElementsAre;

Json owned_by(const char* api, const char* kind) {
  return {{"metadata",
           {{"ownerReferences", Json::array({{{"apiVersion", api},
                                              {"kind", kind},
                                              {"name", "owner"},
                                              {"uid", "owner-uid"},
                                              {"controller", true}}})}}}};
}

Json annotated(const char* key, const char* value) {
  return {{"metadata", {{"annotations", {{key, value}}}}}};
}

Json of_job() {
  Json job = owned_by("batch/v1", "Job");
  job["metadata"]["labels"]["job-name"] = "train";
  return job;
}

Json with_spec(const char* key, Json value) { return {{"spec", {{key, std::move(value)}}}}; }

Json with_gpu() {
  return with_spec("containers",
                   Json::array({{{"name", "main"},
                                 {"image", "registry.example/work:1"},
                                 {"resources", {{"limits", {{"nvidia.com/gpu", "1"}}}}}}}));
}

Json mirror() {
  Json pod = annotated("kubernetes.io/config.mirror", "hash");
  pod["metadata"]["ownerReferences"] = nullptr;
  return pod;
}

class KubectlDrain : public DrainCluster {
 protected:
  KubectlDrain() {
    order_.node = "gpu-01";
    order_.node_uid = add_node("gpu-01");
    order_.permit = permit_;
    order_.settings.evicts_unmanaged = true;  // --force
    for (const char* web : {"p01-web", "p02-web"}) add_pod(web);
    add_pod("p03-budget");
    add_budget("budget", "p03-budget", 0);
    add_pod("p04-two-budgets");
    add_budget("one", "p04-two-budgets", 1);
    add_budget("two", "p04-two-budgets", 1);
    for (const char* db : {"p05-db", "p06-db"})
      add_pod(db, "gpu-01", owned_by("apps/v1", "StatefulSet"));
    add_pod("p07-agent", "gpu-01", owned_by("apps/v1", "DaemonSet"));
    for (const char* rank : {"p08-job", "p09-job"}) add_pod(rank, "gpu-01", of_job());
    add_pod("p10-empty-dir", "gpu-01",
            with_spec("volumes", Json::array({{{"name", "shm"}, {"emptyDir", Json::object()}}})));
    add_pod("p11-slow", "gpu-01", with_spec("terminationGracePeriodSeconds", 12));
    add_pod("p12-critical", "gpu-01", with_spec("priorityClassName", "system-cluster-critical"));
    add_pod("p13-safe-to-evict", "gpu-01",
            annotated("cluster-autoscaler.kubernetes.io/safe-to-evict", "false"));
    add_pod("p14-gpu", "gpu-01", with_gpu());
    add_pod("p15-static", "gpu-01", mirror());
    for (const auto& [name, phase] :
         {std::pair{"p16-succeeded", "Succeeded"}, std::pair{"p17-failed", "Failed"}}) {
      add_pod(name);
      kube_.patch_status(path_of(name), {{"status", {{"phase", phase}}}});
    }
    add_pod("p18-bare", "gpu-01", {{"metadata", {{"ownerReferences", nullptr}}}});
    add_pod("p19-finalizer", "gpu-01",
            {{"metadata", {{"finalizers", Json::array({"example.com/hold"})}}}});
    const std::string ending = add_pod("p20-terminating");
    EXPECT_TRUE(api_.delete_pod({"default", "p20-terminating", ending, 15}));
    add_pod("p21-orphan", "gpu-01", owned_by("apps/v1", "DaemonSet"));  // there is no DaemonSet
    clock_.advance(std::chrono::seconds(1));
    order_.started_at = clock_.wall();
    kube_.clear_requests();
  }

  DrainProgress look() {
    order_.elapsed =
        std::chrono::floor<std::chrono::milliseconds>(clock_.wall() - order_.started_at);
    const auto progress = drainer_.advance(order_);
    EXPECT_TRUE(progress) << progress.error().message;
    return progress.value_or(DrainProgress{});
  }
  // The kubelet respects the grace period of p11 and p20, and ends the others at once.
  void end_pods() {
    const auto pods = *api_.list_pods_on("gpu-01");
    for (const kube::Pod& pod : pods) {
      const bool is_slow = pod.meta.name == "p11-slow" || pod.meta.name == "p20-terminating";
      const bool is_over = pod.meta.ends_at && *pod.meta.ends_at <= clock_.wall();
      if (pod.meta.deleting && (is_over || !is_slow)) kube_.remove(path_of(pod.meta.name));
    }
  }
  DrainProgress look_for(seconds time) {
    DrainProgress progress = look();
    for (seconds passed{0}; passed < time && progress.verdict == DrainState::kGoingOn;
         passed += seconds(1)) {
      end_pods();
      if (passed == seconds(8))
        kube_.patch(path_of("p19-finalizer"), {{"metadata", {{"finalizers", nullptr}}}});
      clock_.advance(seconds(1));
      progress = look();
    }
    return progress;
  }
  std::vector<std::string> names_there() {
    const auto pods = *api_.list_pods_on("gpu-01");
    std::vector<std::string> names;
    for (const kube::Pod& pod : pods) names.push_back(pod.meta.name);
    std::ranges::sort(names);
    return names;
  }
  // The names of the pods, in the order of their first eviction.
  std::vector<std::string> asked() {
    std::vector<std::string> names;
    for (const auto& request : kube_.requests("POST", kPodsPath)) {
      const std::string pod = request.path.substr(std::string(kPodsPath).size() + 1);
      const std::string name = pod.substr(0, pod.find('/'));
      if (std::ranges::find(names, name) == names.end()) names.push_back(name);
    }
    return names;
  }

  Evictor evictor_{api_, clock_, {}, Evictor::Sending::kInCalls};
  Drainer drainer_{api_, evictor_, clock_};
  DrainRequest order_;
};

TEST_F(KubectlDrain, LeavesThePodsThatKubectlLeavesAndTheIntendedOnes) {
  const DrainProgress progress = look_for(seconds(60));

  EXPECT_EQ(progress.verdict, DrainState::kGoingOn);
  EXPECT_THAT(names_there(),
              ElementsAre("p03-budget",         // kubectl: the same
                          "p04-two-budgets",    // kubectl: gives the pod up at once
                          "p07-agent",          // kubectl: the same
                          "p13-safe-to-evict",  // kubectl: evicted
                          "p15-static",         // kubectl: the same
                          "p21-orphan"));       // kubectl: evicted
  EXPECT_EQ(
      progress.summary,
      "3 pods left: "
      "1 with more than one disruption budget: default/p04-two-budgets; "
      "1 blocked by disruption budget budget: default/p03-budget; 1 allowed to finish (protected "
      "by cluster-autoscaler.kubernetes.io/safe-to-evict): default/p13-safe-to-evict");
}

TEST_F(KubectlDrain, AsksThePodsThatKubectlAsksButForTheIntendedOnes) {
  look_for(seconds(60));

  const std::vector<std::string> names = asked();
  EXPECT_THAT(names, UnorderedElementsAre("p01-web", "p02-web", "p03-budget", "p04-two-budgets",
                                          "p05-db", "p06-db", "p08-job", "p09-job", "p10-empty-dir",
                                          "p11-slow", "p12-critical", "p14-gpu", "p16-succeeded",
                                          "p17-failed", "p18-bare", "p19-finalizer"));
  // kubectl evicts all at once.
  EXPECT_THAT(std::vector(names.begin(), names.begin() + 3),
              UnorderedElementsAre("p08-job", "p09-job", "p14-gpu"));
  EXPECT_EQ(names.back(), "p12-critical");
}

TEST_F(KubectlDrain, WaitsForGracePeriodsAndFinalizers) {
  const DrainProgress early = look_for(seconds(7));
  EXPECT_THAT(early.summary, HasSubstr("1 terminating past their grace period: "
                                       "default/p19-finalizer; "
                                       "2 terminating: default/p11-slow, default/p20-terminating; "
                                       "1 to be evicted after the others: default/p12-critical"));
  EXPECT_TRUE(kube_.has(path_of("p12-critical")));
}

TEST_F(KubectlDrain, IsHeldAtItsDeadlineWithTheNamesOfThosePods) {
  order_.settings.deadline = minutes(2);
  const DrainProgress progress = look_for(minutes(3));

  EXPECT_EQ(progress.verdict, DrainState::kFailed);
  EXPECT_THAT(progress.left, UnorderedElementsAre("default/p03-budget", "default/p04-two-budgets",
                                                  "default/p13-safe-to-evict"));
  EXPECT_THAT(progress.summary, HasSubstr("not drained in time: 3 pods left: "));
}

// kubectl without --force does the same.
TEST_F(KubectlDrain, RefusesBeforeTheFirstEvictionIfABarePodMustStay) {
  order_.settings.evicts_unmanaged = false;
  const DrainProgress progress = look();

  EXPECT_EQ(progress.verdict, DrainState::kFailed);
  EXPECT_THAT(progress.left, ElementsAre("default/p18-bare"));
  EXPECT_THAT(asked(), IsEmpty());
}

}  // namespace
}  // namespace gpuward::remediator
