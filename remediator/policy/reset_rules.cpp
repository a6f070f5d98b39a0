#include "remediator/policy/reset_rules.h"

#include "remediator/model/gpu_vendor.h"

namespace gpuward::remediator {

bool can_reset(const JobsPolicy& jobs, Vendor vendor) {
  return !jobs.image.empty() ||
         jobs.template_files.contains(template_name(Step::kGpuReset, vendor));
}

std::optional<std::string> objection_to_reset(const JobSettings& step, const JobsPolicy& jobs,
                                              Vendor vendor) {
  std::string command;
  for (const std::string& word : step.command) command += word + " ";
  const auto tools = vendor_of_tools(command);
  if (tools && *tools != vendor)
    return "the command of gpu-reset runs " + std::string(name_of(*tools)) + " tools";
  if (!can_reset(jobs, vendor)) {
    return "gpu-reset has no template for them: set jobs.image or jobs.templates." +
           std::string(template_name(Step::kGpuReset, vendor));
  }
  return std::nullopt;
}

}  // namespace gpuward::remediator
