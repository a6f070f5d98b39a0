// The annotation that the replaced suite's users read with `kubectl get node -o jsonpath`: one line
// of JSON, {timestamp, hostname, instance_type, status, severity, checks: [{check, status,
// severity}]}. Pure; used by node_change.
#pragma once

#include <string>
#include <string_view>

#include "exporter/publish/node/node_wish.h"

namespace gpuward::exporter {

// At most 8 KiB, whatever the wish holds: all annotations of an object share 256 KiB. Checks that
// do not fit are left out from the end.
[[nodiscard]] std::string results_annotation(const NodeWish& wish, std::string_view node_name);

}  // namespace gpuward::exporter
