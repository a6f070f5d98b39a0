// Whether anything beside a line of the kernel log says that a finding of that log is true. A line
// may taint and cordon. No more is done to a node unless a reading of the driver or of the bus, the
// driver's own event, or a record that the kernel marks with its device says so too. The same holds
// for a line that says that all is well again. Pure; used after each reading of the GPUs.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "core/model/check_result.h"
#include "core/xid/event.h"
#include "exporter/checks/check/finding_codes.h"
#include "exporter/checks/rules/gpu_rules.h"

namespace gpuward::exporter {

// What may stand beside a line of one kind and code, beyond what may beside every line: the
// driver's event of the same Xid, and a reading of the same GPU that by itself is as severe.
struct Witnesses {
  xid::Kind kind = xid::Kind::kXid;
  std::vector<std::string_view> codes;    // empty: all of the kind
  std::vector<Code> readings;             // of the same GPU, or of the node as a whole
  std::vector<xid::Kind> marked_records;  // of the same GPU, with its device beside the text
  std::string_view why;                   // and where that is said
};
[[nodiscard]] std::span<const Witnesses> witness_table();
// nullptr: none but what may stand beside every line.
[[nodiscard]] const Witnesses* find_witnesses(std::string_view check, std::string_view code);

// Of the findings of the kernel log that nothing has confirmed yet: what does now. `measured` is
// what this reading has found.
[[nodiscard]] std::vector<Witnessed> witnessed_findings(const GpuRuleInput& input,
                                                        std::span<const Finding> measured);

// Of the GPUs that the driver has reset by its own word: those that it has read since without a
// fault.
[[nodiscard]] std::vector<Recovered> recovered_gpus(const GpuRuleInput& input);

}  // namespace gpuward::exporter
