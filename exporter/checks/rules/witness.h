// Whether anything beside a line of the kernel log says that a finding of that log is true. A line
// may taint and cordon. No more is done to a node unless a reading of the driver or of the bus, the
// driver's own event, or a record that the kernel marks with its device says so too. The same holds
// for a line that says that all is well again. A line that was old when it was first read justifies
// nothing until a reading that is severe by itself confirms it. Pure; used after each reading.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "core/model/check_result.h"
#include "core/xid/event.h"
#include "exporter/checks/check/finding_codes.h"
#include "exporter/checks/rules/gpu_rules.h"

namespace gpuward::exporter {

// The witnesses for lines of one kind and code. Two more count for every line: the driver's event
// of the same Xid, and a reading of the same GPU that by itself is as severe.
struct Witnesses {
  xid::Kind kind = xid::Kind::kXid;
  std::vector<std::string_view> codes;    // empty: all of the kind
  std::vector<Code> readings;             // of the same GPU, or of the node as a whole
  std::vector<xid::Kind> marked_records;  // of the same GPU, with its device beside the text
  std::string_view why;                   // with its source
  bool by_bus = false;                    // the PCI bus alone is enough
};
[[nodiscard]] std::span<const Witnesses> witness_table();
// nullptr: only the two that count for every line.
[[nodiscard]] const Witnesses* find_witnesses(std::string_view check, std::string_view code);

// Confirms findings of the kernel log that have had no witness for their severity. `measured`: the
// findings of this reading.
[[nodiscard]] std::vector<Witnessed> witnessed_findings(const GpuRuleInput& input,
                                                        std::span<const Finding> measured);

// The GPUs that the driver says it has reset, and has read since without a fault.
[[nodiscard]] std::vector<Recovered> recovered_gpus(const GpuRuleInput& input);

// The AMD GPUs that the kernel log says have uncorrectable errors, and of which every counter has
// been read since: no more than the thresholds that the operator has set allow.
[[nodiscard]] std::vector<AllowedErrors> allowed_errors(const GpuRuleInput& input);

}  // namespace gpuward::exporter
