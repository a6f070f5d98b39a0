#include "remediator/act/actions/job_template.h"

#include <algorithm>
#include <sstream>
#include <string_view>
#include <utility>
#include <vector>

#include "core/runtime/files.h"
#include "core/runtime/json.h"
#include "core/runtime/text.h"
#include "remediator/act/actions/step_progress.h"
#include "remediator/model/diagnostics.h"
#include "remediator/model/gpu_vendor.h"

namespace gpuward::remediator {
namespace {

#include "remediator/act/actions/built_in_jobs.inc"

using std::chrono::seconds;

// Limit that also applies to the label `job-name` of the Job's pods.
constexpr std::size_t kLongestJobName = 63;
// How long an ended Job is kept. Operators and a remediator that was down can still read its
// result.
constexpr int kSecondsKeptAfterwards = 24 * 3600;

std::string_view built_in_job(Step step) {
  if (step == Step::kCollectEvidence) return kCollectEvidenceJob;
  if (step == Step::kNcclTest) return kNcclTestJob;
  if (step == Step::kNcclPairs) return kNcclPairsJob;
  if (step == Step::kQuarantineJob) return kQuarantineJob;
  if (step == Step::kReboot) return kRebootJob;
  return kGpuResetJob;
}

bool has_one_container(const Json& job) {
  const Json& pod = member_at(member_at(member_at(job, "spec"), "template"), "spec");
  const Json& containers = member_at(pod, "containers");
  return containers.is_array() && containers.size() == 1 && containers[0].is_object();
}

Result<Json> parse_job_template(std::string_view text) {
  auto job = parse_json(text);
  if (!job) return job;
  if (string_at(*job, "apiVersion") != "batch/v1" || string_at(*job, "kind") != "Job") {
    return fail(ErrorKind::kInvalid, "is not a batch/v1 Job");
  }
  if (!has_one_container(*job)) {
    return fail(ErrorKind::kInvalid, "spec.template.spec must have exactly one container");
  }
  return job;
}

// Returns an error if the template runs tools of another vendor than its name says.
Status check_tools(std::string_view name, std::string_view text) {
  const auto tools = vendor_of_tools(text);
  for (const Vendor vendor : {Vendor::kNvidia, Vendor::kAmd}) {
    if (name != template_name(Step::kGpuReset, vendor) || !tools || *tools == vendor) continue;
    return fail(ErrorKind::kInvalid, "runs " + std::string(name_of(*tools)) +
                                         " tools on nodes with " + std::string(name_of(vendor)) +
                                         " GPUs");
  }
  return {};
}

// Returns an error if a reboot template does not check the boot. Without the check, a Job that
// starts late restarts the machine a second time.
Status check_boot(std::string_view name, std::string_view text) {
  if (name != template_name(Step::kReboot) || text.contains("$(BOOT_ID)")) return {};
  return fail(ErrorKind::kInvalid,
              "has no $(BOOT_ID) placeholder: its command must do nothing in another boot");
}

// Returns an error if uploads are configured and the template has no upload target. The evidence
// would then stay on the node.
Status check_upload(std::string_view name, std::string_view text, const JobsPolicy& jobs) {
  if (jobs.evidence.upload.empty() || name != template_name(Step::kCollectEvidence)) return {};
  if (text.contains("$(UPLOAD)")) return {};
  return fail(ErrorKind::kInvalid, "has no $(UPLOAD) placeholder for jobs.evidence.upload");
}

using Placeholder = std::pair<std::string_view, std::string>;

void replace_all(std::string& text, const Placeholder& placeholder) {
  const auto& [name, value] = placeholder;
  for (auto at = text.find(name); at != std::string::npos; at = text.find(name, at + value.size()))
    text.replace(at, name.size(), value);
}

// Returns whether the word is a flag that gets no value. gpuward-exporter rejects such a flag.
bool becomes_empty_flag(const Json& word, const std::vector<Placeholder>& placeholders) {
  if (!word.is_string()) return false;
  std::string text = word.get<std::string>();
  if (!text.starts_with("--") || text.ends_with('=')) return false;
  for (const Placeholder& one : placeholders) replace_all(text, one);
  return text.ends_with('=');
}

// Replaces the placeholders in the parsed values, so that inserted text cannot change the
// template's structure.
void put_in(Json& value, const std::vector<Placeholder>& placeholders) {
  if (value.is_string()) {
    for (const Placeholder& one : placeholders) replace_all(value.get_ref<std::string&>(), one);
    return;
  }
  if (!value.is_structured()) return;
  if (value.is_array()) {
    std::erase_if(value.get_ref<Json::array_t&>(),
                  [&](const Json& word) { return becomes_empty_flag(word, placeholders); });
  }
  for (Json& child : value) put_in(child, placeholders);
}

std::string joined(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : ",") + word;
  return text;
}

// Returns the number as people write it: "400", "387.5".
std::string number_text(double value) {
  std::ostringstream text;
  text << value;
  return text.str();
}

// The part of a reboot's time that is reserved for the start of the machine. The Job has the rest
// of the time.
constexpr std::chrono::minutes kForTheRestart{10};

seconds time_of(const StepRequest& request, const JobPart& part) {
  if (part.timeout.count() > 0) return std::chrono::ceil<seconds>(part.timeout);
  const auto all = std::chrono::ceil<seconds>(request.step.timeout);
  return request.step.step == Step::kReboot ? std::max(all - kForTheRestart, all / 2) : all;
}

std::vector<Placeholder> placeholders_of(const StepRequest& request, const JobsPolicy& jobs,
                                         const JobPart& part, Vendor vendor) {
  std::vector<Placeholder> all = {
      {"$(NODE_NAME)", request.node.meta.name},
      {"$(BOOT_ID)", fact_of(request, kJobBootFact)},
      {"$(GPU_VENDOR)", std::string(to_string(vendor))},
      {"$(TIMEOUT)", std::to_string(time_of(request, part).count()) + "s"},
      {"$(PAUSE_UNITS)", joined(jobs.pause_units)},
      {"$(REMEDIATION)", request.remediation.name},
      {"$(IMAGE)", jobs.image},
      {"$(SERVICE_ACCOUNT)", jobs.service_account},
      {"$(EVIDENCE_SERVICE_ACCOUNT)", jobs.evidence.service_account},
      {"$(UPLOAD)", jobs.evidence.upload},
      {"$(CLEARS_LATCHED)", request.step.job.clears_latched ? "true" : "false"},
      {"$(MIN_BUS_BANDWIDTH)", number_text(request.step.job.min_bus_bandwidth)}};
  for (const auto& [name, value] : part.values) all.emplace_back(name, value);
  return all;
}

Severity severity_at_intent(const StepRequest& request) {
  const StepRecord* record = request.remediation.status.find(request.step.step);
  return record == nullptr ? request.remediation.acted_severity() : record->severity;
}

std::string bound_name(std::string text, std::size_t size) {
  std::ranges::replace(text, '.', '-');
  text.resize(std::min(text.size(), size));
  while (text.ends_with('-')) text.pop_back();
  return text;
}

// Returns the labels by which is_job_of() recognizes the Job.
std::vector<std::pair<std::string, std::string>> identity_of(const StepRequest& request,
                                                             const JobPart& part) {
  std::vector<std::pair<std::string, std::string>> identity = {
      {"gpuward.dev/remediation-uid", request.remediation.uid},
      {"gpuward.dev/step", std::string(to_string(request.step.step))},
      {"gpuward.dev/severity", std::string(to_string(severity_at_intent(request)))}};
  if (!part.id.empty()) identity.emplace_back("gpuward.dev/part", part.id);
  return identity;
}

Json& object_in(Json& parent, const char* key) {
  Json& child = parent[key];
  if (!child.is_object()) child = Json::object();
  return child;
}

void name_job(Json& metadata, const StepRequest& request, const JobPart& part,
              const std::string& ns) {
  metadata.erase("generateName");
  metadata["name"] = job_name(request, part);
  metadata["namespace"] = ns;
  object_in(metadata, "annotations")["gpuward.dev/remediation"] = request.remediation.name;
  // The API server deletes the Job together with its Remediation, even if a user deletes the
  // Remediation by force.
  metadata["ownerReferences"] = Json::array({{{"apiVersion", "gpuward.dev/v1alpha1"},
                                              {"kind", "Remediation"},
                                              {"name", request.remediation.name},
                                              {"uid", request.remediation.uid}}});
}

void label(Json& metadata, const StepRequest& request, const JobPart& part) {
  Json& labels = object_in(metadata, "labels");
  const std::string boot = fact_of(request, kJobBootFact);
  if (part.id.empty() && !boot.empty()) labels[std::string(kBootLabel)] = boot;
  for (const auto& [key, value] : identity_of(request, part)) labels[key] = value;
}

// Lets the Job start one pod once. The Job ends with this pod.
void run_once(Json& spec, seconds time) {
  for (const char* key : {"suspend", "podFailurePolicy", "selector", "manualSelector"})
    spec.erase(key);
  spec["backoffLimit"] = 0;
  spec["completions"] = 1;
  spec["parallelism"] = 1;
  spec["activeDeadlineSeconds"] = time.count();
  spec["ttlSecondsAfterFinished"] = kSecondsKeptAfterwards;
}

// Gives the pod its own deadline. A kubelet without contact to the API server does not learn the
// Job's deadline, but it starts no container after the pod's deadline.
void bound_pod(Json& pod, Step step, seconds time) {
  if (is_disruptive(step)) pod["activeDeadlineSeconds"] = time.count();
}

// Assigns the pod to the node by name. The scheduler would not place a pod on a cordoned node. The
// pod tolerates all taints, including taints that evict other pods.
void pin(Json& pod, const std::string& node) {
  pod.erase("nodeSelector");
  pod.erase("affinity");
  pod["nodeName"] = node;
  pod["restartPolicy"] = "Never";
  pod["tolerations"] = Json::array({{{"operator", "Exists"}}});
}

}  // namespace

