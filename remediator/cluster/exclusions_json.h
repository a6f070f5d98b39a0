// Exclusions as the entries of a ConfigMap, and as the file of the monitor that gpuward replaces.
// Pure; used by cluster/exclusion_store and the command line.
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "core/model/result.h"
#include "remediator/cluster/exclusions.h"

namespace gpuward::remediator {

using ConfigMapData = std::map<std::string, std::string>;

// Reads the exclusions. An entry that cannot be parsed excludes without an end, because its author
// meant to exclude a node.
[[nodiscard]] ExclusionList decode_exclusions(const ConfigMapData& data);
[[nodiscard]] ConfigMapData encode_exclusions(const ExclusionList& list);

// Reads `{"i-0123": {"node_name", "error_type", "start_time": epoch seconds, "timeout": seconds,
// "readable_time", "expires_at"}}`; an entry without a timeout lasts 30 minutes. kInvalid, with a
// line for each faulty entry, if any is faulty: the caller then imports none.
[[nodiscard]] Result<ExclusionList> parse_exclusion_file(std::string_view json,
                                                         const std::string& by);

}  // namespace gpuward::remediator
