// The findings of an exporter: it writes them on its Node, the remediator reads them there, for
// operators and for the language model that explains numbers which no table lists. No decision is
// based on them. Pure.
#pragma once

#include <chrono>
#include <string>
#include <string_view>
#include <vector>

#include "core/kube/objects.h"

namespace gpuward {

// JSON: [{"check": "xid", "code": "79", "severity": "reboot", "gpu": "3", ...}], the worst first.
inline constexpr std::string_view kFindingsAnnotation = "gpuward.dev/findings";
inline constexpr std::size_t kMostNodeFindings = 8;

struct NodeFinding {
  std::string check = {}, code = {};  // "xid", "79"
  std::string severity = {};          // "monitor", "reset", "reboot", "isolate"
  // The driver's index, the PCI address and the board's serial number; empty if the finding is
  // about the node as a whole, or if they are unknown.
  std::string gpu = {}, pci_bus_id = {}, serial = {};
  std::string workload = {};  // users of the GPU: `namespace/pod`, several with commas
  std::string meaning = {};
  std::string line = {};  // of the kernel, or the reading of the check
  // The second source besides a line of the kernel log, or "measured"; empty: only that line.
  std::string witness = {};
  kube::WallTime first_seen, last_seen;
  bool is_unknown = false;  // a line of the kernel itself with a number that no table lists

  friend bool operator==(const NodeFinding&, const NodeFinding&) = default;
};

// Lines, meanings and users are cut at 500 bytes and the other texts at 64: some 10 KiB for eight
// findings, 16 KiB if JSON has to escape all of their text.
[[nodiscard]] std::string node_findings_text(const std::vector<NodeFinding>& findings);
// Omits entries that it cannot read, and all after the first eight.
[[nodiscard]] std::vector<NodeFinding> node_findings_of(const kube::Node& node);

// For operators: "xid 79 on GPU 3 (0000:4e:00)".
[[nodiscard]] std::string summary_of(const NodeFinding& finding);

}  // namespace gpuward
