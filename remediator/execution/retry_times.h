// When a Remediation is tried again after a look at it has failed. Each has a back-off of its own:
// one that always fails delays no other one of its node. Used by the controller.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "core/model/result.h"
#include "core/runtime/backoff.h"
#include "core/runtime/clock.h"
#include "remediator/policy/policy.h"
#include "remediator/records/view_queries.h"

namespace gpuward::remediator {

// Any thread. Remembers only Remediations whose last look has failed.
class RetryTimes {
 public:
  // The state that a look was made at. A look at another state is due at once.
  struct Seen {
    KnownVersions versions;
    std::shared_ptr<const Policy> policy;

    friend bool operator==(const Seen&, const Seen&) = default;
  };

  explicit RetryTimes(Clock& clock, std::uint64_t jitter_seed = 0)
      : clock_(clock), jitter_seed_(jitter_seed) {}

  // How long the Remediation of that name waits still; nullopt: it may be tried now.
  [[nodiscard]] std::optional<std::chrono::milliseconds> wait_of(const std::string& name,
                                                                 const Seen& seen) const;
  // A look has failed so. The wait until the next one: from 20 ms to 30 s, or 5 min after an answer
  // that stays the same until an operator changes RBAC or the object.
  [[nodiscard]] std::chrono::milliseconds note_failure(const std::string& name, Seen seen,
                                                       ErrorKind kind);
  // A look has succeeded, or the Remediation is closed or gone.
  void forget(const std::string& name);

 private:
  struct Failed {
    Backoff backoff;
    Clock::Steady due;
    Seen seen;
  };

  Clock& clock_;
  const std::uint64_t jitter_seed_;
  mutable std::mutex mutex_;
  std::map<std::string, Failed> failed_;
};

}  // namespace gpuward::remediator
