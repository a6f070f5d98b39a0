#include "tests/unit/fakes/differential_steps.h"

namespace gpuward::fakes {

std::vector<Case> eviction_cases() {
  const std::string pod =
      R"({"apiVersion":"v1","kind":"Pod","metadata":{"name":"p1","labels":{"app":"a"}},
      "spec":{"nodeName":"n1","containers":[{"name":"c","image":"i"}]}})";
  const std::string eviction =
      R"({"apiVersion":"policy/v1","kind":"Eviction","metadata":{"name":"p1","namespace":"default"})";
  const std::string budget =
      R"(,"namespace":"default"},"spec":{"minAvailable":1,"selector":{"matchLabels":{"app":"a"}}}})";
  const auto named = [&](const char* name) {
    return R"({"apiVersion":"policy/v1","kind":"PodDisruptionBudget","metadata":{"name":")" +
           std::string(name) + "\"" + budget;
  };
  const Step running =
      patch(kStrategic, kPods + "/p1/status",
            R"({"status":{"phase":"Running","conditions":[{"type":"Ready","status":"True"}]}})",
            Compare::kCode);
  const std::string wrong_uid =
      R"(,"deleteOptions":{"preconditions":{"uid":"11111111-2222-4333-a444-555555555555"}}})";
  return {
      {"budgets stand before eviction",
       {post(kPods, pod, Compare::kCode),
        running,
        post(kBudgets, named("b1"), Compare::kCode),
        post(kPods + "/p1/eviction", eviction + "}"),
        patch(
            kMerge, kBudgets + "/b1/status",
            R"({"status":{"disruptionsAllowed":0,"currentHealthy":1,"desiredHealthy":1,"expectedPods":1,"observedGeneration":1}})"),
        post(kPods + "/p1/eviction", eviction + "}"),
        post(kPods + "/p1/eviction", eviction + wrong_uid),
        post(kPods + "/other/eviction", eviction + "}"),
        post(kPods + "/p2/eviction",
             R"({"apiVersion":"policy/v1","kind":"Eviction","metadata":{"name":"p2"}})"),
        post(kBudgets, named("b2"), Compare::kCode),
        post(kPods + "/p1/eviction", eviction + "}"),
        remove(kBudgets + "/b2"),
        patch(kMerge, kBudgets + "/b1/status", R"({"status":{"disruptionsAllowed":1}})",
              Compare::kAll),
        post(kPods + "/p1/eviction?dryRun=All", eviction + "}"),
        post(
            kPods + "/p1/eviction",
            eviction +
                R"(,"deleteOptions":{"preconditions":{"uid":"${uid:p1}"},"gracePeriodSeconds":7}})"),
        get(kPods + "/p1", Compare::kCode),
        post(kPods + "/p1/eviction", eviction + "}"),
        remove(kPods + "/p1", R"({"gracePeriodSeconds":60})", Compare::kCode),
        get(kPods + "/p1", Compare::kCode),
        remove(kPods + "/p1", R"({"gracePeriodSeconds":0})", Compare::kCode),
        get(kPods + "/p1"),
        remove(kBudgets + "/b1")}}};
}

}  // namespace gpuward::fakes
