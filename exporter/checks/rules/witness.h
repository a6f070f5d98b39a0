// Whether a second source confirms a finding of the kernel log. A line alone may taint and cordon.
// Any further action on the node needs a reading of the driver or of the bus, the driver's own
// event, or a record that the kernel marks with its device. The same holds for a line that says
// that a fault is over. A line that was old when it was first read justifies nothing until a
// reading that is severe by itself confirms it. Pure; used after each reading.
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
  std::vector<std::string_view> codes;    // empty: all codes of the kind
  std::vector<Code> readings;             // of the same GPU, or of the node as a whole
  std::vector<xid::Kind> marked_records;  // of the same GPU, with its device beside the text
  std::string_view why;                   // the reason, with its source
  bool by_bus = false;                    // the PCI bus alone is enough
};
[[nodiscard]] std::span<const Witnesses> witness_table();
// nullptr: only the two that count for every line.
[[nodiscard]] const Witnesses* find_witnesses(std::string_view check, std::string_view code);

// Returns a witness for each finding of the kernel log that had none for its severity. `measured`:
// the findings of this reading.
[[nodiscard]] std::vector<Witnessed> witnessed_findings(const GpuRuleInput& input,
                                                        std::span<const Finding> measured);

// Returns the GPUs with a successful reset in the driver's log and a healthy reading after it.
[[nodiscard]] std::vector<Recovered> recovered_gpus(const GpuRuleInput& input);

// Returns the AMD GPUs that have uncorrectable errors by the kernel log, but whose counters have
// all been read since and are within the operator's thresholds.
[[nodiscard]] std::vector<AllowedErrors> allowed_errors(const GpuRuleInput& input);

}  // namespace gpuward::exporter
