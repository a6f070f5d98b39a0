// Lines of a log to alert signals: what the kernel says by the Xid catalogue, what pods say by the
// rules of the policy. Below severity reset a line asks for nothing: harmless SXids and the Xids of
// programs are lines like any other. Pure; used by sources/loki_source.
#pragma once

#include <optional>
#include <string_view>

#include "core/xid/catalogue.h"
#include "remediator/model/evidence.h"
#include "remediator/policy/loki_rules.h"
#include "remediator/sources/loki_api.h"

namespace gpuward::remediator {

// Nullopt: nothing to do, or no valid node in `node_label`. Always foreign: what a log service
// hands on is nobody's measurement.
[[nodiscard]] std::optional<AlertSignal> signal_of_kernel_line(const LogLine& line,
                                                               const xid::Catalogue& catalogue,
                                                               const LokiRules& rules);
// Whether a kernel line may say something of a GPU that the catalogue has no word for: an event of
// an unknown code, or no event at all and no detail of another one.
[[nodiscard]] bool is_unknown_kernel_line(const LogLine& line, const xid::Catalogue& catalogue);
[[nodiscard]] std::optional<AlertSignal> signal_of_pod_line(const LogLine& line,
                                                            const LokiRules& rules);

}  // namespace gpuward::remediator
