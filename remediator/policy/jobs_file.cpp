#include "remediator/policy/jobs_file.h"

#include <algorithm>
#include <array>

#include "core/kube/names.h"

namespace gpuward::remediator {
namespace {

constexpr std::array kJobSteps = {Step::kCollectEvidence, Step::kGpuReset, Step::kQuarantineJob,
                                  Step::kNcclTest, Step::kNcclPairs};
constexpr double kMostBusBandwidth = 100'000;

void read_templates(const YamlMap& section, JobsPolicy& jobs) {
  for (const Step step : kJobSteps) {
    const std::string_view key = to_string(step);
    if (!section.has(key)) continue;
    std::string& path = jobs.template_files[step];
    section.require(key, path);
    if (!path.empty() && path.front() != '/') section.reject(key, "must be an absolute path");
  }
}

void read_on_busy(const YamlMap& settings, JobSettings& out) {
  std::string word = out.escalates_when_busy ? "escalate" : "hold";
  settings.read("on_busy", word);
  if (word != "hold" && word != "escalate") {
    settings.reject("on_busy", "must be one of hold, escalate");
  }
  out.escalates_when_busy = word == "escalate";
}

}  // namespace

JobsPolicy read_jobs(const YamlMap& section) {
  JobsPolicy jobs;
  section.read("namespace", jobs.ns);
  if (!kube::validate_node_name(jobs.ns)) {  // of a namespace the same is asked, and less
    section.reject("namespace", "must be a namespace such as gpu-healthcheck");
  }
  section.read("image", jobs.image);
  section.read("service_account", jobs.service_account);
  section.read("pair_port", jobs.pair_port, 1024, 65535);
  read_templates(section.map("templates"), jobs);
  return jobs;
}

JobSettings read_job_settings(const YamlMap& settings, Step step, JobSettings out) {
  if (step == Step::kNcclTest || step == Step::kNcclPairs)
    settings.read("min_bus_bandwidth", out.min_bus_bandwidth, 1, kMostBusBandwidth);
  if (step == Step::kNcclPairs) {
    settings.read("together", out.together, std::chrono::seconds(0), std::chrono::hours(24));
    return out;
  }
  settings.read("command", out.command);
  if (std::ranges::find(out.command, std::string()) != out.command.end()) {
    settings.reject("command", "has an empty word");
  }
  if (is_diagnostic(step)) settings.read("clears_latched", out.clears_latched);
  if (step != Step::kGpuReset) return out;
  read_on_busy(settings, out);
  settings.read("not_on", out.not_on);
  if (std::ranges::find(out.not_on, std::string()) != out.not_on.end()) {
    settings.reject("not_on", "each entry is how a providerID begins: `aws://`");
  }
  return out;
}

}  // namespace gpuward::remediator
