#include "tests/contract/contract_test.h"
#include "tests/support/wait.h"

namespace gpuward::contract {
namespace {

using kube::Pod;

class PodsContract : public ContractTest {
 protected:
  static constexpr const char* kPods = "/api/v1/namespaces/default/pods";

  // Runs on a node of this case and carries the label app=<name>.
  Pod running_pod(const std::string& name = own_name()) {
    must("POST", kPods, fakes::pod(name, own_name(), {{"app", name}}));
    must("PATCH", std::string(kPods) + "/" + name + "/status", fakes::running_status());
    auto pod = api().get_pod("default", name);
    EXPECT_TRUE(pod) << pod.error().message;
    return pod.value_or(Pod());
  }
  void make_budget(const std::string& name, int allowed) {
    const std::string path = "/apis/policy/v1/namespaces/default/poddisruptionbudgets";
    must("POST", path, fakes::budget(name, {{"app", own_name()}}));
    must("PATCH", path + "/" + name + "/status", fakes::budget_status(allowed));
  }
  static kube::Eviction eviction_of(const Pod& pod) {
    return {"default", pod.meta.name, pod.meta.uid, std::nullopt};
  }
};
GPUWARD_CONTRACT(PodsContract);

TEST_P(PodsContract, ListsThePodsOfOneNodeOnly) {
  running_pod(own_name("-a"));
  running_pod(own_name("-b"));
  must("POST", kPods, fakes::pod(own_name("-c"), "another-node"));
  const auto pods = api().list_pods_on(own_name());
  ASSERT_TRUE(pods) << pods.error().message;
  ASSERT_EQ(pods->size(), 2U);
  for (const Pod& pod : *pods) {
    EXPECT_EQ(pod.node_name, own_name());
    EXPECT_EQ(pod.phase, "Running");
    EXPECT_EQ(pod.meta.ns, "default");
  }
}

TEST_P(PodsContract, TheCacheKnowsWhatItHasShownBefore) {
  const Pod pod = running_pod(own_name("-a"));
  const auto is_there = [&](const std::string& not_older_than) {
    const auto list =
        api().list_pods_on(own_name(), {.is_cache = true, .not_older_than = not_older_than});
    return list && list->pods.size() == 1 ? list->resource_version : std::string();
  };
  std::string shown;
  ASSERT_TRUE(support::wait_until([&] { return !(shown = is_there({})).empty(); }, "the pod"));
  EXPECT_NE(is_there(shown), "");
}

TEST_P(PodsContract, AnEvictedPodTerminates) {
  const Pod pod = running_pod();
  const auto evicted = api().evict(eviction_of(pod));
  ASSERT_TRUE(evicted) << evicted.error().message;
  EXPECT_TRUE(api().get_pod("default", pod.meta.name)->meta.deleting);
  EXPECT_TRUE(api().evict(eviction_of(pod)));  // a repeat after a lost answer
}

TEST_P(PodsContract, ADryRunChangesNothing) {
  const Pod pod = running_pod();
  kube::Eviction eviction = eviction_of(pod);
  eviction.dry_run = true;
  ASSERT_TRUE(api().evict(eviction));
  EXPECT_FALSE(api().get_pod("default", pod.meta.name)->meta.deleting);
}

TEST_P(PodsContract, APodThatIsGoneIsNotFound) {
  EXPECT_EQ(api().evict({"default", "absent", "u", std::nullopt}).error().kind,
            ErrorKind::kNotFound);
  EXPECT_EQ(api().get_pod("default", "absent").error().kind, ErrorKind::kNotFound);
}

TEST_P(PodsContract, AnotherPodOfTheNameIsNotEvicted) {
  const Pod pod = running_pod();
  kube::Eviction eviction = eviction_of(pod);
  eviction.uid = "00000000-0000-4000-8000-000000000000";
  EXPECT_EQ(api().evict(eviction).error().kind, ErrorKind::kConflict);
  EXPECT_FALSE(api().get_pod("default", pod.meta.name)->meta.deleting);
}

TEST_P(PodsContract, ABudgetOfZeroBlocks) {
  const Pod pod = running_pod();
  make_budget(own_name(), 0);
  const auto evicted = api().evict(eviction_of(pod));
  ASSERT_FALSE(evicted);
  EXPECT_EQ(evicted.error().kind, ErrorKind::kBlocked) << evicted.error().message;
  EXPECT_FALSE(api().get_pod("default", pod.meta.name)->meta.deleting);
}

TEST_P(PodsContract, ABudgetThatBlocksIsNamed) {
  const Pod pod = running_pod();
  make_budget(own_name(), 0);
  EXPECT_THAT(api().evict(eviction_of(pod)).error().message,
              ::testing::HasSubstr("The disruption budget " + own_name() + " "));
}

TEST_P(PodsContract, TellsWhenTheGraceOfATerminatingPodIsOver) {
  Json body = fakes::pod(own_name(), own_name());
  body["spec"]["terminationGracePeriodSeconds"] = 600;
  must("POST", kPods, body);
  must("PATCH", std::string(kPods) + "/" + own_name() + "/status", fakes::running_status());
  const Pod before = *api().get_pod("default", own_name());
  EXPECT_EQ(before.grace_seconds, 600);
  EXPECT_FALSE(before.meta.ends_at);
  ASSERT_TRUE(api().evict(eviction_of(before)));
  const Pod after = *api().get_pod("default", own_name());
  ASSERT_TRUE(after.meta.ends_at && after.meta.created);
  EXPECT_GE(*after.meta.ends_at - *after.meta.created, std::chrono::seconds(600));
}

TEST_P(PodsContract, ReadsWhatMattersToADrain) {
  Json body = fakes::pod(own_name(), own_name());
  body["spec"]["volumes"] = Json::array({{{"name", "shm"}, {"emptyDir", {{"medium", "Memory"}}}}});
  must("POST", kPods, body);
  Json status = fakes::running_status();
  status["status"]["startTime"] = "2026-01-02T03:04:05Z";
  must("PATCH", std::string(kPods) + "/" + own_name() + "/status", status);
  const Pod pod = *api().get_pod("default", own_name());
  EXPECT_TRUE(pod.has_empty_dir);
  EXPECT_EQ(pod.grace_seconds, 30);
  EXPECT_EQ(pod.priority, 0);
  ASSERT_TRUE(pod.started);
  EXPECT_EQ(to_rfc3339(*pod.started), "2026-01-02T03:04:05Z");
  EXPECT_FALSE(running_pod(own_name("-plain")).has_empty_dir);
}

TEST_P(PodsContract, ABudgetOfOneAllows) {
  const Pod pod = running_pod();
  make_budget(own_name(), 1);
  const auto evicted = api().evict(eviction_of(pod));
  EXPECT_TRUE(evicted) << evicted.error().message;
}

TEST_P(PodsContract, TwoBudgetsAreARefusalForGood) {
  const Pod pod = running_pod();
  make_budget(own_name("-a"), 1);
  make_budget(own_name("-b"), 1);
  const auto evicted = api().evict(eviction_of(pod));
  ASSERT_FALSE(evicted);
  EXPECT_EQ(evicted.error().kind, ErrorKind::kRefused) << evicted.error().message;
}

TEST_P(PodsContract, IsDeletedUnderItsUidOnly) {
  const Pod pod = running_pod();
  kube::Eviction deletion = eviction_of(pod);
  deletion.uid = "00000000-0000-4000-8000-000000000000";
  EXPECT_EQ(api().delete_pod(deletion).error().kind, ErrorKind::kConflict);
  deletion = eviction_of(pod);
  deletion.grace_period_seconds = 0;
  ASSERT_TRUE(api().delete_pod(deletion));
  EXPECT_EQ(api().get_pod("default", pod.meta.name).error().kind, ErrorKind::kNotFound);
}

}  // namespace
}  // namespace gpuward::contract
