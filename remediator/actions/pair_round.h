// One check of the step nccl-pairs: which nodes of the same job are at the step, and what is
// recorded so far. Used by nccl_pairs_action; pure but for the Remediations that this process has
// seen.
#pragma once

#include <memory>
#include <set>
#include <string>
#include <vector>

#include "remediator/actions/job_peers.h"
#include "remediator/actions/pair_jobs.h"
#include "remediator/actions/pair_plan.h"
#include "remediator/actions/step_action.h"

namespace gpuward::remediator {

struct PairRound {
  PeerGroup group;
  std::vector<PairTest> tests;      // of this Remediation, if it leads
  std::set<std::string> busy = {};  // nodes on which the Jobs of another leader may still run
  std::vector<std::string> news = {};
  bool is_over = false;  // no further tests

  // nullptr if the node is not at the step now.
  [[nodiscard]] const JobPeer* find(const std::string& node) const;
  // The node that leads; the smallest name if two began at the same moment. nullptr: none leads
  // yet.
  [[nodiscard]] const JobPeer* leader() const;
  // The nodes that are tested now: those that already have tests first, then by name.
  [[nodiscard]] std::vector<std::string> members() const;
  // Whether all nodes that have a finding have left the step, except for the leader.
  [[nodiscard]] bool is_read_by_all(const std::string& leader, const PairFindings& told) const;
  // Whether no other node is at the step or on its way to it.
  [[nodiscard]] bool is_alone() const;
  // The nodes that were tested, and those that are tested now.
  [[nodiscard]] std::vector<std::string> all_tested() const;
};

[[nodiscard]] PairRound look_around(const StepRequest& request, const SeenRemediations& seen_by_all,
                                    const std::shared_ptr<const Policy>& policy);

// nullptr if it was never at the step.
[[nodiscard]] const StepRecord* pairs_record(const Remediation& remediation);
// The earliest possible time if it was never at the step.
[[nodiscard]] WallTime pairs_intent_of(const Remediation& remediation);
[[nodiscard]] bool is_tested(const std::vector<PairTest>& tests, const std::string& node);

}  // namespace gpuward::remediator
