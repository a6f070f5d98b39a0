// What the parts of the reconciler hand each other about one Remediation. For reconciler.cpp and
// reconciler_acts.cpp alone.
#pragma once

#include <memory>
#include <optional>

#include "remediator/workflow/decide.h"
#include "remediator/workflow/reconciler.h"

namespace gpuward::remediator {

struct Reconciler::Case {
  Remediation remediation;
  std::optional<kube::Node> node;
  kube::Node target;  // the node, or what is remembered of it where it is gone or another one
  std::shared_ptr<const Policy> policy;
  Decision decision = {};
  std::optional<HandsOff> excluded = {};
  // Others went bad at the same moment and are not tainted yet: what is only good to know of this
  // one waits for them.
  bool is_in_storm = false;
  std::optional<HealthReport> report = {};  // where the decision asked for it
  bool has_asked_slot = false;
  bool is_remembered = false;  // out of the view, which may lag behind
};

}  // namespace gpuward::remediator
