#include "remediator/config/load_policy.h"

#include <utility>

#include "core/runtime/yaml.h"
#include "remediator/actions/job_template.h"

namespace gpuward::remediator {

Result<Policy> load_policy(const std::filesystem::path& file, std::optional<Mode> mode) {
  Policy policy;
  if (!file.empty()) {
    const auto text = YamlFile::load(file);
    if (!text) return std::unexpected(text.error());
    auto read = read_policy(*text);
    if (!read) return read;
    policy = std::move(*read);
    if (auto loaded = load_job_templates(policy.jobs); !loaded)
      return std::unexpected(loaded.error());
  }
  if (mode) policy.mode = *mode;
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
