// The class of an error in the words of the monitor that gpuward replaces (XID_CRITICAL_79,
// ECC_ERROR, GPU_HEALTH_ERROR, ...): receivers of notifications and CloudWatch know errors by it.
// Pure; used by the sources, which keep it with the evidence.
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "core/model/severity.h"

namespace gpuward::remediator {

// The class of an alert or a finding with these labels and this severity. The Xid is that of the
// label `xid`, `err_code` (dcgm-exporter) or, with check xid, `code`. An Xid alert without any of
// them is XID_ERROR. A finding of the exporter has its class from `check` and `code`.
[[nodiscard]] std::string error_class_of(const std::map<std::string, std::string>& labels,
                                         Severity severity);

// Which of two classes says more of the node: an Xid that is critical most, HEALTHY and no class at
// all least. True where `a` says less than `b`.
[[nodiscard]] bool is_milder_class(std::string_view a, std::string_view b);

}  // namespace gpuward::remediator
