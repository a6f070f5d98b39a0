// Turns lines of a log into alert signals: kernel lines by the Xid catalogue, pods' lines by the
// rules of the policy. A line below severity reset makes no signal, because harmless SXids and the
// Xids of programs are ordinary lines. Pure; used by inbox/sources/loki_source.
#pragma once

#include <optional>
#include <string_view>

#include "core/xid/catalogue.h"
#include "remediator/inbox/sources/loki_api.h"
#include "remediator/model/evidence.h"
#include "remediator/policy/loki_rules.h"

namespace gpuward::remediator {

// Returns the signal of a kernel line; nullopt if the line needs no action or has no valid node in
// `node_label`. The signal is always foreign, because a log service only forwards lines and no
// exporter has measured them.
[[nodiscard]] std::optional<AlertSignal> signal_of_kernel_line(const LogLine& line,
                                                               const xid::Catalogue& catalogue,
                                                               const LokiRules& rules);
// Returns whether a kernel line may be about a GPU fault that the catalogue does not know. Such a
// line is an event with an unknown code, or neither an event nor a detail of one.
[[nodiscard]] bool is_unknown_kernel_line(const LogLine& line, const xid::Catalogue& catalogue);
[[nodiscard]] std::optional<AlertSignal> signal_of_pod_line(const LogLine& line,
                                                            const LokiRules& rules);

}  // namespace gpuward::remediator
