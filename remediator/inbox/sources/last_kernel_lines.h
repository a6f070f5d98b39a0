// Reads the last lines in Loki of a silent node's kernel log, from the minutes before the silence.
// Used by inbox/sources/silent_source.
#pragma once

#include <string>

#include "core/runtime/clock.h"
#include "remediator/inbox/sources/last_known.h"
#include "remediator/inbox/sources/loki_api.h"
#include "remediator/policy/current_policy.h"

namespace gpuward::remediator {

class LastKernelLines final : public LastKnown {
 public:
  // The arguments must outlive this object.
  LastKernelLines(LokiPlace place, http::Client& http, const CurrentPolicy& policy, Clock& clock)
      : loki_(std::move(place), http), policy_(policy), clock_(clock) {}
  [[nodiscard]] Result<std::string> of(const NodeSign& node) override;

 private:
  LokiApi loki_;
  const CurrentPolicy& policy_;
  Clock& clock_;
};

}  // namespace gpuward::remediator
