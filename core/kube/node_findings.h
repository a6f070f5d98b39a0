// What an exporter has found, as it writes it on its Node, and the remediator reads it there: for
// people, and for the language model that is asked about numbers which no table has. Nothing is
// decided on it. Pure.
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
  // The driver's index, where it is, and the board's number; empty where the finding is about the
  // node as a whole, or where they are not known.
  std::string gpu = {}, pci_bus_id = {}, serial = {};
  std::string workload = {};  // who used the GPU: `namespace/pod`, several with commas
  std::string meaning = {};
  std::string line = {};  // of the kernel, or what the check has read
  // What says so beside a line of the kernel log, or "measured"; empty: that line alone.
  std::string witness = {};
  kube::WallTime first_seen, last_seen;
  bool is_unknown = false;  // a line of the kernel itself with a number that no table has

  friend bool operator==(const NodeFinding&, const NodeFinding&) = default;
};

// Lines, meanings and users are cut at 500 bytes and the other texts at 64: some 10 KiB for eight
// findings, 16 KiB where JSON has to escape all that they say.
[[nodiscard]] std::string node_findings_text(const std::vector<NodeFinding>& findings);
// What cannot be read is left out, and so is what comes after the first eight.
[[nodiscard]] std::vector<NodeFinding> node_findings_of(const kube::Node& node);

// For people: "xid 79 on GPU 3 (0000:4e:00)".
[[nodiscard]] std::string summary_of(const NodeFinding& finding);

}  // namespace gpuward
