// The position up to which the logs were read, in a ConfigMap of the cluster, so that the next
// process continues from there. Writes use compare-and-set: if two replicas believe that they lead,
// one of them fails. Used by inbox/sources/loki_source.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "core/kube/api.h"

namespace gpuward::remediator {

// Nanoseconds since 1970, by feed name.
using LogPositions = std::map<std::string, std::int64_t>;

// One thread.
class LogCursor {
 public:
  // `api` must outlive it.
  LogCursor(kube::Api& api, std::string ns) : api_(api), ns_(std::move(ns)) {}

  // Returns the positions; empty if no logs were ever read. Skips entries that are not numbers.
  [[nodiscard]] Result<LogPositions> load();
  // Writes the positions. Returns kConflict if another process has written them since load(); the
  // caller loads again.
  [[nodiscard]] Status save(const LogPositions& positions);

 private:
  kube::Api& api_;
  std::string ns_;
  kube::ConfigMap stored_;
};

inline constexpr const char* kLogCursorName = "gpuward-log-cursor";

}  // namespace gpuward::remediator
