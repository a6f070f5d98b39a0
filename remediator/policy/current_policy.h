// Holds the policy in force, and replaces it as a whole when its file changes. Each decision reads
// the policy once, so that it uses one policy from start to end. Thread-safe.
#pragma once

#include <memory>
#include <mutex>
#include <utility>

#include "remediator/policy/policy.h"

namespace gpuward::remediator {

class CurrentPolicy {
 public:
  explicit CurrentPolicy(Policy policy)
      : policy_(std::make_shared<const Policy>(std::move(policy))) {}

  [[nodiscard]] std::shared_ptr<const Policy> get() const {
    const std::lock_guard lock(mutex_);
    return policy_;
  }
  void set(Policy policy) {
    auto next = std::make_shared<const Policy>(std::move(policy));
    const std::lock_guard lock(mutex_);
    policy_ = std::move(next);
  }

 private:
  mutable std::mutex mutex_;
  std::shared_ptr<const Policy> policy_;
};

}  // namespace gpuward::remediator
