// The class of an error in the terms of the monitor that gpuward replaces (XID_CRITICAL_79,
// ECC_ERROR, GPU_HEALTH_ERROR, ...), by which receivers of notifications and CloudWatch know
// errors. Pure; used by the sources, which keep it with the evidence.
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "core/model/severity.h"

namespace gpuward::remediator {

// Returns the class of an alert or a finding with these labels and this severity. The Xid is that
// of the label `xid`, `err_code` (dcgm-exporter) or, with check xid, `code`. An Xid alert without
// any of them is XID_ERROR. A finding of the exporter has its class from `check` and `code`.
[[nodiscard]] std::string error_class_of(const std::map<std::string, std::string>& labels,
                                         Severity severity);

// Whether class `a` says less about the node than `b`. A critical Xid says most; HEALTHY and no
// class at all say least.
[[nodiscard]] bool is_milder_class(std::string_view a, std::string_view b);

}  // namespace gpuward::remediator
