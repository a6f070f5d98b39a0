// Decides which nodes to test together next, and which nodes the tests prove good or bad. A node
// that has passed with another node is good; a node that fails with a good node is the culprit.
// Pure; used by the step nccl-pairs.
#pragma once

#include <cstddef>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "remediator/act/actions/pair_record.h"

namespace gpuward::remediator {

inline constexpr std::size_t kMostPairsAtOnce = 8;
// Limit for one step, because the step's record must stay small.
inline constexpr std::size_t kMostPairTests = 256;

struct PairPlan {
  // Tests to start now; each node is in at most one test.
  std::vector<std::pair<std::string, std::string>> next;
  PairFindings verdicts;  // Findings for all members once all tests are done; empty before.
};

// Plans the next tests. `members`: nodes, sorted. `busy`: nodes that another leader still tests.
// While no member is known to be good, plans disjoint pairs of members that were not tested
// together yet. Then plans a good partner for each member of unknown state. Repeats a test without
// a result once.
[[nodiscard]] PairPlan plan_pairs(const std::vector<std::string>& members,
                                  const std::vector<PairTest>& tests,
                                  const std::set<std::string>& busy = {});

// Returns the finding for each node from the tests so far, even if tests are missing.
[[nodiscard]] PairFindings pair_findings(const std::vector<std::string>& members,
                                         const std::vector<PairTest>& tests);

// Returns the finding as text for people, with the names of the node's partners.
[[nodiscard]] std::string pair_words(const std::string& node, PairFinding verdict,
                                     const std::vector<PairTest>& tests);

}  // namespace gpuward::remediator
