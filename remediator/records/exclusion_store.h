// The exclusions in the API server: one ConfigMap with an entry for each, replaced by
// compare-and-set. Where there is none, nobody is excluded. Used by the reconciler, the metrics and
// the command line.
#pragma once

#include <chrono>
#include <functional>
#include <mutex>
#include <optional>
#include <string>

#include "core/kube/api.h"
#include "core/runtime/clock.h"
#include "remediator/gates/joint_read.h"
#include "remediator/guards/exclusions.h"

namespace gpuward::remediator {

inline constexpr const char* kExclusionMap = "gpuward-exclusions";

// Any thread.
class ExclusionStore {
 public:
  // The next list from the one that stands, or why nothing is to change. May be called again.
  using Change = std::function<Result<ExclusionList>(ExclusionList)>;

  // `api` and `clock` must outlive it.
  ExclusionStore(kube::Api& api, std::string ns, Clock& clock);

  // As it is in the API server, where it is made again with what was last read if somebody has
  // deleted it (an error where that fails), or was at most `max_age` ago; those who ask at once
  // share a read. Expired entries may be in it.
  [[nodiscard]] Result<ExclusionList> read(std::chrono::milliseconds max_age = {});
  // What has expired goes with any change. kConflict: others were quicker five times.
  [[nodiscard]] Status change(const Change& change);
  // As it was last read, without what has expired since; costs no request.
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
