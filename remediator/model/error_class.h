// The class of an error in the terms of the monitor that gpuward replaces (XID_CRITICAL_79,
// ECC_ERROR, GPU_HEALTH_ERROR, ...). Receivers of notifications and CloudWatch use these classes.
// Pure; used by the sources, which keep the class with the evidence.
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "core/model/severity.h"

namespace gpuward::remediator {

// Returns the class of an alert or a finding with these labels and this severity. The Xid is in the
// label `xid`, in `err_code` (dcgm-exporter) or, for check xid, in `code`. An Xid alert without any
// of these labels is XID_ERROR. The class of an exporter's finding follows from `check` and `code`.
[[nodiscard]] std::string error_class_of(const std::map<std::string, std::string>& labels,
                                         Severity severity);

// Returns whether class `a` says less about the node than `b`. A critical Xid says most; HEALTHY
// and an empty class say least.
[[nodiscard]] bool is_milder_class(std::string_view a, std::string_view b);

}  // namespace gpuward::remediator
