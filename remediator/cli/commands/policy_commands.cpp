#include "remediator/cli/commands/policy_commands.h"

#include <chrono>
#include <memory>
#include <utility>

#include "core/kube/names.h"
#include "core/runtime/yaml_schema.h"
#include "remediator/cli/commands/cluster_access.h"
#include "remediator/cli/commands/given_policy.h"
#include "remediator/policy/policy_remarks.h"
#include "remediator/policy/policy_text.h"

namespace gpuward::remediator {
namespace {

std::string name_text(const kube::Node& node) {
  if (!node.meta.name.empty()) return "node " + node.meta.name;
  if (node.meta.labels.empty()) return "a node without labels";
  std::string text;
  for (const auto& [key, value] : node.meta.labels) {
    text += (text.empty() ? "" : ", ") + key + "=" + value;
  }
  return "a node labelled " + text;
}

// Returns nothing if the policy has a key.
std::string emptiness_text(const GivenPolicy& given) {
  if (!given.is_empty) return {};
  return std::string("note: the policy is empty, so every key has its default: ") +
         (given.policy.mode == Mode::kObserve ? "alerts are recorded, and no node is touched"
                                              : "each severity has its default steps") +
         ". `gpuwardctl policy explain` shows them\n";
}

// The preset is not in the given policy, because the chart adds it.
std::string values_text(const GivenPolicy& given) {
  if (!given.is_of_values) return {};
  return "note: remediator.preset of the values is not read; it can set mode, excluded and "
         "return_to_service. To check "
         "the policy that runs: kubectl get configmap -n gpuward gpuward-remediator -o yaml | "
         "gpuwardctl policy check -\n";
}

// Returns the node for which the policy is explained: from the cluster if the flags name one.
Result<kube::Node> subject_of(const CommandFlags& flags, Clock& clock) {
  if (flags.node.empty()) {
    kube::Node node;
    node.meta.labels = flags.labels;
    return node;
  }
  if (auto valid = kube::validate_node_name(flags.node); !valid) {
    return std::unexpected(valid.error());
  }
  const auto cluster = ClusterAccess::open(flags, clock);
  if (!cluster) return std::unexpected(cluster.error());
  auto node = (*cluster)->api().get_node(flags.node);
  if (!node) return with_context("reading node " + flags.node, node.error());
  return node;
}

}  // namespace

std::string explain_policy(const std::string& name, const CommandFlags& flags, const Policy& policy,
                           const kube::Node& node) {
  std::string text = name + " in mode " + std::string(to_string(policy.mode)) + ", for " +
                     name_text(node) + (policy.pool.empty() ? "" : ", pool " + policy.pool) + "\n";
  text += remarks_text(policy);
  if (const auto why = exclusion_of(policy, node)) {
    return text + "excluded: " + *why + "; alerts are only recorded\n";
  }
  return text + rules_text(policy, flags.severity);
}

Result<std::string> check_policy(const CommandFlags& flags, Clock& /*clock*/) {
  const auto given = read_given_policy(flags);
  if (!given) return std::unexpected(given.error());
  return given->name + ": OK. Mode: " + std::string(to_string(given->policy.mode)) + "\n" +
         values_text(*given) + emptiness_text(*given) + remarks_text(given->policy);
}

Result<std::string> explain_policy_file(const CommandFlags& flags, Clock& clock) {
  auto given = read_given_policy(flags);
  if (!given) return std::unexpected(given.error());
  const auto node = subject_of(flags, clock);
  if (!node) return std::unexpected(node.error());
  const auto all = std::make_shared<const Policy>(std::move(given->policy));
  return values_text(*given) +
         explain_policy(given->name, flags, *policy_for(all, node->meta.labels), *node);
}

Result<std::string> print_policy_schema(const CommandFlags& /*flags*/, Clock& /*clock*/) {
  return json_schema(policy_keys(), "The policy of gpuward-remediator");
}

}  // namespace gpuward::remediator
