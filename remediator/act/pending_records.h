// Changes that this process has made to nodes but not yet written into their Remediations. In a
// storm gpuward taints all nodes before it records the changes
// (docs/decisions/0012-marks-before-records.md). Used by the Reconciler and its parts.
#pragma once

#include <map>
#include <mutex>
#include <optional>
#include <string>

#include "remediator/act/case.h"
#include "remediator/act/reconciler_parts.h"

namespace gpuward::remediator {

// Thread-safe.
class PendingRecords {
 public:
  explicit PendingRecords(const ReconcilerParts& parts) : parts_(parts) {}

  // Notes that this process has just changed the node.
  void note_change(const std::string& remediation);
  // Postpones the record until the other nodes are tainted.
  void put_off(Case& now);
  // Returns whether nothing has changed since the record was postponed, and other nodes still wait
  // for their taint.
  [[nodiscard]] bool waits_for_taints(const std::string& remediation);
  // Returns when this process changed the node; the present time if this process only found the
  // change.
  [[nodiscard]] WallTime time_of_change(const std::string& remediation);
  // Forgets the change if `written` records all changes to the node, or if nothing is left to
  // record.
  void forget_written(const Remediation& written);
  void forget(const std::string& remediation);
  // Returns the status with the changes that are on the node but not recorded, added to later
  // decisions.
  [[nodiscard]] RemediationStatus with_own_change(const Case& now);

 private:
  struct ToRecord {
    WallTime at;
    std::optional<WallTime> opened = {};
    std::string node = {}, version = {}, node_version = {};  // State when the record was postponed.
  };

  const ReconcilerParts& parts_;
  std::mutex mutex_;
  std::map<std::string, ToRecord> to_record_;  // By name of the Remediation.
};

}  // namespace gpuward::remediator
