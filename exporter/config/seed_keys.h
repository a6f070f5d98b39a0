// The settings of the suite that gpuward replaces, under their old names: as files of a mounted
// ConfigMap (`CHECK_INTERVAL`, `instance-profiles.conf`), or in the environment. Read by settings.
#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/model/result.h"

namespace gpuward::exporter {

struct Settings;

// The value of a key; nullopt where nobody has set it. An error where it is set and cannot be read.
using SeedLookup = std::function<Result<std::optional<std::string>>(std::string_view key)>;

// Of the process; empty values count as not set.
[[nodiscard]] SeedLookup environment_lookup();
// One file a key. A folder that is not there has no keys.
[[nodiscard]] SeedLookup folder_lookup(std::filesystem::path folder);

// On top of `settings`, whole or not at all: kInvalid names every key that is wrong, `where` it was
// ("environment") and what it may be.
[[nodiscard]] Status apply_seed_keys(const SeedLookup& lookup, const std::string& where,
                                     Settings& settings);

// All keys, those without effect here included: the files to watch.
[[nodiscard]] std::vector<std::string_view> seed_keys();

}  // namespace gpuward::exporter
