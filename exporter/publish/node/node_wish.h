// The state that the exporter wants its Node to have, from the content of the store: pure, so that
// each rule for the taint can be unit-tested. Made by the node publisher for each change of the
// store.
//
// A check that was inconclusive, or has not run since the start, sets and removes nothing: with an
// error among the checks a node never passes, and its taint stays as it is unless another check
// finds a fault.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/kube/node_announcements.h"
#include "core/kube/node_findings.h"
#include "exporter/publish/node/node_settings.h"
#include "exporter/store/store.h"

namespace gpuward::exporter {

enum class NodeStatus : std::uint8_t {
  kUnknown,  // no check was conclusive: the Node stays as it is
  kPass,
  kWarn,
  kFail
};

// "unknown", "pass", "warn", "fail".
[[nodiscard]] constexpr std::string_view to_string(NodeStatus status) {
  constexpr std::string_view kNames[] = {"unknown", "pass", "warn", "fail"};
  return kNames[static_cast<std::size_t>(status)];
}

enum class TaintWish : std::uint8_t { kLeave, kSet, kClear };

struct CheckLine {
  std::string check;
  CheckStatus status = CheckStatus::kError;
  Severity severity = Severity::kNone;
  bool operator==(const CheckLine&) const = default;
};

struct NodeWish {
  NodeStatus status = NodeStatus::kUnknown;
  Severity severity = Severity::kNone;
  TaintWish taint = TaintWish::kLeave;
  // Every check was conclusive. Only then is anything that says "broken" removed.
  bool could_tell = false;
  // The driver or a quick check has given no answer since the start, so the exporter only writes
  // that the node is broken.
  bool is_starting = false;
  // Every check was skipped, so a label `pass` or `warn` has no basis any more.
  bool is_withdrawn = false;
  std::vector<CheckLine> checks;  // by name
  std::string instance_type;
  // GPUProblem: "True", "False" or "Unknown", with its reason and message (at most 1 KiB); empty:
  // the condition on the node stays.
  std::string condition, reason, message;
  // Whether AMD's GPUs are healthy, by index, if that is known.
  std::map<std::string, bool> amd_gpus_healthy;
  std::vector<NodeFinding> findings;  // few, the worst first
  // nullopt: the cloud was not asked yet, and the node's announcements stay.
  std::optional<std::vector<NodeAnnouncement>> announcements;
  WallTime last_diagnostic_pass;  // of DCGM; the epoch if there was none
  WallTime last_check;            // time of the newest result; the epoch if there was none
};

[[nodiscard]] NodeWish wish_of(const Snapshot& snapshot,
                               UntoldNode untold_node = UntoldNode::kWarns);

// Returns whether they differ in more than times and the list of findings.
[[nodiscard]] bool differ_in_substance(const NodeWish& a, const NodeWish& b);

}  // namespace gpuward::exporter
