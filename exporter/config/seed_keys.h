// The settings of the suite that gpuward replaces, under their old names: as files of a mounted
// ConfigMap (`CHECK_INTERVAL`, `instance-profiles.conf`), or in the environment. Used by the
// settings.
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

// Returns the value of a key; nullopt if it is not set. An error if it is set but cannot be read.
using SeedLookup = std::function<Result<std::optional<std::string>>(std::string_view key)>;

// Looks keys up in the process's environment; empty values count as not set.
[[nodiscard]] SeedLookup environment_lookup();
// Looks keys up in a folder with one file for each. A missing folder has no keys.
[[nodiscard]] SeedLookup folder_lookup(std::filesystem::path folder);

// Applies all keys to `settings`, or none. kInvalid names every wrong key, its source `where`
// ("environment") and its allowed values.
[[nodiscard]] Status apply_seed_keys(const SeedLookup& lookup, const std::string& where,
                                     Settings& settings);

// Returns all keys, including those without effect in gpuward: the files to watch.
[[nodiscard]] std::vector<std::string_view> seed_keys();

}  // namespace gpuward::exporter
