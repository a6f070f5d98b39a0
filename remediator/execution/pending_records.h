// What this process has done to nodes and not written into their Remediations yet. In a storm all
// nodes are marked before it is written down of each (docs/decisions/0012-marks-before-records.md).
// Used by the Reconciler and the parts of it.
#pragma once

#include <map>
#include <mutex>
#include <optional>
#include <string>

#include "remediator/execution/case.h"
#include "remediator/execution/reconciler_parts.h"

namespace gpuward::remediator {

// Any thread.
class PendingRecords {
 public:
  explicit PendingRecords(const ReconcilerParts& parts) : parts_(parts) {}

  // This process has just changed the node.
  void note_change(const std::string& remediation);
  // It is written down later: the others are marked first.
  void put_off(Case& now);
  // Nothing has changed since its record was put off, and nothing has become of what it waits for.
  [[nodiscard]] bool waits_for_taints(const std::string& remediation);
  // Now, where this process has not made the change but found it.
  [[nodiscard]] WallTime time_of_change(const std::string& remediation);
  // What was written says all that was done to the node, or nothing is left to be said.
  void forget_written(const Remediation& written);
  void forget(const std::string& remediation);
  // Marks that the node bears, of which nothing was written down, are put into the words of
  // whatever was decided since.
  [[nodiscard]] RemediationStatus with_own_change(const Case& now);

 private:
  struct ToRecord {
    WallTime at;
    std::optional<WallTime> opened = {};
    std::string node = {}, version = {}, node_version = {};  // when it was put off
  };

  const ReconcilerParts& parts_;
  std::mutex mutex_;
  std::map<std::string, ToRecord> to_record_;  // by Remediation
};

}  // namespace gpuward::remediator
