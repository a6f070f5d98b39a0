#include <algorithm>
#include <array>

#include "core/kube/names.h"
#include "core/upload/target.h"
#include "remediator/model/gpu_operands.h"
#include "remediator/policy/policy_sections.h"

namespace gpuward::remediator {
namespace {

constexpr std::array kJobSteps = {Step::kCollectEvidence, Step::kGpuReset, Step::kReboot,
                                  Step::kQuarantineJob,   Step::kNcclTest, Step::kNcclPairs};
constexpr double kMostBusBandwidth = 100'000;
constexpr YamlWord<bool> kOnBusy[] = {{"hold", false}, {"escalate", true}};

// Returns whether systemctl reads the name neither as a flag nor as a pattern.
bool is_unit(const std::string& name) {
  constexpr std::string_view kCharacters =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789:_.@-";
  return name.ends_with(".service") && !name.starts_with('-') &&
         name.find_first_not_of(kCharacters) == std::string::npos;
}

void read_template(const YamlMap& section, std::string_view name, std::string_view about,
                   JobsPolicy& jobs) {
  if (!section.has(name)) return;
  std::string& path = jobs.template_files[std::string(name)];
  section.read(name, path, about);
  if (!path.starts_with('/')) section.reject(name, "must be an absolute path");
}

void read_templates(const YamlMap& section, JobsPolicy& jobs) {
  for (const Step step : kJobSteps) {
    const bool is_of_vendors = step == Step::kGpuReset;
    read_template(section, template_name(step),
                  is_of_vendors ? "replaces the built-in template for nodes with NVIDIA GPUs"
                                : "replaces the built-in template of the step",
                  jobs);
    if (is_of_vendors)
      read_template(section, template_name(step, Vendor::kAmd), "the same for nodes with AMD GPUs",
                    jobs);
  }
}

// Rejects an upload target and an account that could never work.
EvidencePolicy read_evidence(const YamlMap& section) {
  EvidencePolicy evidence;
  section.read("upload", evidence.upload,
               "where evidence is uploaded, in addition to being kept on the node: "
               "`s3://bucket/prefix?region=REGION`, `https://host/path/` (by PUT) or a folder that "
               "your own template mounts");
  if (section.has("upload") && !evidence.upload.empty()) {
    const auto target = parse_upload_target(evidence.upload);
    if (!target) section.reject("upload", target.error().message);
  }
  section.read("service_account", evidence.service_account,
               "ServiceAccount of `collect-evidence`; it needs permission to upload to AWS");
  if (!kube::validate_node_name(evidence.service_account))
    section.reject("service_account", "must be the name of a ServiceAccount");
  return evidence;
}

}  // namespace

JobsPolicy read_jobs(const YamlMap& section) {
  JobsPolicy jobs;
  section.read("image", jobs.image, "container image for the built-in templates, which need one");
  section.read("namespace", jobs.ns, "namespace of the Jobs");
  if (!kube::validate_node_name(jobs.ns)) {  // the rules for a namespace's name are the same, or
                                             // looser
    section.reject("namespace", "must be a namespace such as gpu-healthcheck");
  }
  section.read("service_account", jobs.service_account,
               "ServiceAccount of `quarantine-job` and `nccl-test`");
  section.read("pair_port", jobs.pair_port, 1024, 65535,
               "port of `nccl-pairs` on the host network");
  section.read("pause_labels", jobs.pause_labels,
               "labels of Nodes by which DaemonSets of your own that hold GPUs choose their nodes "
               "(`nodeSelector: {KEY: \"true\"}`): `gpu-reset` pauses them");
  for (const std::string& label : jobs.pause_labels) {
    if (const auto why = objection_to_label(label); !why.empty())
      section.reject("pause_labels", why);
  }
  section.read("pause_units", jobs.pause_units,
               "systemd units on nodes that hold GPUs, such as `nvidia-dcgm.service`: `gpu-reset` "
               "stops those that run and starts them again");
  if (!std::ranges::all_of(jobs.pause_units, is_unit))
    section.reject("pause_units",
                   "each entry must be the name of a unit such as nvidia-dcgm.service");
  jobs.evidence = read_evidence(section.map("evidence", "settings of `collect-evidence`"));
  read_templates(section.map("templates", "absolute paths of JSON files with Jobs"), jobs);
  return jobs;
}

JobSettings read_job_settings(const YamlMap& settings, Step step, JobSettings out) {
  if (step != Step::kNcclPairs) {
    settings.read("command", out.command, "command of the Job; default: the template's");
    if (std::ranges::find(out.command, std::string()) != out.command.end())
      settings.reject("command", "must not contain an empty argument");
    if (is_diagnostic(step))
      settings.read("clears_latched", out.clears_latched,
                    "a pass also clears findings that otherwise only an operator can clear");
  }
  if (step == Step::kNcclTest || step == Step::kNcclPairs)
    settings.read("min_bus_bandwidth", out.min_bus_bandwidth, 1, kMostBusBandwidth,
                  "in GB/s; the test fails below this bandwidth");
  if (step == Step::kNcclPairs)
    settings.read("together", out.together, std::chrono::seconds(0), std::chrono::hours(24),
                  "nodes whose jobs are unknown count as having failed together if their "
                  "Remediations were opened within this time of each other");
  if (step != Step::kGpuReset) return out;
  settings.read_word(
      "on_busy", out.escalates_when_busy, kOnBusy,
      "when a process uses a GPU: hold the node for an operator, or escalate to the next severity");
  settings.read("not_on", out.not_on,
                "providerID prefixes: nodes that match escalate without a reset");
  if (std::ranges::find(out.not_on, std::string()) != out.not_on.end())
    settings.reject("not_on", "each entry must be a providerID prefix such as aws://");
  return out;
}

}  // namespace gpuward::remediator
