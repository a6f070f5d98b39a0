#include "remediator/config/load_policy.h"

#include <utility>

#include "remediator/act/actions/job_template.h"

namespace gpuward::remediator {

Result<Policy> load_policy(const std::filesystem::path& file, std::optional<Mode> mode) {
  if (file.empty()) {
    Policy policy;
    policy.mode = mode.value_or(policy.mode);
    return policy;
  }
  const auto text = YamlFile::load(file);
  if (!text) return std::unexpected(text.error());
  return load_policy(*text, mode);
}

Result<Policy> load_policy(const YamlFile& file, std::optional<Mode> mode) {
  auto policy = read_policy(file);
  if (!policy) return policy;
  if (auto loaded = load_job_templates(policy->jobs); !loaded)
    return std::unexpected(loaded.error());
  if (mode) policy->mode = *mode;
  return policy;
}

Result<Policy> load_policy(const Flags& flags) {
  auto policy = load_policy(flags.config_file, flags.mode);
  if (policy) add_environment_sinks(policy->notifications, flags.told);
  return policy;
}

Result<WatchedPolicy> load_watched_policy(const Flags& flags) {
  std::optional<FileWatch> watch;
  if (!flags.config_file.empty()) watch.emplace(flags.config_file);
  auto policy = load_policy(flags);
  if (!policy) return std::unexpected(policy.error());
  return WatchedPolicy{.policy = *std::move(policy), .watch = std::move(watch)};
}

}  // namespace gpuward::remediator
