#include "remediator/cli/commands/version_command.h"

#include "remediator/cli/commands/cluster_access.h"

namespace gpuward::remediator {
namespace {

// The chart and the plain YAML label their objects with the version.
constexpr const char* kObject = "gpuward-remediator";
constexpr const char* kVersionLabel = "app.kubernetes.io/version";

Result<std::string> version_in(const std::string& ns, kube::Api& api) {
  const auto config_map = api.get_config_map(ns, kObject);
  if (!config_map) return std::unexpected(config_map.error());
  const auto label = config_map->meta.labels.find(kVersionLabel);
  if (label == config_map->meta.labels.end()) {
    return fail(ErrorKind::kNotFound,
                "ConfigMap " + ns + "/" + kObject + " has no label " + kVersionLabel);
  }
  return label->second;
}

}  // namespace

Result<std::string> print_version(const CommandFlags& flags, Clock& clock) {
  std::string text = "gpuwardctl " GPUWARD_VERSION "\n";
  const bool is_named = !flags.kubeconfig.empty() || !flags.context.empty();
  const auto cluster = ClusterAccess::open(flags, clock);
  if (!cluster && !is_named && cluster.error().kind == ErrorKind::kInvalid) return text;
  const auto version = cluster ? version_in(flags.state_namespace, (*cluster)->api())
                               : std::unexpected(cluster.error());
  return text + kObject + " " + (version ? *version : "not known: " + version.error().message) +
         "\n";
}

}  // namespace gpuward::remediator
