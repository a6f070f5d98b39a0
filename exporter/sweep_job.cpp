#include "exporter/sweep_job.h"

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <optional>

#include "core/runtime/json.h"
#include "exporter/publish/node/node_keys.h"

namespace gpuward::exporter {
namespace {

constexpr std::size_t kLongestName = 63;  // of a Job's pods' label; also of a label's value
constexpr std::size_t kSuffix = 9;        // "-" and 8 hex digits
constexpr int kSecondsKept = 3600;
constexpr std::string_view kPlaceholder = "TARGET_NODE_NAME";

std::string cut(std::string text, std::size_t size) {
  text.resize(std::min(text.size(), size));
  while (!text.empty() && (text.back() == '-' || text.back() == '.')) text.pop_back();
  return text;
}

std::string hex8(std::string_view a, std::string_view b) {
  std::uint64_t mixed = 0xCBF29CE484222325U;  // FNV-1a
  for (const std::string_view part : {a, std::string_view("\n"), b}) {
    for (const char c : part) mixed = (mixed ^ static_cast<std::uint8_t>(c)) * 0x100000001B3U;
  }
  char text[9];
  std::snprintf(text, sizeof text, "%08x", static_cast<unsigned>(mixed ^ (mixed >> 32U)));
  return text;
}

Json tolerations() {
  Json all = Json::array();
  for (const std::string_view key :
       {std::string_view("nvidia.com/gpu"), std::string_view("amd.com/gpu"), kUnhealthyTaintKey,
        kMaintenanceTaintKey}) {
    all.push_back({{"key", key}, {"operator", "Exists"}, {"effect", "NoSchedule"}});
  }
  return all;
}

// As a DaemonSet's pods are bound: by the node's name, which its labels need not repeat.
Json affinity(std::string_view node) {
  const Json field = {
      {"key", "metadata.name"}, {"operator", "In"}, {"values", Json::array({node})}};
  const Json term = {{"matchFields", Json::array({field})}};
  return {{"nodeAffinity",
           {{"requiredDuringSchedulingIgnoredDuringExecution",
             {{"nodeSelectorTerms", Json::array({term})}}}}}};
}

Json built_in(const SweepJobOptions& options, std::string_view node) {
  const Json mounts = Json::array({{{"name", "dev"}, {"mountPath", "/dev"}},
                                   {{"name", "sys"}, {"mountPath", "/sys"}, {"readOnly", true}}});
  const Json container = {{"name", "check"},
                          {"image", options.image},
                          {"args", {"check", "--check", "1", "--json"}},
                          {"securityContext", {{"privileged", true}}},
                          {"terminationMessagePolicy", "FallbackToLogsOnError"},
                          {"volumeMounts", mounts}};
  const Json volumes = Json::array({{{"name", "dev"}, {"hostPath", {{"path", "/dev"}}}},
                                    {{"name", "sys"}, {"hostPath", {{"path", "/sys"}}}}});
  const Json pod = {{"restartPolicy", "Never"},
                    {"automountServiceAccountToken", false},
                    {"hostNetwork", true},
                    {"hostPID", true},
                    {"affinity", affinity(node)},
                    {"tolerations", tolerations()},
                    {"containers", Json::array({container})},
                    {"volumes", volumes}};
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

// The verdict that the check has printed, as one line of JSON among others.
std::optional<SweepVerdict> verdict_in(std::string_view line) {
  const auto json = parse_json(line);
  if (!json) return std::nullopt;
  const auto severity = parse_severity(string_at(*json, "severity"));
  if (string_at(*json, "status") != "FAIL" || !severity || *severity < Severity::kReset)
    return std::nullopt;
  return SweepVerdict{NodeStatus::kFail, *severity, string_at(*json, "details")};
}

SweepVerdict verdict_of_message(std::string_view message) {
  SweepVerdict worst{.why = "the check ended with 1 and printed no failure"};
  while (!message.empty()) {
    const auto end = std::min(message.find('\n'), message.size());
    const auto found = verdict_in(message.substr(0, end));
    if (found && found->severity > worst.severity) worst = *found;
    message.remove_prefix(std::min(end + 1, message.size()));
  }
  return worst;
}

SweepVerdict verdict_of(const kube::ContainerEnd& end) {
  const bool was_skipped = end.message.find("\"status\":\"SKIP\"") != std::string::npos;
  if (end.exit_code == 0 && was_skipped) return {.why = "the check was skipped"};
  if (end.exit_code == 0) return {NodeStatus::kPass, Severity::kNone, "passed"};
  if (end.exit_code == 1) return verdict_of_message(end.message);
  return {.why = "the check ended with " + std::to_string(end.exit_code) + " " + end.reason};
}

}  // namespace

std::string sweep_job_name(std::string_view node, std::string_view owner) {
  std::string name = "gpu-sweep-" + std::string(node);
  std::ranges::replace(name, '.', '-');
  return cut(std::move(name), kLongestName - kSuffix) + "-" + hex8(owner, node);
}

Result<std::string> sweep_job(const SweepJobOptions& options, std::string_view node,
                              std::string_view owner) {
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
  metadata["labels"][std::string(kTargetNodeLabel)] = cut(std::string(node), kLongestName);
  (*job)["spec"]["backoffLimit"] = 0;
  (*job)["spec"]["activeDeadlineSeconds"] = options.timeout.count();
  return dump_json(*job);
}

SweepVerdict judge_sweep_job(const kube::Job& job, const std::vector<kube::Pod>& pods) {
  for (const kube::Pod& pod : pods) {
    if (!pod.ended.empty()) return verdict_of(pod.ended.front());
  }
  if (job.is_complete) return {NodeStatus::kPass, Severity::kNone, "passed"};
  return {.why = "the Job has failed without a check that ended: " + job.failure};
}

}  // namespace gpuward::exporter
