// Loads the policy of --config.file with the changes by flags and environment. Used at start, at
// each reload and by the commands about policies.
#pragma once

#include <filesystem>
#include <optional>

#include "core/model/result.h"
#include "core/runtime/files.h"
#include "core/runtime/yaml.h"
#include "remediator/config/flags.h"
#include "remediator/policy/policy.h"

namespace gpuward::remediator {

// Loads the policy with the templates of Jobs; the default policy if `file` is empty. `mode`
// overrides the mode in the file. Returns kInvalid with one line `file:line: field: what` for each
// fault.
[[nodiscard]] Result<Policy> load_policy(const std::filesystem::path& file,
                                         std::optional<Mode> mode);
// Loads the policy from a file that is already read.
[[nodiscard]] Result<Policy> load_policy(const YamlFile& file, std::optional<Mode> mode);
// Loads the policy of the server, with the sinks of its environment.
[[nodiscard]] Result<Policy> load_policy(const Flags& flags);

// The policy that the server starts with.
struct WatchedPolicy {
  Policy policy;
  std::optional<FileWatch> watch;  // nullopt if --config.file is not set.
};
// Loads the policy. The watch records the state of the file before the file is read, so that it
// notices each later change.
[[nodiscard]] Result<WatchedPolicy> load_watched_policy(const Flags& flags);

}  // namespace gpuward::remediator
