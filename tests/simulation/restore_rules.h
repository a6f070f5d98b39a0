// What must be true where etcd is restored from a backup: who has seen what the backup does not
// know notices, and nothing that the cloud has taken since the backup is asked for once more before
// an operator closes the circuit breaker. Part of the invariants.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "remediator/cloud/provider.h"
#include "tests/simulation/stage.h"

namespace gpuward::remediator::simulation {

// What a backup knows.
struct BackedUp {
  std::size_t calls = 0;     // that the cloud had taken
  std::uint64_t writes = 0;  // of the ledger
  bool goes_back = false;    // in its versions, of which all have heard later ones
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
  // The cloud is asked for something.
  void check_call(const remediator::Machine& order, Step step) const;
  // A process ends in order to begin anew.
  void check_begins_anew(const std::string& identity) const;
  // Of each process that is there at rest.
  void check_rest(const std::string& identity) const;

 private:
  [[nodiscard]] bool is_guarded() const;

  const Stage& stage_;
  std::vector<std::string> taken_;             // providerIDs, in the order of the calls
  std::set<std::string> lost_;                 // those that the backup does not know of
  std::map<std::string, std::uint64_t> seen_;  // by process: the most writes of the ledger
  std::set<std::string> witnesses_;            // processes that have seen a later ledger
  std::string leader_;                         // when etcd was restored
  bool leader_notices_ = false;
  int closings_ = 0;
  bool is_overtaken_ = false;  // others have written the ledger since who have not seen a later one
};

}  // namespace gpuward::remediator::simulation
