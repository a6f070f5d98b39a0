// Exclusions as the entries of a ConfigMap, and as the file of the monitor that is replaced. Pure;
// used by records/exclusion_store and the command line.
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "core/model/result.h"
#include "remediator/guards/exclusions.h"

namespace gpuward::remediator {

using ConfigMapData = std::map<std::string, std::string>;

// An entry that cannot be read excludes without an end: somebody has meant something by it.
[[nodiscard]] ExclusionList decode_exclusions(const ConfigMapData& data);
[[nodiscard]] ConfigMapData encode_exclusions(const ExclusionList& list);

// `{"i-0123": {"node_name", "error_type", "start_time": epoch seconds, "timeout": seconds,
// "readable_time", "expires_at"}}`; what says no time-out lasts 30 minutes. kInvalid with a line
// for each entry that is wrong: then nothing of it is to be taken.
[[nodiscard]] Result<ExclusionList> parse_exclusion_file(std::string_view json,
                                                         const std::string& by);

}  // namespace gpuward::remediator
