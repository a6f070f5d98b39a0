// The exclusions in the API server: one ConfigMap with an entry for each, replaced by
// compare-and-set. Without the ConfigMap no node is excluded. Used by the reconciler, the metrics
// and the command line.
#pragma once

#include <chrono>
#include <functional>
#include <mutex>
#include <optional>
#include <string>

#include "core/kube/api.h"
#include "core/runtime/clock.h"
#include "remediator/cluster/exclusions.h"
#include "remediator/cluster/gates/joint_read.h"

namespace gpuward::remediator {

inline constexpr const char* kExclusionMap = "gpuward-exclusions";

// Reads and changes the exclusions. Thread-safe.
class ExclusionStore {
 public:
  // Returns the next list for the present list, or the reason why nothing changes. The store may
  // call it several times.
  using Change = std::function<Result<ExclusionList>(ExclusionList)>;

  // `api` and `clock` must outlive it.
  ExclusionStore(kube::Api& api, std::string ns, Clock& clock);

  // Returns the list from the API server, or a list that was read at most `max_age` ago. Concurrent
  // callers share a read. If the ConfigMap was deleted, the store creates it again with the last
  // list, and returns an error if that fails. The list may have expired entries.
  [[nodiscard]] Result<ExclusionList> read(std::chrono::milliseconds max_age = {});
  // Changes the list, and removes expired entries. Returns kConflict if other writers were faster
  // five times.
  [[nodiscard]] Status change(const Change& change);
  // Returns the last list without expired entries. Sends no request.
  [[nodiscard]] ExclusionList last() const;

 private:
  [[nodiscard]] Status load();
  [[nodiscard]] Result<kube::ConfigMap> restore();
  [[nodiscard]] Status change_once(const Change& change);

  kube::Api& api_;
  const std::string ns_;
  Clock& clock_;
  JointRead reads_;
  mutable std::mutex mutex_;
  ExclusionList list_;
  std::optional<Clock::Steady> read_at_;
};

}  // namespace gpuward::remediator
