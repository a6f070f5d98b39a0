// Kernel records that came to Loki in several lines, put together again, each node's for itself: as
// the exporter does it for a text log. Used by sources/loki_source.
#pragma once

#include <map>
#include <string>

#include "core/xid/joiner.h"
#include "remediator/sources/loki_api.h"

namespace gpuward::remediator {

// A copy is a point to go back to. One thread.
class SplitRecords {
 public:
  // Call once with each line, by time: it comes back as itself, or, where it completes a record of
  // several lines, as that record. Bounded: the heads of too many nodes are forgotten.
  [[nodiscard]] LogLine push(LogLine line, const std::string& node_label);

 private:
  std::map<std::string, xid::RecordJoiner> open_;  // by node; only where a record has begun
};

}  // namespace gpuward::remediator
