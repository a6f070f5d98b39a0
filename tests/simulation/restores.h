// An operator restores etcd from a backup, in some simulations: Nodes, Remediations, pods, the
// ledger, the lease and the switch go back to their old state, while machines and clouds do not.
// The versions go back too, or are raised as with the option bump-revision of etcdutl. Has its own
// chance, so that the other simulations stay as they are.
#pragma once

#include <optional>

#include "tests/simulation/fleet.h"
#include "tests/simulation/invariants.h"
#include "tests/simulation/stage.h"

namespace gpuward::remediator::simulation {

class Restores {
 public:
  Restores(Stage& stage, Fleet& fleet, Invariants& invariants, std::uint64_t seed);

  // Perhaps an operator makes a backup, or restores it; returns whether it was restored. `heard`:
  // the version up to which every replica has received all changes.
  bool do_something(Version heard);

 private:
  struct Backup {
    fakes::Store::Backup kube;
    Truth truth;
    PodTruths pods;
    std::size_t calls;     // accepted by the cloud
    std::uint64_t writes;  // of the ledger
  };

  void back_up();
  void restore(bool all_heard_more);
  void go_back(Version version);
  void attach_as_before(const Json& volumes);
  [[nodiscard]] std::uint64_t writes_of_ledger();

  Stage& stage_;
  Fleet& fleet_;
  Invariants& invariants_;
  Chance chance_;
  bool is_on_ = false;  // a restore is still to come
  std::optional<Backup> backup_;
};

}  // namespace gpuward::remediator::simulation
