// When a Remediation is tried again after a failure. Each has a back-off of its own: one that
// always fails does not delay the others of its node. Used by the controller.
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
#include "remediator/records/view_queries.h"

namespace gpuward::remediator {

// Thread-safe. Keeps only Remediations whose last check has failed.
class RetryTimes {
 public:
  explicit RetryTimes(Clock& clock, std::uint64_t jitter_seed = 0)
      : clock_(clock), jitter_seed_(jitter_seed) {}

  // Returns how long that Remediation of the node still waits; nullopt: it may be tried now,
  // perhaps because it or the Node has changed since the failure.
  [[nodiscard]] std::optional<std::chrono::milliseconds> wait_of(const std::string& node,
                                                                 const std::string& name,
                                                                 const KnownVersions& seen) const;
  // A check of those versions has failed. Returns the wait until the next one: from 20 ms to 30 s,
  // or 5 min after an answer that stays the same until an operator changes RBAC or the object.
  [[nodiscard]] std::chrono::milliseconds note_failure(const std::string& node,
                                                       const std::string& name, KnownVersions seen,
                                                       ErrorKind kind);
  // A check of it has succeeded.
  void forget(const std::string& node, const std::string& name);
  // Only these Remediations of the node are open; forgets the others.
  void forget_all_but(const std::string& node, const std::vector<std::string>& open);
  // For the slow round, and after a change of the policy: all may be tried now, with their
  // back-off.
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
  std::map<std::string, std::map<std::string, Failed>> failed_;  // by node and name
};

}  // namespace gpuward::remediator
