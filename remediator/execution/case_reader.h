// Reads what a decision is about: out of the view, which may lag behind, or from the API server.
// Used by the Reconciler, and by permits that have found the view old.
#pragma once

#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>

#include "remediator/execution/case.h"
#include "remediator/execution/reconciler_parts.h"

namespace gpuward::remediator {

// Any thread.
class CaseReader {
 public:
  explicit CaseReader(const ReconcilerParts& parts) : parts_(parts) {}

  // As it was last seen; nullopt where that is not enough to decide anything.
  [[nodiscard]] std::optional<Case> recall(const std::string& name,
                                           std::shared_ptr<const Policy> policy);
  // As it is now; nullopt: the Remediation is gone. Of a closed one the Node is not read.
  [[nodiscard]] Result<std::optional<FreshCase>> read(const std::string& name,
                                                      std::shared_ptr<const Policy> policy);
  // The view was not enough, or a failure may come of its being old: the next look is at what is
  // true.
  void distrust(const std::string& name);
  [[nodiscard]] bool is_distrusted(const std::string& name);
  // The next look may be at the view again.
  void trust(const std::string& name);

 private:
  [[nodiscard]] Status look_up_named(const kube::Node& node, const std::string& reading);
  [[nodiscard]] Status look_up_exclusion(Case& now, std::chrono::milliseconds max_age);

  const ReconcilerParts& parts_;
  std::mutex mutex_;
  std::set<std::string> distrusted_;  // Remediations
};

}  // namespace gpuward::remediator