Status load_job_templates(JobsPolicy& jobs) {
  for (const auto& [name, path] : jobs.template_files) {
    const std::string what = "jobs.templates." + name + ": " + path;
    auto text = read_file(path);
    if (!text) return with_context(what, text.error());
    if (const auto job = parse_job_template(*text); !job) return with_context(what, job.error());
    if (auto fits = check_tools(name, *text); !fits) return with_context(what, fits.error());
    if (auto fits = check_boot(name, *text); !fits) return with_context(what, fits.error());
    if (auto fits = check_upload(name, *text, jobs); !fits) return with_context(what, fits.error());
    jobs.templates[name] = std::move(*text);
  }
  return {};
}

std::string job_name(const StepRequest& request, const JobPart& part) {
  std::string identity = request.remediation.name;
  for (const auto& [key, value] : identity_of(request, part)) identity += "/" + value;
  if (!part.id.empty()) identity += "/" + request.node.meta.name;
  const std::string hash = short_hash(identity);
  const std::string& node = part.id.empty() ? request.remediation.node : request.node.meta.name;
  const std::string readable = "gpuward-" + std::string(to_string(request.step.step)) + "-" + node;
  return bound_name(readable, kLongestJobName - hash.size() - 1) + "-" + hash;
}

Result<std::string> render_job(const StepRequest& request, const JobsPolicy& jobs,
                               const std::string& ns, const JobPart& part) {
  const Step step = request.step.step;
  // The vendor selects the template of gpu-reset. gpu_reset_action rejects a node of unknown vendor
  // before this call.
  const Vendor vendor = gpu_vendor(request.node).value_or(Vendor::kNvidia);
  const auto own = jobs.templates.find(template_name(step, vendor));
  auto job = parse_job_template(own == jobs.templates.end() ? built_in_job(step)
                                                            : std::string_view(own->second));
  if (!job) return with_context("the template of the Job", job.error());
  put_in(*job, placeholders_of(request, jobs, part, vendor));
  name_job(object_in(*job, "metadata"), request, part, ns);
  label((*job)["metadata"], request, part);
  Json& spec = (*job)["spec"];
  run_once(spec, time_of(request, part));
  label(object_in(spec["template"], "metadata"), request, part);
  pin(spec["template"]["spec"], request.node.meta.name);
  bound_pod(spec["template"]["spec"], step, time_of(request, part));
  Json& container = spec["template"]["spec"]["containers"][0];
  if (!request.step.job.command.empty()) {
    container.erase("args");
    container["command"] = request.step.job.command;
  }
  return dump_json(*job);
}

bool is_job_of(const kube::Job& job, const StepRequest& request, const JobPart& part) {
  return std::ranges::all_of(identity_of(request, part), [&](const auto& known) {
    const auto found = job.meta.labels.find(known.first);
    return found != job.meta.labels.end() && found->second == known.second;
  });
}

}  // namespace gpuward::remediator
