// Whether a log file is still the one that was read before, after rotation, truncation or being
// written anew under the same name: the same inode, long enough, and the same bytes just before the
// position.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>

#include "exporter/kernel_log/descriptor.h"
#include "exporter/kernel_log/source.h"

namespace gpuward::exporter {

// Hash of up to 256 bytes before `offset`; nullopt where they cannot be read in full.
[[nodiscard]] std::optional<std::uint64_t> fingerprint_before(const Descriptor& file,
                                                              std::uint64_t offset);

// Whether `file` can be read on from `position`.
[[nodiscard]] bool continues_at(const Descriptor& file, const LogPosition& position);

// The file that `position` speaks of, wherever it is in its folder now (logrotate renames `log` to
// `log.1`); closed where it is gone. Looks at no more than 1,000 names.
[[nodiscard]] Descriptor find_continuation(const std::filesystem::path& path,
                                           const LogPosition& position);

}  // namespace gpuward::exporter
