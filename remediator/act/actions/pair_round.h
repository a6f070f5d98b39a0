// One check of the step nccl-pairs: the nodes of the same job that are at the step, and the results
// recorded so far. Used by nccl_pairs_action. Pure, except that it reads the Remediations that this
// process has seen.
#pragma once

#include <memory>
#include <set>
#include <string>
#include <vector>

#include "remediator/act/actions/job_peers.h"
#include "remediator/act/actions/pair_jobs.h"
#include "remediator/act/actions/pair_plan.h"
#include "remediator/act/actions/step_action.h"

namespace gpuward::remediator {

struct PairRound {
  PeerGroup group;
  std::vector<PairTest> tests;      // Tests of this Remediation, if it leads.
  std::set<std::string> busy = {};  // Nodes on which Jobs of another leader may still run.
  std::vector<std::string> news = {};
  bool is_over = false;  // No further tests follow.

  // Returns the node's entry; nullptr if the node is not at the step now.
  [[nodiscard]] const JobPeer* find(const std::string& node) const;
  // Returns the node that leads; nullptr if none leads yet. If two nodes began at the same moment,
  // the smaller name leads.
  [[nodiscard]] const JobPeer* leader() const;
  // Returns at most 64 nodes that take part in tests now, sorted by name. Nodes that already have
  // tests take the places first.
  [[nodiscard]] std::vector<std::string> members() const;
  // Returns whether all nodes with a finding have left the step, except the leader.
  [[nodiscard]] bool is_read_by_all(const std::string& leader, const PairFindings& told) const;
  // Returns whether no other node is at the step or on its way to it.
  [[nodiscard]] bool is_alone() const;
  // Returns the nodes that were tested before and the nodes in tests now.
  [[nodiscard]] std::vector<std::string> all_tested() const;
};

[[nodiscard]] PairRound look_around(const StepRequest& request, const SeenRemediations& seen_by_all,
                                    const std::shared_ptr<const Policy>& policy);

// Returns the record of the step nccl-pairs; nullptr if the Remediation was never at the step.
[[nodiscard]] const StepRecord* pairs_record(const Remediation& remediation);
// Returns when the step was intended; the earliest possible time if the Remediation was never at
// the step.
[[nodiscard]] WallTime pairs_intent_of(const Remediation& remediation);
[[nodiscard]] bool is_tested(const std::vector<PairTest>& tests, const std::string& node);

}  // namespace gpuward::remediator
