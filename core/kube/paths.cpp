#include "core/kube/paths.h"

#include <initializer_list>

#include "core/kube/names.h"

namespace gpuward::kube {
namespace {

Result<std::string> join(std::initializer_list<std::string_view> segments) {
  std::string path;
  for (const std::string_view segment : segments) {
    if (auto valid = validate_segment(segment); !valid) return std::unexpected(valid.error());
    path += "/" + percent_encode(segment);
  }
  return path;
}

}  // namespace

Result<std::string> below(const Result<std::string>& path, std::string_view name) {
  if (!path) return path;
  const auto segment = join({name});
  if (!segment) return segment;
  return *path + *segment;
}

Result<std::string> node_path(std::string_view name) {
  if (auto valid = validate_node_name(name); !valid) return std::unexpected(valid.error());
  return join({"api", "v1", "nodes", name});
}

Result<std::string> pod_path(std::string_view ns, std::string_view name) {
  return join({"api", "v1", "namespaces", ns, "pods", name});
}

Result<std::string> pod_collection(std::string_view ns) {
  return join({"api", "v1", "namespaces", ns, "pods"});
}

Result<std::string> job_collection(std::string_view ns) {
  return join({"apis", "batch", "v1", "namespaces", ns, "jobs"});
}

Result<std::string> job_path(std::string_view ns, std::string_view name) {
  return below(job_collection(ns), name);
}

Result<std::string> config_map_collection(std::string_view ns) {
  return join({"api", "v1", "namespaces", ns, "configmaps"});
}

Result<std::string> config_map_path(std::string_view ns, std::string_view name) {
  return below(config_map_collection(ns), name);
}

Result<std::string> lease_collection(std::string_view ns) {
  return join({"apis", "coordination.k8s.io", "v1", "namespaces", ns, "leases"});
}

Result<std::string> lease_path(std::string_view ns, std::string_view name) {
  return below(lease_collection(ns), name);
}

Result<std::string> custom_collection(const ResourceType& type) {
  if (type.ns.empty()) return join({"apis", type.group, type.version, type.plural});
  return join({"apis", type.group, type.version, "namespaces", type.ns, type.plural});
}

Result<std::string> custom_path(const ResourceType& type, std::string_view name) {
  return below(custom_collection(type), name);
}

}  // namespace gpuward::kube
