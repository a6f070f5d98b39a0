#include "exporter/publish/node/node_findings.h"

#include <algorithm>
#include <tuple>

#include "core/runtime/text.h"
#include "core/xid/catalogue.h"

namespace gpuward::exporter {
namespace {

// Half of the list, so that a node with many findings still reports unknown numbers.
constexpr std::size_t kMostUnknown = kMostNodeFindings / 2;

// Only lines of the kernel itself count. A line that a program wrote must not start a question.
bool is_unknown(const Finding& finding) {
  return finding.evidence == Evidence::kKernel && finding.why == xid::kUnknownCodeWhy;
}

std::string meaning_of(const Finding& finding) {
  const auto rows = finding.check == "xid"    ? xid::xid_rows()
                    : finding.check == "sxid" ? xid::sxid_rows()
                                              : std::span<const xid::Row>();
  const auto code = parse_integer<std::uint32_t>(finding.code);
  const auto row =
      std::ranges::find_if(rows, [&](const xid::Row& one) { return one.code == code; });
  return row == rows.end() ? finding.why : std::string(row->description);
}

std::string witness_of(const Finding& finding) {
  const bool is_line = finding.evidence != Evidence::kMeasured;
  return is_line ? finding.witness_text() : std::string(to_string(finding.evidence));
}

NodeFinding node_finding(const Finding& finding, const std::vector<Gpu>& gpus) {
  NodeFinding one{.check = finding.check,
                  .code = finding.code,
                  .severity = std::string(to_string(finding.severity)),
                  .gpu = {},
                  .pci_bus_id = finding.pci_bus_id,
                  .serial = {},
                  .workload = finding.workload,
                  .meaning = meaning_of(finding),
                  .line = finding.line,
                  .witness = witness_of(finding),
                  .first_seen = finding.first_seen,
                  .last_seen = finding.last_seen,
                  .is_unknown = is_unknown(finding)};
  const auto gpu = std::ranges::find_if(gpus, [&](const Gpu& its) {
    return its.has_address() && its.pci.bus_id() == finding.pci_bus_id;
  });
  if (gpu == gpus.end()) return one;
  one.gpu = std::to_string(gpu->index);
  one.serial = gpu->serial;
  return one;
}

}  // namespace

std::vector<NodeFinding> node_findings(const Snapshot& snapshot) {
  std::vector<const Finding*> known, unknown;
  for (const auto& [key, finding] : snapshot.state.findings) {
    if (finding.severity == Severity::kNone) continue;
    (is_unknown(finding) ? unknown : known).push_back(&finding);
  }
  const auto worst_first = [](const Finding* a, const Finding* b) {
    return std::tie(a->severity, a->last_seen) > std::tie(b->severity, b->last_seen);
  };
  std::ranges::sort(known, worst_first);
  std::ranges::sort(unknown, worst_first);
  unknown.resize(std::min(unknown.size(), kMostUnknown));
  known.resize(std::min(known.size(), kMostNodeFindings - unknown.size()));
  std::vector<NodeFinding> findings;
  for (const auto* list : {&known, &unknown}) {
    for (const Finding* finding : *list) findings.push_back(node_finding(*finding, snapshot.gpus));
  }
  return findings;
}

}  // namespace gpuward::exporter
