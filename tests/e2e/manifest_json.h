// Converts a manifest to the JSON that an API server accepts, so that the demo needs no kubectl.
// For one document of mappings, lists of mappings, lists of words, and scalars: gpuward's own
// manifests contain no others.
#pragma once

#include <filesystem>

#include "core/model/result.h"
#include "core/runtime/json.h"

namespace gpuward::e2e {

[[nodiscard]] Result<Json> manifest_as_json(const std::filesystem::path& file);

}  // namespace gpuward::e2e
