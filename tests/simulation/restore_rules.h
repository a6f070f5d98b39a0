// Rules for a restore of etcd from a backup: a process that has seen newer data than the backup
// notices it, and no replica repeats a call that the cloud accepted since the backup before an
// operator closes the circuit breaker. Part of the invariants.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "remediator/act/cloud/provider.h"
#include "tests/simulation/stage.h"

namespace gpuward::remediator::simulation {

// The contents of a backup.
struct BackedUp {
  std::size_t calls = 0;     // accepted by the cloud
  std::uint64_t writes = 0;  // of the ledger
  bool goes_back = false;    // whether the restore lowers versions that all replicas have passed
};

class RestoreRules {
 public:
  explicit RestoreRules(const Stage& stage) : stage_(stage) {}

  // The cloud restarts or ends a machine.
  void on_taken(const remediator::Machine& order) { taken_.push_back(order.provider_id); }
  [[nodiscard]] std::size_t calls() const { return taken_.size(); }
  // A process has got an answer with the ledger.
  void on_ledger_seen(const std::string& identity, const std::string& body);
  void on_ledger_written(const std::string& identity);
  // Called before the truth goes back.
  void on_restored(const BackedUp& backup);
  // A replica calls the cloud.
  void check_call(const remediator::Machine& order, Step step) const;
  // A process ends in order to restart.
  void check_begins_anew(const std::string& identity) const;
  // Called at rest, for each process.
  void check_rest(const std::string& identity) const;

 private:
  [[nodiscard]] bool is_guarded() const;

  const Stage& stage_;
  std::vector<std::string> taken_;             // providerIDs, in the order of the calls
  std::set<std::string> lost_;                 // those that are missing in the backup
  std::map<std::string, std::uint64_t> seen_;  // by process: the most writes of the ledger
  std::set<std::string> witnesses_;            // processes that have seen a newer ledger
  std::string leader_;                         // at the restore
  bool leader_notices_ = false;
  int closings_ = 0;
  bool is_overtaken_ = false;  // a process that had not seen a newer ledger has written it since
};

}  // namespace gpuward::remediator::simulation
