#include "exporter/commands/sweep_job.h"

#include <algorithm>
#include <filesystem>
#include <utility>

#include "core/model/check_result.h"
#include "core/runtime/digest.h"
#include "core/runtime/encoding.h"
#include "core/runtime/json.h"
#include "exporter/commands/result_line.h"
#include "exporter/config/flags.h"

namespace gpuward::exporter {
namespace {

constexpr std::size_t kLongestName = 63;  // of the Job's label on its pods, and of any label value
constexpr std::size_t kSuffix = 9;        // "-" and 8 hex digits
constexpr int kSecondsKept = 3600;
constexpr std::string_view kPlaceholder = "TARGET_NODE_NAME";
// Not the default file in /dev, because the pod has the node's own /dev.
constexpr const char* kLastWords = "/run/termination-log";
constexpr const char* kConfigFolder = "/etc/gpu-healthcheck";
constexpr const char* kExporterConfigMap = "gpuward-exporter";  // in the Jobs' namespace

std::string cut(std::string text, std::size_t size) {
  text.resize(std::min(text.size(), size));
  while (!text.empty() && (text.back() == '-' || text.back() == '.')) text.pop_back();
  return text;
}

Json tolerations() {
  std::vector<std::string> keys{"nvidia.com/gpu", "amd.com/gpu"};
  for (const NodeNames& names : kAllNodeNames) {
    keys.push_back(names(NodeName::kUnhealthy));
    keys.push_back(names(NodeName::kMaintenance));
  }
  Json all = Json::array();
  for (const std::string& key : keys)
    all.push_back({{"key", key}, {"operator", "Exists"}, {"effect", "NoSchedule"}});
  return all;
}

// Binds the pod like a DaemonSet's, by the node's name, which its labels need not have.
Json affinity(std::string_view node) {
  const Json field = {
      {"key", "metadata.name"}, {"operator", "In"}, {"values", Json::array({node})}};
  const Json term = {{"matchFields", Json::array({field})}};
  return {{"nodeAffinity",
           {{"requiredDuringSchedulingIgnoredDuringExecution",
             {{"nodeSelectorTerms", Json::array({term})}}}}}};
}

// The volume is optional, so the check also runs if the ConfigMap does not exist.
void mount(const std::string& config_map, const std::string& folder, const char* name, Json& pod) {
  pod["containers"][0]["volumeMounts"].push_back(
      {{"name", name}, {"mountPath", folder}, {"readOnly", true}});
  pod["volumes"].push_back(
      {{"name", name}, {"configMap", {{"name", config_map}, {"optional", true}}}});
}

Json built_in(const SweepJobOptions& options, std::string_view node) {
  const Json mounts = Json::array({{{"name", "dev"}, {"mountPath", "/dev"}},
                                   {{"name", "sys"}, {"mountPath", "/sys"}, {"readOnly", true}}});
  const Json args =
      Json::array({"check", "--check", "1", "--json", "--termination-log", kLastWords});
  const Json container = {{"name", "check"},
                          {"image", options.image},
                          {"args", args},
                          {"securityContext", {{"privileged", true}, {"runAsUser", 0}}},
                          {"terminationMessagePath", kLastWords},
                          {"terminationMessagePolicy", "FallbackToLogsOnError"},
                          {"volumeMounts", mounts}};
  const Json volumes = Json::array({{{"name", "dev"}, {"hostPath", {{"path", "/dev"}}}},
                                    {{"name", "sys"}, {"hostPath", {{"path", "/sys"}}}}});
  Json pod = {{"restartPolicy", "Never"},
              {"automountServiceAccountToken", false},
              {"hostNetwork", true},
              {"hostPID", true},
              {"affinity", affinity(node)},
              {"tolerations", tolerations()},
              {"containers", Json::array({container})},
              {"volumes", volumes}};
  mount(kExporterConfigMap, std::filesystem::path(kUsualConfigFile).parent_path(), "config", pod);
  if (!options.config_map.empty()) {
    pod["containers"][0]["args"].push_back(std::string("--config.directory=") + kConfigFolder);
    mount(options.config_map, kConfigFolder, "legacy-config", pod);
  }
  if (!options.runtime_class.empty()) pod["runtimeClassName"] = options.runtime_class;
  for (const std::string& secret : options.pull_secrets)
    pod["imagePullSecrets"].push_back({{"name", secret}});
  Json job = {{"apiVersion", "batch/v1"}, {"kind", "Job"}};
  job["metadata"]["labels"] = {{"app.kubernetes.io/name", "gpu-healthcheck"},
                               {"app.kubernetes.io/component", "sweeper"}};
  job["spec"] = {{"ttlSecondsAfterFinished", kSecondsKept}, {"template", {{"spec", pod}}}};
  job["spec"]["template"]["metadata"]["labels"] = job["metadata"]["labels"];
  return job;
}

Result<Json> from_template(std::string text, std::string_view node) {
  for (auto at = text.find(kPlaceholder); at != std::string::npos;
       at = text.find(kPlaceholder, at + node.size())) {
    text.replace(at, kPlaceholder.size(), node);
  }
  auto job = parse_json(text);
  if (!job) return with_context("the sweep's Job template", job.error());
  if (string_at(*job, "kind") != "Job" || !member_at(*job, "spec").is_object()) {
    return fail(ErrorKind::kInvalid,
                "the sweep's Job template: not a batch/v1 Job with a spec, as JSON");
  }
  return job;
}

// Returns the results in the check's lines of JSON, and skips all other output.
std::vector<CheckResult> results_in(std::string_view message) {
  std::vector<CheckResult> results;
  while (!message.empty()) {
    const auto end = std::min(message.find('\n'), message.size());
    if (auto result = parse_result_line(message.substr(0, end)))
      results.push_back(*std::move(result));
    message.remove_prefix(std::min(end + 1, message.size()));
  }
  return results;
}

SweepResult verdict_of_failure(const std::vector<CheckResult>& results) {
  SweepResult worst{.why = "the check exited with code 1 but reported no failure"};
  for (const CheckResult& result : results) {
    const bool taints = result.status == CheckStatus::kFail && result.severity >= Severity::kReset;
    if (taints && result.severity > worst.severity)
      worst = {NodeStatus::kFail, result.severity, result.details};
  }
  return worst;
}

SweepResult verdict_of_success(const std::vector<CheckResult>& results) {
  if (results.empty()) return {.why = "the check exited with code 0 but printed no result"};
  SweepResult verdict{NodeStatus::kPass, Severity::kNone, "passed"};
  for (const CheckResult& result : results) {
    if (result.status == CheckStatus::kWarn) {
      verdict = {NodeStatus::kWarn, Severity::kMonitor, result.details};
    } else if (result.status != CheckStatus::kPass) {
      return {.why = std::string(to_string(result.status)) + ": " + result.details,
              .is_skip = result.status == CheckStatus::kSkip};
    }
  }
  return verdict;
}

SweepResult verdict_of(const kube::ContainerEnd& end) {
  const std::vector<CheckResult> results = results_in(end.message);
  if (end.exit_code == 0) return verdict_of_success(results);
  if (end.exit_code == 1) return verdict_of_failure(results);
  std::string why =
      "the check exited with code " + std::to_string(end.exit_code) + " " + end.reason;
  if (!results.empty()) why += ": " + results.back().details;
  return {.why = std::move(why)};
}

}  // namespace

std::string sweep_job_name(std::string_view node, std::string_view owner) {
  std::string name = "gpu-sweep-" + std::string(node);
  std::ranges::replace(name, '.', '-');
  const Digest digest = digest_of(std::string(owner) + "\n" + std::string(node));
  return cut(std::move(name), kLongestName - kSuffix) + "-" + to_hex(view_of(digest).substr(0, 4));
}

Result<std::string> sweep_job(const SweepJobOptions& options, std::string_view node,
                              std::string_view owner, const NodeNames& names) {
  if (options.job_template.empty() && options.image.empty())
    return fail(ErrorKind::kInvalid, "no image for the sweep's Jobs: set SWEEP_IMAGE");
  auto job = options.job_template.empty() ? Result<Json>(built_in(options, node))
                                          : from_template(options.job_template, node);
  if (!job) return std::unexpected(job.error());
  Json& metadata = (*job)["metadata"];
  if (!metadata.is_object()) metadata = Json::object();
  metadata.erase("generateName");
  metadata["name"] = sweep_job_name(node, owner);
  metadata["namespace"] = options.ns;
  if (!member_at(metadata, "labels").is_object()) metadata["labels"] = Json::object();
  metadata["labels"][names(NodeName::kTargetNode)] = cut(std::string(node), kLongestName);
  (*job)["spec"]["backoffLimit"] = 0;
  (*job)["spec"]["activeDeadlineSeconds"] = options.timeout.count();
  return dump_json(*job);
}

SweepResult judge_sweep_job(const kube::Job& job, const std::vector<kube::Pod>& pods) {
  for (const kube::Pod& pod : pods) {
    if (!pod.ended.empty()) return verdict_of(pod.ended.front());
  }
  return {.why = "no check has ended: " + (job.is_failed ? job.failure : "the Job's pod is gone")};
}

}  // namespace gpuward::exporter
