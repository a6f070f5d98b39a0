// What the exporter would like its node to say, from what the store knows: pure, so that each rule
// of who may be tainted is a unit test. Made by the node publisher for each change of the store.
//
// A check that could not tell, or has not run since the start, sets nothing and takes nothing away:
// with an error among the checks a node never passes, and its taint stays as it is unless something
// else is found to be broken.
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
  kUnknown,  // no check has concluded anything: what the node says stays
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
  // Whether every check could tell: only then does anything that says "broken" go.
  bool could_tell = false;
  // The driver or a quick check has given no answer since the start: the exporter writes only that
  // the node is broken.
  bool is_starting = false;
  // Every check was skipped: a label that says `pass` or `warn` no longer rests on anything.
  bool is_withdrawn = false;
  std::vector<CheckLine> checks;  // by name
  std::string instance_type;
  // GPUProblem: "True", "False" or "Unknown", with its reason and message (at most 1 KiB); empty:
  // the node keeps what it says.
  std::string condition, reason, message;
  // AMD's GPUs of which that is known, by their index: whether they are healthy.
  std::map<std::string, bool> amd_gpus_healthy;
  std::vector<NodeFinding> findings;  // few, the worst first
  // nullopt: the cloud was not asked yet, and what the node says stays.
  std::optional<std::vector<NodeAnnouncement>> announcements;
  WallTime last_diagnostic_pass;  // of DCGM; the epoch where there was none
  WallTime last_check;            // when the newest result was there; likewise
};

[[nodiscard]] NodeWish wish_of(const Snapshot& snapshot,
                               UntoldNode untold_node = UntoldNode::kWarns);

// Whether they differ in more than times and the findings by themselves.
[[nodiscard]] bool differ_in_substance(const NodeWish& a, const NodeWish& b);

}  // namespace gpuward::exporter
