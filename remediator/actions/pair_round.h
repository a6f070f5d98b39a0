// One look of the step nccl-pairs: which nodes of the same job are at it, and what was written down
// so far. Used by nccl_pairs_action; pure but for what others of this process have seen.
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
  std::vector<PairTest> tests;      // of this Remediation, where it leads
  std::set<std::string> busy = {};  // nodes on which the Jobs of another leader may run still
  std::vector<std::string> news = {};
  bool is_over = false;  // nothing more is to be tested

  // Null where it is not at the step now.
  [[nodiscard]] const JobPeer* find(const std::string& node) const;
  // Who has begun to lead; the smallest where two did so at the same moment. Null: nobody has.
  [[nodiscard]] const JobPeer* leader() const;
  // Those that are tested now: who is in already, then by name.
  [[nodiscard]] std::vector<std::string> members() const;
  // Of those that were told apart nobody is there any more but the leader.
  [[nodiscard]] bool is_read_by_all(const std::string& leader, const PairFindings& told) const;
  // Nobody is there or to come with whom it could be tested.
  [[nodiscard]] bool is_alone() const;
  // Those that were tested, and those that are tested now.
  [[nodiscard]] std::vector<std::string> all_tested() const;
};

[[nodiscard]] PairRound look_around(const StepRequest& request, const SeenRemediations& seen_by_all,
                                    const std::shared_ptr<const Policy>& policy);

// Null where it was never at the step.
[[nodiscard]] const StepRecord* pairs_record(const Remediation& remediation);
// The earliest of times where it was never at the step.
[[nodiscard]] WallTime pairs_intent_of(const Remediation& remediation);
[[nodiscard]] bool is_tested(const std::vector<PairTest>& tests, const std::string& node);

}  // namespace gpuward::remediator
