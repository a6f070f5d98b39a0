// The decisions of pkg/registry/core/pod/storage/eviction.go.
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "tests/fakes/kube/deleting.h"
#include "tests/fakes/kube/selectors.h"

namespace gpuward::fakes {
namespace {

std::string phase_of(const Json& pod) { return string_at(member_at(pod, "status"), "phase"); }

bool needs_no_budget(const Json& pod) {
  const std::string phase = phase_of(pod);
  return phase == "Succeeded" || phase == "Failed" || phase == "Pending" ||
         metadata_of(pod).contains("deletionTimestamp");
}

bool is_ready(const Json& pod) {
  for (const Json& condition : member_at(member_at(pod, "status"), "conditions")) {
    if (string_at(condition, "type") == "Ready") return string_at(condition, "status") == "True";
  }
  return false;
}

std::vector<Object> budgets_of(const World& world, const std::string& ns, const Json& pod) {
  std::vector<Object> budgets;
  for (const Object& budget : world.store.list("policy/poddisruptionbudgets", ns).objects) {
    const Json& selector = member_at(member_at(*budget, "spec"), "selector");
    if (matches_label_selector(selector, member_at(metadata_of(pod), "labels"))) {
      budgets.push_back(budget);
    }
  }
  return budgets;
}

std::int64_t number_at(const Json& object, const char* key) {
  const Json& value = member_at(object, key);
  return value.is_number_integer() ? value.get<std::int64_t>() : 0;
}

std::unexpected<Failure> too_many(std::string message, std::string cause, int retry_after) {
  Json details = {{"causes", {{{"reason", "DisruptionBudget"}, {"message", std::move(cause)}}}}};
  if (retry_after > 0) details["retryAfterSeconds"] = retry_after;
  return std::unexpected(Failure{429, "TooManyRequests", std::move(message), std::move(details)});
}

bool may_go_unready(const Json& budget, const Json& pod) {
  if (is_ready(pod)) return false;
  if (string_at(member_at(budget, "spec"), "unhealthyPodEvictionPolicy") == "AlwaysAllow")
    return true;
  const Json& status = member_at(budget, "status");
  const std::int64_t desired = number_at(status, "desiredHealthy");
  return desired > 0 && number_at(status, "currentHealthy") >= desired;
}

Check take_from_budget(World& world, const Json& budget, const Json& pod, Persist persist) {
  if (may_go_unready(budget, pod)) return {};
  const Json& status = member_at(budget, "status");
  const std::string name = string_at(metadata_of(budget), "name");
  if (number_at(status, "observedGeneration") < number_at(metadata_of(budget), "generation")) {
    return too_many("Cannot evict pod as it would violate the pod's disruption budget.",
                    "The disruption budget " + name + " is still being processed by the server.",
                    10);
  }
  const std::int64_t allowed = number_at(status, "disruptionsAllowed");
  if (allowed < 0) {
    return std::unexpected(
        Failure{403,
                "Forbidden",
                "poddisruptionbudgets.policy \"" + name +
                    "\" is forbidden: pdb disruptions allowed is negative",
                {{"name", name}, {"group", "policy"}, {"kind", "poddisruptionbudgets"}}});
  }
  if (allowed == 0) {
    return too_many("Cannot evict pod as it would violate the pod's disruption budget.",
                    "The disruption budget " + name + " needs " +
                        std::to_string(number_at(status, "desiredHealthy")) +
                        " healthy pods and has " +
                        std::to_string(number_at(status, "currentHealthy")) + " currently",
                    0);
  }
  if (persist == Persist::kDryRun) return {};
  Json changed = budget;
  changed["status"]["disruptionsAllowed"] = allowed - 1;
  changed["status"]["disruptedPods"][string_at(metadata_of(pod), "name")] = world.now();
  const std::string ns = string_at(metadata_of(budget), "namespace");
  (void)world.store.put({"policy/poddisruptionbudgets", ns, name}, std::move(changed));
  return {};
}

Check check_budgets(World& world, const Target& target, const Json& pod, Persist persist) {
  if (needs_no_budget(pod)) return {};
  const std::vector<Object> budgets = budgets_of(world, target.ns, pod);
  if (budgets.empty()) return {};
  if (budgets.size() == 1) return take_from_budget(world, *budgets.front(), pod, persist);
  return std::unexpected(
      Failure{500, "",
              "This pod has more than one PodDisruptionBudget, which the eviction "
              "subresource does not support.",
              nullptr});
}

Json with_disruption_condition(const World& world, Json pod) {
  Json& conditions = pod["status"]["conditions"];
  if (!conditions.is_array()) conditions = Json::array();
  for (const Json& condition : conditions) {
    if (string_at(condition, "type") == "DisruptionTarget") return pod;
  }
  conditions.push_back({{"type", "DisruptionTarget"},
                        {"status", "True"},
                        {"reason", "EvictionByEvictionAPI"},
                        {"message", "Eviction API: evicting"},
                        {"lastProbeTime", nullptr},
                        {"lastTransitionTime", world.now()}});
  return pod;
}

}  // namespace

Outcome<Json> evict_pod(World& world, const Target& target, const Json& eviction, Persist persist) {
  const std::string name = string_at(metadata_of(eviction), "name");
  if (name != target.name) {
    return bad_request("name in URL does not match name in Eviction object");
  }
  const Json& options = member_at(eviction, "deleteOptions");
  if (!member_at(options, "dryRun").empty()) persist = Persist::kDryRun;
  const std::lock_guard lock(world.writing);
  Object pod = world.store.find(target.id());
  if (!pod) return not_found(target.resource->about(), target.name);
  // The real server asks the budgets first, and does not return the disruption if the precondition
  // fails.
  if (auto check = check_budgets(world, target, *pod, persist); !check) {
    return std::unexpected(check.error());
  }
  if (auto check = check_delete_preconditions(target, *pod, options); !check) {
    return std::unexpected(check.error());
  }
  if (persist == Persist::kYes) {
    pod = world.store.put(target.id(), with_disruption_condition(world, *pod));
  }
  (void)end_object(world, target, pod, options, persist);
  return Json{{"kind", "Status"},
              {"apiVersion", "v1"},
              {"metadata", Json::object()},
              {"status", "Success"},
              {"code", 201}};
}

}  // namespace gpuward::fakes
