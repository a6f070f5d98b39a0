// Whether the API server guards approvals now (manifests/remediator-admission.yaml): no user can
// approve in another's name, and gpuward's own accounts cannot set the annotations of operators.
// Unless it does, gpuward neither requests nor accepts an approval. Used by the reconciler.
#pragma once

#include <chrono>
#include <string_view>

#include "core/model/result.h"

namespace gpuward::remediator {

// The messages of the two admission policies begin with these words; tests compare the manifest.
inline constexpr std::string_view kOwnNameRefusal = "an approval is given under one's own name";
inline constexpr std::string_view kOperatorsRefusal = "this account may not change the annotations";

class ApprovalGuard {
 public:
  virtual ~ApprovalGuard() = default;
  // Returns success if approvals are guarded, by a check at most `max_age` old. Returns kRefused if
  // they are not guarded; after any other error the state is unknown. Thread-safe.
  [[nodiscard]] virtual Status check(std::chrono::milliseconds max_age) = 0;
};

}  // namespace gpuward::remediator
