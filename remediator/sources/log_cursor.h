// How far the logs were read, kept in a ConfigMap of the cluster, so that the next process
// continues from there. Written by compare-and-set: if two replicas believe that they lead, one
// fails.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "core/kube/api.h"

namespace gpuward::remediator {

// By feed name; nanoseconds since 1970.
using LogPositions = std::map<std::string, std::int64_t>;

// One thread.
class LogCursor {
 public:
  // `api` must outlive it.
  LogCursor(kube::Api& api, std::string ns) : api_(api), ns_(std::move(ns)) {}

  // Empty if no logs were ever read. Skips entries that are not numbers.
  [[nodiscard]] Result<LogPositions> load();
  // kConflict: another process has written it since load(); load again.
  [[nodiscard]] Status save(const LogPositions& positions);

 private:
  kube::Api& api_;
  std::string ns_;
  kube::ConfigMap stored_;
};

inline constexpr const char* kLogCursorName = "gpuward-log-cursor";

}  // namespace gpuward::remediator
