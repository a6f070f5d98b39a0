#include "tests/fakes/kube_objects.h"

#include <algorithm>

namespace gpuward::fakes {

Json ready_node(const std::string& name) {
  const std::string stamp = "2026-01-01T00:00:00Z";
  Json node = {{"apiVersion", "v1"}, {"kind", "Node"}, {"metadata", {{"name", name}}}};
  node["metadata"]["labels"] = {{"kubernetes.io/hostname", name},
                                {"nvidia.com/gpu.present", "true"}};
  node["spec"]["providerID"] = "aws:///eu-west-1a/i-" + name;
  node["status"]["nodeInfo"] = {{"bootID", "boot-" + name},
                                {"machineID", ""},
                                {"systemUUID", ""},
                                {"kernelVersion", "6.1.0"},
                                {"osImage", "Debian GNU/Linux 12"},
                                {"containerRuntimeVersion", "containerd://1.7"},
                                {"kubeletVersion", "v1.37.2"},
                                {"kubeProxyVersion", ""},
                                {"operatingSystem", "linux"},
                                {"architecture", "amd64"}};
  node["status"]["conditions"] = Json::array({{{"type", "Ready"},
                                               {"status", "True"},
                                               {"reason", "KubeletReady"},
                                               {"message", "kubelet is posting ready status"},
                                               {"lastHeartbeatTime", stamp},
                                               {"lastTransitionTime", stamp}}});
  return node;
}

Json pod(const std::string& name, const std::string& node,
         const std::map<std::string, std::string>& labels) {
  Json object = {{"apiVersion", "v1"}, {"kind", "Pod"}, {"metadata", {{"name", name}}}};
  if (!labels.empty()) object["metadata"]["labels"] = labels;
  object["spec"]["containers"] =
      Json::array({{{"name", "main"}, {"image", "registry.example/work:1"}}});
  if (!node.empty()) object["spec"]["nodeName"] = node;
  return object;
}

Json running_status() {
  Json status;
  status["status"] = {{"phase", "Running"},
                      {"conditions", Json::array({{{"type", "Ready"}, {"status", "True"}}})}};
  return status;
}

Json owned_by_job(const Json& job) {
  return Json::array({{{"apiVersion", "batch/v1"},
                       {"kind", "Job"},
                       {"name", string_at(job["metadata"], "name")},
                       {"uid", string_at(job["metadata"], "uid")},
                       {"controller", true}}});
}

Json ended_pod_status(const std::string& container, int exit_code, const std::string& words,
                      const std::string& reason) {
  const Json end = {{"exitCode", exit_code}, {"reason", reason}, {"message", words}};
  const Json ended = {{"name", container}, {"image", "i"},      {"imageID", ""},
                      {"ready", false},    {"restartCount", 0}, {"state", {{"terminated", end}}}};
  return {{"status",
           {{"phase", exit_code == 0 ? "Succeeded" : "Failed"},
            {"containerStatuses", Json::array({ended})}}}};
}

Json ended_job_status(const std::string& condition, const std::string& reason) {
  const Json ended = {{"type", condition}, {"status", "True"}, {"reason", reason}};
  return {{"status", {{"conditions", Json::array({ended})}}}};
}

Json budget(const std::string& name, const std::map<std::string, std::string>& labels) {
  Json object = {
      {"apiVersion", "policy/v1"}, {"kind", "PodDisruptionBudget"}, {"metadata", {{"name", name}}}};
  object["spec"] = {{"minAvailable", 1}, {"selector", {{"matchLabels", labels}}}};
  return object;
}

Json budget_status(int disruptions_allowed, int healthy, int desired) {
  return {{"status",
           {{"disruptionsAllowed", disruptions_allowed},
            {"currentHealthy", healthy},
            {"desiredHealthy", desired},
            {"expectedPods", healthy},
            {"observedGeneration", 1}}}};
}

std::string label_of(const Json& object, std::string_view key) {
  return string_at(member_at(member_at(object, "metadata"), "labels"), key);
}

std::string annotation_of(const Json& object, std::string_view key) {
  return string_at(member_at(member_at(object, "metadata"), "annotations"), key);
}

bool has_taint(const Json& node, std::string_view key) {
  const Json& taints = member_at(member_at(node, "spec"), "taints");
  return std::ranges::any_of(taints,
                             [&](const Json& taint) { return string_at(taint, "key") == key; });
}

}  // namespace gpuward::fakes
