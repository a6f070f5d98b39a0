// What the parts of the reconciler hand each other about one Remediation. For the files
// reconciler*.cpp alone.
#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <string_view>

#include "remediator/workflow/decide.h"
#include "remediator/workflow/reconciler.h"

namespace gpuward::remediator {

// How soon a node that waits for others which went bad with it is looked at again.
inline constexpr std::chrono::milliseconds kStormInterval{300};

// The API server says no and will say no again until somebody changes something.
inline bool is_permanent(ErrorKind kind) {
  return kind == ErrorKind::kForbidden || kind == ErrorKind::kInvalid ||
         kind == ErrorKind::kRefused;
}

// Of those verdicts that change the node in one write; empty for the others.
inline std::string_view action_of(Verdict verdict) {
  if (verdict == Verdict::kQuarantine) return "quarantine";
  if (verdict == Verdict::kRelease) return "release";
  return {};
}

struct Reconciler::Case {
  Remediation remediation;
  std::optional<kube::Node> node;
  kube::Node target;  // the node, or what is remembered of it where it is gone or another one
  std::shared_ptr<const Policy> policy;
  Decision decision = {};
  std::optional<HandsOff> excluded = {};
  // Of others that went bad at the same moment, as this one did: their marks come before what was
  // done here is written down, that before what is only good to know of this one.
  bool are_others_unmarked = false, are_others_unrecorded = false;
  std::optional<HealthReport> report = {};  // where the decision asked for it
  bool has_asked_slot = false;
  bool is_remembered = false;  // out of the view, which may lag behind
};

}  // namespace gpuward::remediator
