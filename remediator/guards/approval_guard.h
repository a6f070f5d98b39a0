// Whether the API server guards approvals now (manifests/remediator-admission.yaml): that nobody
// approves in another's name, and that gpuward's own accounts say nothing that operators say. No
// approval is asked for or believed unless it does. Asked by the reconciler.
#pragma once

#include <chrono>
#include <string_view>

#include "core/model/result.h"

namespace gpuward::remediator {

// How the two policies begin what they refuse with; tests hold the manifest to it.
inline constexpr std::string_view kOwnNameRefusal = "an approval is given under one's own name";
inline constexpr std::string_view kOperatorsRefusal = "this account may not change the annotations";

class ApprovalGuard {
 public:
  virtual ~ApprovalGuard() = default;
  // Any thread. A value: approvals are guarded, as was seen at most `max_age` ago. kRefused: they
  // are not. Any other error: that is not known.
  [[nodiscard]] virtual Status check(std::chrono::milliseconds max_age) = 0;
};

}  // namespace gpuward::remediator
