#include "remediator/config/load_policy.h"

#include <utility>

#include "core/runtime/yaml.h"
#include "remediator/actions/job_template.h"

namespace gpuward::remediator {

Result<Policy> load_policy(const Flags& flags) {
  Policy policy;
  if (!flags.config_file.empty()) {
    const auto file = YamlFile::load(flags.config_file);
    if (!file) return std::unexpected(file.error());
    auto read = read_policy(*file);
    if (!read) return read;
    policy = std::move(*read);
    if (auto loaded = load_job_templates(policy.jobs); !loaded)
      return std::unexpected(loaded.error());
  }
  if (flags.mode) policy.mode = *flags.mode;
  add_environment_sinks(policy.notifications, flags.told);
  return policy;
}

}  // namespace gpuward::remediator
