// One Remediation with its Node and the policy for it, as the loop hands it on: read, decided,
// carried out, recorded. What it rests on is its type: a Case may be what the informers told last,
// which is enough for taint, cordon and records; a FreshCase was read from the API server for this
// decision: without one no step is begun and no node returns to service. What a step that has begun
// sends later, StepPermits allows call by call.
#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>

#include "core/kube/objects.h"
#include "remediator/decision/decide.h"
#include "remediator/guards/exclusions.h"
#include "remediator/model/health_report.h"
#include "remediator/model/remediation.h"
#include "remediator/policy/policy.h"

namespace gpuward::remediator {

// How soon a node that waits for others which went bad with it is looked at again.
inline constexpr std::chrono::milliseconds kStormInterval{300};

// How long a node that went bad at the same moment may take to be marked.
inline constexpr std::chrono::milliseconds kMarksFirst{30'000};

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

struct Case {
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
};

// Made by CaseReader alone.
class FreshCase {
 public:
  [[nodiscard]] Case& operator*() { return case_; }
  [[nodiscard]] Case* operator->() { return &case_; }

 private:
  friend class CaseReader;
  explicit FreshCase(Case read) : case_(std::move(read)) {}

  Case case_;
};

[[nodiscard]] inline Case& case_in(Case& now) { return now; }
[[nodiscard]] inline Case& case_in(FreshCase& now) { return *now; }

}  // namespace gpuward::remediator
