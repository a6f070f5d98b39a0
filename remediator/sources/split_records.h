// Joins kernel records that came to Loki in several lines, for each node by itself, as the exporter
// does for a text log. Used by sources/loki_source.
#pragma once

#include <map>
#include <string>

#include "core/xid/joiner.h"
#include "remediator/sources/loki_api.h"

namespace gpuward::remediator {

// A copy is a state to return to. One thread.
class SplitRecords {
 public:
  // Call once with each line, in order of time: it returns the line itself or, if the line
  // completes a record of several lines, that record. Bounded: with too many open records, all are
  // forgotten.
  [[nodiscard]] LogLine push(LogLine line, const std::string& node_label);

 private:
  std::map<std::string, xid::RecordJoiner> open_;  // by node; only open records
};

}  // namespace gpuward::remediator
