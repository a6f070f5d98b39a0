#include "remediator/policy/drain_settings.h"

namespace gpuward::remediator {
namespace {

using std::chrono::days;
using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr YamlWord<DrainedPods> kPods[] = {{"all", DrainedPods::kAll}, {"gpu", DrainedPods::kGpu}};
constexpr YamlWord<OnDeadline> kOnDeadline[] = {{"hold", OnDeadline::kHold},
                                                {"delete", OnDeadline::kDelete},
                                                {"proceed", OnDeadline::kProceed}};
constexpr YamlWord<bool> kEvictOrRefuse[] = {{"evict", true}, {"refuse", false}};
constexpr YamlWord<NamespaceMode> kModes[] = {{"evict", NamespaceMode::kEvict},
                                              {"wait", NamespaceMode::kWait},
                                              {"delete", NamespaceMode::kDelete}};
constexpr YamlWord<UnreachablePods> kUnreachable[] = {{"wait", UnreachablePods::kWait},
                                                      {"forget", UnreachablePods::kForget}};

NamespaceRule read_rule(const YamlMap& map, milliseconds deadline) {
  NamespaceRule rule;
  map.require("name", rule.name, "namespace that the rule applies to; may contain `*` and `?`");
  map.read_word("mode", rule.mode, kModes,
                "evict pods immediately, or wait for them to finish and then evict or delete them");
  map.read("up_to", rule.up_to, seconds(1), days(30),
           "how long to wait, from the start of the drain; shorter than its deadline; required "
           "with `wait` and `delete`");
  if (rule.mode != NamespaceMode::kEvict && !map.has("up_to"))
    map.reject("up_to",
               "is required in this mode: it limits how long such pods may take to finish");
  if (rule.mode != NamespaceMode::kEvict && rule.up_to >= deadline)
    map.reject("up_to", "must be shorter than the drain's deadline");
  return rule;
}

void read_grace(const YamlMap& map, std::optional<seconds>& grace) {
  milliseconds read = grace.value_or(seconds(0));
  map.read("grace_period", read, seconds(1), days(1),
           "maximum grace period of a pod; default: the pod's own");
  if (read > seconds(0)) grace = std::chrono::ceil<seconds>(read);
}

}  // namespace

DrainSettings read_drain_settings(const YamlMap& drain, DrainSettings settings) {
  drain.read_word("pods", settings.pods, kPods,
                  "evict all pods, or only those that use a GPU; the built-in steps before a "
                  "reset use `gpu`");
  drain.read("deadline", settings.deadline, seconds(1), days(30), "time limit of the whole drain");
  drain.read_word("on_deadline", settings.on_deadline, kOnDeadline,
                  "at the deadline: hold the node for an operator; delete the pods in spite of "
                  "their disruption budgets; or continue with the next step");
  read_grace(drain, settings.grace_period);
  drain.read_word("empty_dir", settings.evicts_empty_dir, kEvictOrRefuse,
                  "how pods with an emptyDir are treated; an eviction deletes its contents");
  drain.read_word("unmanaged", settings.evicts_unmanaged, kEvictOrRefuse,
                  "how pods that no controller would recreate are treated");
  if (drain.has("namespaces")) settings.namespaces.clear();
  for (const YamlMap& rule : drain.maps(
           "namespaces",
           "rules for namespaces; the first match applies, and other pods are evicted at once"))
    settings.namespaces.push_back(read_rule(rule, settings.deadline));
  if (drain.has("skipped_namespaces")) settings.skipped_namespaces.clear();
  drain.read("skipped_namespaces", settings.skipped_namespaces,
             "namespaces whose pods stay on the node");
  drain.read("override_do_not_disrupt", settings.overrides_do_not_disrupt,
             "at the deadline, treat pods that must not be disrupted like any other pods");
  drain.read_word("unreachable", settings.unreachable, kUnreachable,
                  "how long to wait for pods on a node whose kubelet does not answer: until the "
                  "deadline, or only for their grace period");
  return settings;
}

EvictionRate read_eviction_rate(const YamlMap& evictions) {
  EvictionRate rate;
  evictions.read("per_second", rate.per_second, 0.1, 10'000,
                 "evictions per second, over all drains");
  evictions.read("burst", rate.burst, 1, 10'000,
                 "maximum number of evictions at once after a pause");
  evictions.read("most_in_flight", rate.most_in_flight, 1, 1'000,
                 "maximum number of concurrent eviction requests");
  return rate;
}

}  // namespace gpuward::remediator
