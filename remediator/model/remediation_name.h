// The name of a Remediation. It follows from node, node UID and count, so that two replicas that
// open one for the same node at the same moment collide in the API server (AlreadyExists). Pure.
#pragma once

#include <string>
#include <string_view>

namespace gpuward::remediator {

// `<node>-<10 hex of the UID>-<n>`: a valid resource name whatever the node's length.
[[nodiscard]] std::string remediation_name(std::string_view node, std::string_view node_uid, int n);

// Returns the count in such a name; 0 if it has none.
[[nodiscard]] int count_in(std::string_view name);

// Returns the text if it is a valid label value (63 bytes at most), else a hash of it.
[[nodiscard]] std::string to_label_value(std::string_view text);

}  // namespace gpuward::remediator
