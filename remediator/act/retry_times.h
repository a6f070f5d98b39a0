// When the controller tries a Remediation again after a failure. Each Remediation has its own
// back-off, so that a Remediation that always fails does not delay other Remediations of its node.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "core/model/result.h"
#include "core/runtime/backoff.h"
#include "core/runtime/clock.h"
#include "remediator/cluster/view_queries.h"

namespace gpuward::remediator {

// Keeps only Remediations with a failed last check. Thread-safe.
class RetryTimes {
 public:
  explicit RetryTimes(Clock& clock, std::uint64_t jitter_seed = 0)
      : clock_(clock), jitter_seed_(jitter_seed) {}

  // Returns how long the Remediation still waits; nullopt if it may be tried now. A change of the
  // Remediation or the Node since the failure ends the wait.
  [[nodiscard]] std::optional<std::chrono::milliseconds> wait_of(const std::string& node,
                                                                 const std::string& name,
                                                                 const KnownVersions& seen) const;
  // Notes a failed check of these versions. Returns the wait until the next check: from 20 ms to 30
  // s, or 5 min if the answer stays the same until an operator changes RBAC or the object.
  [[nodiscard]] std::chrono::milliseconds note_failure(const std::string& node,
                                                       const std::string& name, KnownVersions seen,
                                                       ErrorKind kind);
  // Notes a successful check of the Remediation.
  void forget(const std::string& node, const std::string& name);
  // Forgets all Remediations of the node that are not in `open`.
  void forget_all_but(const std::string& node, const std::vector<std::string>& open);
  // Lets all Remediations be tried now, with their back-off kept. Called in the slow round, and
  // after a change of the policy.
  void allow_all();

 private:
  struct Failed {
    Backoff backoff;
    Clock::Steady due;
    KnownVersions seen;
  };

  Clock& clock_;
  const std::uint64_t jitter_seed_;
  mutable std::mutex mutex_;
  // By node and by name of the Remediation.
  std::map<std::string, std::map<std::string, Failed>> failed_;
};

}  // namespace gpuward::remediator
