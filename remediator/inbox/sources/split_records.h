// Joins kernel records that came to Loki in several lines, for each node separately. The exporter
// does the same for a text log. Used by inbox/sources/loki_source.
#pragma once

#include <map>
#include <string>

#include "core/xid/joiner.h"
#include "remediator/inbox/sources/loki_api.h"

namespace gpuward::remediator {

// Joins lines. A copy of the object can restore an earlier state. One thread.
class SplitRecords {
 public:
  // Returns the line itself or, if the line completes a record of several lines, the whole record.
  // The caller passes each line once, in order of time. Bounded: with too many open records, all of
  // them are dropped.
  [[nodiscard]] LogLine push(LogLine line, const std::string& node_label);

 private:
  std::map<std::string, xid::RecordJoiner> open_;  // Open records by node.
};

}  // namespace gpuward::remediator
