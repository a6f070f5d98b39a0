// The policy of --config.file as the flags and the environment change it. Used at start, at each
// reload and by the commands about policies.
#pragma once

#include <filesystem>
#include <optional>

#include "core/model/result.h"
#include "core/runtime/files.h"
#include "core/runtime/yaml.h"
#include "remediator/config/flags.h"
#include "remediator/policy/policy.h"

namespace gpuward::remediator {

// With the templates of Jobs; the default policy where no file is named. `mode` wins over the
// file's. kInvalid: `file:line: field: what`, one line a fault.
[[nodiscard]] Result<Policy> load_policy(const std::filesystem::path& file,
                                         std::optional<Mode> mode);
// The same of a file that is read already.
[[nodiscard]] Result<Policy> load_policy(const YamlFile& file, std::optional<Mode> mode);
// That of the server, with the sinks of its environment.
[[nodiscard]] Result<Policy> load_policy(const Flags& flags);

// The policy that the server starts with.
struct WatchedPolicy {
  Policy policy;
  std::optional<FileWatch> watch;  // nullopt where no file is named
};
// The watch takes its first look before the file is read, so that it sees each later change.
[[nodiscard]] Result<WatchedPolicy> load_watched_policy(const Flags& flags);

}  // namespace gpuward::remediator
